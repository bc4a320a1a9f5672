/* The compiled core: exact scores, and the k best of them; at the end, what indexing repeats most.

   An answer needs, in the order of this file:

       lists, the k best, all items        base plus lists of any weights: what numpy weighs, the core adds
       smoothed scores, a prior            what words add that are near, and vectors
       pruning, values, exact scores       the same answer from the lists that can change it, and from values of now
       near-duplicates                     documents of nearly the same words
       weights, seeds left out, groups     from the seeds to the weights of all lists, and what they tell of the seeds
       passes, a table, questions          all of this in one call, for many questions
       why an item has its score           what each feature adds

   Then come the nearest words of each word, sorting, stored numbers, and pieces of texts.

   A comment names the Python module or function that does the same with numpy: to the bit, unless it says otherwise.

   Everything is in flat arrays that belong to the caller. A list is a slice of them:

       ids      . . . . 2 5 9 . . 0 5 . . .      uint32, ascending within a list, below n
       values   . . . . x x x . . y y . . .      float32 or float64, or none: all are 1
                        ^     ^   ^   ^
       list 0: starts[0]  ends[0]  list 1: starts[1], ends[1], ...

   A part is some lists in the same arrays, and the weight of each. The score of item i is

       score_i = base_i + sum over lists of weight_j x_ij

   Weights and values are on a lattice (arrays.py), so that sums are exact in any order. Where they are not, the
   additions of an item still follow the order of the lists, as those of numpy do.

   The caller gives scratch memory, one for each thread; nothing here allocates or keeps anything. No list is trusted:
   one that leaves its array, or has an id that is no item, ends a call with DAMAGED. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define ENTRY __declspec(dllexport)
#else
#define ENTRY __attribute__((visibility("default")))
#endif

/* A loop that is built into no other function: there it would have too few registers. */
#define APART __attribute__((noinline))

enum {
    VERSION = 24, /* of the entries; binding.py asks for it */

    /* Why there is no answer, or no count: what an entry returns then. */
    DAMAGED = -1, /* a list is not what the layout says */
    UNKNOWN = -2, /* a count without a logarithm */
    UNSURE = -3,  /* the core cannot tell, so that numpy must be asked, or all lists added */
    COPIES = -4,  /* seeds that are nearly the same, which count once */
    MISSING = -5, /* items need values, which are told */

    /* What is done together: what it needs stays in the processor's cache. */
    BLOCK = 1 << 15,           /* items that are scored */
    COUNTED = 1 << 12,         /* items that are counted */
    SMOOTHED = 1 << 10,        /* items that are smoothed, and numbers of other loops */
    NEAR_EACH_OTHER = 1 << 11, /* features that are gathered */
    STRETCH = 64,              /* scores that are compared with the least of the best */
    AHEAD = 4,                 /* items or lists that are fetched before they are looked at */
    FAR_AHEAD = 50,            /* rows, likewise: by itself a processor fetches none beyond a page */

    /* Which way is faster. */
    MANY = 8,           /* lists that have more than one posting for so many items touch many */
    RESEMBLING = 256,   /* postings among which near-duplicates of an item are looked for */
    RESCORED = 32,      /* postings are added in the time that an item takes to get its exact score */
    BINS = 512,         /* of weights */
    FEW_QUARTERS = 24,  /* of weights of examples, for which factors are kept */
    RARE = 128,         /* items of a feature, likewise */

    /* As Python has them. */
    DEEPER = 4,                            /* search/passes.py */
    TELLING = 3,                           /* search/weights.py */
    FEWEST_DIVIDED = 4, MOST_DIVIDED = 10, /* search/groups.py, as the next */
    LEADERS = 5, SOME = 256, FEW = 50,
    LEAST_PART = 3, /* one over it */
    HEAD = 4        /* core/question.py: numbers before those of an answer */
};

/* As Python has them. */
static const double LATTICE = 68719476736.0, VALUE_LATTICE = 4194304.0;             /* arrays.py: 2^36, 2^22 */
static const double EXACT_BELOW = 512, EXACT_ONES_BELOW = 32768, LEAST_SUM = 0.125; /* sums of weights: arrays.py */
static const double NEAR = 0.0009765625;                                            /* models/lift.py: 2^-10 */
static const double ONE_SIDED = 0.2, UNHEARD = 0.55;                                /* search/groups.py */
static const double NEARLY = 1e-9;                                                  /* search/cutoff.py */
static const double WHOLE_BELOW = 4503599627370496.0; /* 2^52: larger numbers have no fraction */

/* What last bits may be: relative. */
static const double MARGIN = 5.684341886080802e-14;   /* 2^-44; logarithms differ by some 2^-53 */
static const double CLOSE = 1e-9;                     /* of sums of logarithms */
static const double ROUNDING = 1 + 1e-9;              /* of bounds */
static const double PRECISION = 4.76837158203125e-07; /* 2^-21: of sums in single precision */

/* Shares of bounds. The more items are wanted, the more others have nearly their sums, so that more lists pay: of many
   it is LATER_OF_MANY over the square root of their number. Below BLURRED times what older lists leave open, more lists
   tell little. */
static const double FIRST = 0.3, FIRST_BY_TABLE = 0.07, LATER = 0.5, LATER_OF_MANY = 2.5, JUST_BELOW = 0.99,
                    BLURRED = 4.0;

typedef struct {
    int64_t n_lists, size; /* size: of ids and values */
    const uint32_t *ids;
    const void *values;
    int64_t value_bytes; /* of a value: 4 or 8, 0 if all are 1 */
    const int64_t *starts, *ends;
    const double *weights;
} part_t;

/* What may be among the best so far: a heap of the k largest scores, the least first, and all that reach it. Where more
   than there is room for have a score, none of these are kept: it is the score of the crowd. */
typedef struct {
    int64_t k, filled;
    double *heap;
    int64_t count, room; /* at least k */
    int64_t *ids;
    double *scores;
    double crowd; /* -INFINITY at first */
} best_t;

/* Distinct items, ascending unless said otherwise. */
typedef struct {
    const int64_t *ids;
    int64_t count;
} ids_t;

static const ids_t NONE = {NULL, 0};

/* The whole number nearest to one from 0 up to 2^52, an even one in the middle: rint, which often is a call. */
static double whole(double number) { return number + WHOLE_BELOW - WHOLE_BELOW; }

ENTRY int64_t setsearch_version(void) { return VERSION; }

/* ---- Lists ---- */

/* Whether all lists of a part lie inside its arrays, and end with an item. */
static int is_sound(const part_t *part, int64_t n) {
    for (int64_t j = 0; j < part->n_lists; j++) {
        int64_t start = part->starts[j], end = part->ends[j];
        if (start < 0 || end < start || end > part->size) return 0;
        if (start < end && part->ids[end - 1] >= n) return 0;
    }
    return 1;
}

/* Bring an entry into the processor's cache, if it is one. */
static void fetch(const part_t *part, int64_t entry) {
    if (entry < 0 || entry >= part->size) return;
    __builtin_prefetch(part->ids + entry);
    if (part->values) __builtin_prefetch((const uint8_t *)part->values + entry * part->value_bytes);
}

/* Add a list's weight times its values to the sums of `size` items from `first` on, from the entry `p` up to `end` or
   to the first one behind them. Where the list went on, or -1 if it does not ascend. */
static int64_t add_list(double *restrict sums, int64_t first, int64_t size, const part_t *part, double weight,
                        int64_t p, int64_t end) {
    const uint32_t *restrict ids = part->ids;
    const uint32_t begin = (uint32_t)first, width = (uint32_t)size;
    if (part->value_bytes == 4) {
        const float *restrict values = part->values;
        for (; p < end && ids[p] - begin < width; p++) sums[ids[p] - begin] += weight * values[p];
    } else if (part->value_bytes == 8) {
        const double *restrict values = part->values;
        for (; p < end && ids[p] - begin < width; p++) sums[ids[p] - begin] += weight * values[p];
    } else {
        for (; p < end && ids[p] - begin < width; p++) sums[ids[p] - begin] += weight;
    }
    return p < end && ids[p] < begin ? -1 : p;
}

/* Add all lists of some parts to the sums of `size` items from `first` on. `places`: where each list goes on. */
static int add_parts(double *sums, int64_t first, int64_t size, const part_t *parts, int64_t n_parts,
                     int64_t *places) {
    for (const part_t *part = parts; part < parts + n_parts; part++) {
        for (int64_t j = 0; j < part->n_lists; j++, places++) {
            if (j + AHEAD < part->n_lists) fetch(part, places[AHEAD]);
            if (*places == part->ends[j]) continue;
            *places = add_list(sums, first, size, part, part->weights[j], *places, part->ends[j]);
            if (*places < 0) return DAMAGED;
        }
    }
    return 0;
}

/* Whether all lists were added up to their ends: one that was not has an id that is no item, or does not ascend. */
static int are_done(const part_t *parts, int64_t n_parts, const int64_t *places) {
    int64_t left = 0;
    for (const part_t *part = parts; part < parts + n_parts; part++)
        for (int64_t j = 0; j < part->n_lists; j++) left |= part->ends[j] ^ *places++;
    return !left;
}

/* Check all lists, and set the place where each goes on to its start. */
static int begin_parts(const part_t *parts, int64_t n_parts, int64_t n, int64_t *places) {
    for (const part_t *part = parts; part < parts + n_parts; part++) {
        if (!is_sound(part, n)) return DAMAGED;
        memcpy(places, part->starts, (size_t)part->n_lists * sizeof *places);
        places += part->n_lists;
    }
    return 0;
}

/* ---- The k best ---- */

/* Put a score in the place of the least of a full heap. */
static void replace_least(double *heap, int64_t k, double score) {
    int64_t place = 0;
    for (int64_t child = 1; child < k; child = 2 * place + 1) {
        if (child + 1 < k && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= score) break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = score;
}

/* Put a score into a heap that is not full. */
static void insert(best_t *best, double score) {
    int64_t place = best->filled++;
    while (place > 0 && best->heap[(place - 1) / 2] > score) {
        best->heap[place] = best->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    best->heap[place] = score;
}

/* The largest of some scores: four at once, as one waits for the one before. */
static double largest(const double *scores, int64_t size) {
    double most[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    int64_t i = 0;
    for (; i + 4 <= size; i += 4)
        for (int lane = 0; lane < 4; lane++) most[lane] = scores[i + lane] > most[lane] ? scores[i + lane] : most[lane];
    for (; i < size; i++) most[0] = scores[i] > most[0] ? scores[i] : most[0];
    for (int lane = 1; lane < 4; lane++) most[0] = most[lane] > most[0] ? most[lane] : most[0];
    return most[0];
}

/* How many scores are above 0, without those of some items. */
static int64_t n_positive(const double *scores, int64_t n, const ids_t *excluded) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += scores[i] > 0;
    for (int64_t i = 0; i < excluded->count; i++) count -= scores[excluded->ids[i]] > 0;
    return count;
}

/* The least score that can be among the best. */
static double least(const best_t *best) { return best->filled < best->k ? -INFINITY : best->heap[0]; }

/* Forget the candidates that do not reach the least of the best any more. */
static void compact(best_t *best) {
    const double bound = least(best);
    int64_t kept = 0;
    for (int64_t i = 0; i < best->count; i++) {
        best->ids[kept] = best->ids[i];
        best->scores[kept] = best->scores[i];
        kept += best->scores[i] >= bound && best->scores[i] > best->crowd;
    }
    best->count = kept;
}

/* A score of an item. */
static void offer(best_t *best, int64_t id, double score) {
    if (score == -INFINITY || score < least(best)) return;
    if (best->filled < best->k) insert(best, score);
    else if (score > best->heap[0]) replace_least(best->heap, best->k, score);
    if (score <= best->crowd) return;
    if (best->count == best->room) compact(best);
    if (best->count == best->room) {
        best->crowd = least(best);
        compact(best);
        if (score <= best->crowd) return;
    }
    best->ids[best->count] = id;
    best->scores[best->count++] = score;
}

/* The scores of `size` items from `first` on. */
static void offer_all(best_t *best, const double *scores, int64_t first, int64_t size) {
    for (int64_t begin = 0; begin < size; begin += STRETCH) {
        const int64_t end = begin + STRETCH < size ? begin + STRETCH : size;
        const double bound = least(best);
        int reaching = 0;
        for (int64_t i = begin; i < end; i++) reaching |= scores[i] >= bound && scores[i] > best->crowd;
        if (!reaching) continue;
        for (int64_t i = begin; i < end; i++) offer(best, first + i, scores[i]);
    }
}

/* Whether the k-th is one of a crowd. */
static int is_crowded(const best_t *best) { return best->crowd > -INFINITY && best->crowd == least(best); }

/* Sort scores, and the ids with them, the largest first: heapsort. */
static void sort_down(double *scores, int64_t *ids, int64_t count) {
    for (int64_t size = count, first = count / 2; size > 1;) {
        int64_t place, id;
        double score;
        if (first > 0) {
            score = scores[--first], id = ids[first];
        } else {
            score = scores[--size], id = ids[size];
            scores[size] = scores[0], ids[size] = ids[0];
        }
        place = first;
        for (int64_t child = 2 * place + 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && scores[child + 1] < scores[child]) child++;
            if (scores[child] >= score) break;
            scores[place] = scores[child], ids[place] = ids[child];
            place = child;
        }
        scores[place] = score, ids[place] = id;
    }
}

/* ---- All items: their sums, the best of them, and ranks (scoring/best.py) ---- */

/* score_i += sum over lists of weight_j x_ij, for all n items (scoring/best.py, accumulate). `places` has room for one
   number a list. */
ENTRY int64_t setsearch_add(double *scores, int64_t n, const part_t *parts, int64_t n_parts, int64_t *places) {
    if (begin_parts(parts, n_parts, n, places) < 0) return DAMAGED;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t size = n - first < BLOCK ? n - first : BLOCK;
        if (add_parts(scores + first, first, size, parts, n_parts, places) < 0) return DAMAGED;
    }
    return are_done(parts, n_parts, places) ? 0 : DAMAGED;
}

/* Let excluded items have no sum among those of `size` items from `first` on. `without`: how many came before. */
static int leave_out_of_block(double *sums, int64_t first, int64_t size, const ids_t *excluded, int64_t *without) {
    for (; *without < excluded->count && excluded->ids[*without] < first + size; ++*without) {
        if (excluded->ids[*without] < first) return DAMAGED;
        sums[excluded->ids[*without] - first] = -INFINITY;
    }
    return 0;
}

/* The best of all items but the excluded, which ascend: how many, in no order; UNSURE if a score is above `limit`.
   Scratch memory: `places`, one number a list; `sums`, BLOCK of them. */
static int64_t find_best(const double *base, int64_t n, const part_t *parts, int64_t n_parts, const ids_t *excluded,
                         double limit, int64_t *places, double *sums, best_t *best) {
    if (begin_parts(parts, n_parts, n, places) < 0) return DAMAGED;
    for (int64_t first = 0, without = 0; first < n; first += BLOCK) {
        const int64_t size = n - first < BLOCK ? n - first : BLOCK;
        memcpy(sums, base + first, (size_t)size * sizeof *sums);
        if (add_parts(sums, first, size, parts, n_parts, places) < 0) return DAMAGED;
        if (limit < INFINITY && largest(sums, size) > limit) return UNSURE;
        if (leave_out_of_block(sums, first, size, excluded, &without) < 0) return DAMAGED;
        offer_all(best, sums, first, size);
    }
    if (!are_done(parts, n_parts, places)) return DAMAGED;
    compact(best);
    return best->count;
}

/* The first of some scores, which ascend up to INFINITY, that is not below one. A branch would be guessed wrongly. */
static int64_t place_of(const double *some, int64_t n_some, double score) {
    const double *from = some;
    for (int64_t size = n_some; size > 1; size -= size / 2) {
        const double *const middle = from + size / 2;
        from = middle[-1] < score ? middle : from;
    }
    return from - some;
}

/* How many of n scores, without those of excluded items, are above each of some, which ascend up to INFINITY and
   differ, and how many equal it (scoring/best.py, middle_ranks). */
ENTRY int64_t setsearch_ranks(const double *scores, int64_t n, const int64_t *excluded, int64_t n_excluded,
                              const double *some, int64_t n_some, int64_t *above, int64_t *equal) {
    memset(above, 0, (size_t)n_some * sizeof *above);
    memset(equal, 0, (size_t)n_some * sizeof *equal);
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = place_of(some, n_some, scores[i]);
        above[place]++, equal[place] += some[place] == scores[i];
    }
    for (int64_t i = 0; i < n_excluded; i++) {
        if (excluded[i] < 0 || excluded[i] >= n) return DAMAGED;
        const int64_t place = place_of(some, n_some, scores[excluded[i]]);
        above[place]--, equal[place] -= some[place] == scores[excluded[i]];
    }
    for (int64_t i = n_some - 1, behind = 0; i >= 0; i--) {
        const int64_t own = above[i];
        above[i] = behind, behind += own;
    }
    return 0;
}

/* How far from a bound scores are that its last bits do not move to the other side. */
static double margin_of(double bound) { return NEARLY * (fabs(bound) > 1 ? fabs(bound) : 1); }

/* How many of some scores are above a bound (search/cutoff.py, above_middle); UNSURE if more digits of the bound would
   decide. */
static int64_t n_above(const double *scores, int64_t n, double bound) {
    const double near = margin_of(bound);
    int64_t above = 0, unsure = 0;
    for (int64_t i = 0; i < n; i++) above += scores[i] > bound + near, unsure += fabs(scores[i] - bound) <= near;
    return unsure ? UNSURE : above;
}

/* The same without some items. */
static int64_t n_others_above(const double *scores, int64_t n, const ids_t *excluded, double bound) {
    int64_t above = n_above(scores, n, bound);
    for (int64_t i = 0; i < excluded->count && above >= 0; i++) above -= scores[excluded->ids[i]] > bound;
    return above;
}

/* How many items are above a bound, or a larger number than `most` (search/cutoff.py, above_middle); UNSURE if more
   digits of the bound would decide. */
static int64_t count_above(const double *base, int64_t n, const part_t *parts, int64_t n_parts, const ids_t *excluded,
                           double bound, double most, int64_t *places, double *sums) {
    const double near = margin_of(bound);
    int64_t above = 0, unsure = 0, without = 0;
    if (begin_parts(parts, n_parts, n, places) < 0) return DAMAGED;
    for (int64_t first = 0; first < n && (double)above <= most; first += COUNTED) {
        const int64_t size = n - first < COUNTED ? n - first : COUNTED;
        memcpy(sums, base + first, (size_t)size * sizeof *sums);
        if (add_parts(sums, first, size, parts, n_parts, places) < 0) return DAMAGED;
        if (leave_out_of_block(sums, first, size, excluded, &without) < 0) return DAMAGED;
        for (int64_t i = 0; i < size; i++) {
            above += sums[i] > bound + near;
            unsure += fabs(sums[i] - bound) <= near;
        }
    }
    if ((double)above > most) return above;
    if (!are_done(parts, n_parts, places)) return DAMAGED;
    return unsure ? UNSURE : above;
}

/* ---- Scores that are smoothed (scoring/smoothing.py) ----

       t_i     = s_i f_i
       score_i = s_i + (t_i - s_i) + (w sum_j a_ij t_j)        what is in parentheses is rounded to the lattice */

/* The nearest items: `count` ids j of each item, their shares a_ij, the factors f_i of all items, and the share w. */
typedef struct {
    const uint32_t *ids;
    const double *shares, *factors;
    int64_t count;
    double share;
} neighbors_t;

/* A number rounded to a multiple of 2^-36 (arrays.py, to_lattice). */
static double to_lattice(double number) {
    const double units = number * LATTICE, size = fabs(units);
    return copysign(size < WHOLE_BELOW ? whole(size) : size, units) * (1 / LATTICE);
}

/* t_i of all items; that of a seed is the best of the others, at least 0. */
static int find_levels(const double *scores, int64_t n, const neighbors_t *near, const ids_t *seeds, double *levels) {
    for (int64_t i = 0; i < n; i++) levels[i] = scores[i] * near->factors[i];
    for (int64_t e = 0; e < seeds->count; e++) {
        if (seeds->ids[e] < 0 || seeds->ids[e] >= n) return DAMAGED;
        levels[seeds->ids[e]] = -INFINITY;
    }
    const double most = largest(levels, n);
    for (int64_t e = 0; e < seeds->count; e++) levels[seeds->ids[e]] = most > 0 ? most : 0.0;
    return 0;
}

/* What is added to the scores of `size` items from `first` on: for t_i, and for the neighbors. */
static int smooth(const double *scores, int64_t n, const neighbors_t *near, const double *levels, int64_t first,
                  int64_t size, double *restrict own, double *restrict others) {
    const uint32_t *ids = near->ids + first * near->count;
    const double *shares = near->shares + first * near->count;
    for (int64_t i = 0; i < size; i++, ids += near->count, shares += near->count) {
        double sum = 0;
        if (first + i + FAR_AHEAD < n) {
            __builtin_prefetch(ids + FAR_AHEAD * near->count);
            __builtin_prefetch(shares + FAR_AHEAD * near->count);
            __builtin_prefetch(shares + (FAR_AHEAD + 1) * near->count - 1);
        }
        for (int64_t place = 0; place < near->count; place++) {
            if (ids[place] >= n) return DAMAGED;
            sum += shares[place] * levels[ids[place]];
        }
        others[i] = sum;
    }
    for (int64_t i = 0; i < size; i++) {
        const double score = scores[first + i];
        own[i] = to_lattice(score * near->factors[first + i] - score);
        others[i] = to_lattice(others[i] * near->share);
    }
    return 0;
}

/* ---- A prior, such as how alike items are to the seeds in meaning (search/weights.py, Prior) ----

       score_i = s_i + w sd(s) (v_i - mean) / spread         what is added is rounded to the lattice */

typedef struct {
    double mean, deviation;
} moments_t;

/* The ids, NULL for all, and values v_i of some items; not all of these are equal; and the share w. `of_seeds`: NULL,
   or v_i of each seed if it is left out, NAN for none. */
typedef struct {
    const int64_t *ids;
    const double *values;
    int64_t count;
    moments_t of_values;
    double share;
    const double *of_seeds;
} prior_t;

/* The sum of some numbers: four at once, as `largest`. */
static double total(const double *numbers, int64_t size) {
    double sums[] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= size; i += 4)
        for (int lane = 0; lane < 4; lane++) sums[lane] += numbers[i + lane];
    for (; i < size; i++) sums[0] += numbers[i];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/* Mean and standard deviation of the scores above -INFINITY (arrays.py, moments): sums of whole numbers, which are
   exact in each block. */
static moments_t moments(const double *scores, int64_t n) {
    const double middle = 6755399441055744.0; /* 1.5 * 2^52: beside it is no room for fractions */
    double block[SMOOTHED], most = 0;
    int64_t count = 0, sum = 0, squares = 0;
    int exponent;
    for (int64_t first = 0; first < n; first += SMOOTHED) {
        const int64_t size = n - first < SMOOTHED ? n - first : SMOOTHED;
        for (int64_t i = 0; i < size; i++) {
            block[i] = scores[first + i] > -INFINITY ? fabs(scores[first + i]) : 0.0;
            count += scores[first + i] > -INFINITY;
        }
        const double own = largest(block, size);
        most = own > most ? own : most;
    }
    if (!(most > 0 && most < INFINITY)) return (moments_t){0, 0};
    const double units = ldexp(1, 20 - (frexp(most, &exponent) == 0.5 ? exponent - 1 : exponent));
    for (int64_t first = 0; first < n; first += SMOOTHED) {
        const int64_t size = n - first < SMOOTHED ? n - first : SMOOTHED;
        for (int64_t i = 0; i < size; i++) {
            const double number = scores[first + i] * units + middle - middle;
            block[i] = scores[first + i] > -INFINITY ? number : 0.0;
        }
        sum += (int64_t)total(block, size);
        for (int64_t i = 0; i < size; i++) block[i] *= block[i];
        squares += (int64_t)total(block, size); /* up to 2^50 */
    }
    const double mean = (double)sum / (double)count, variance = (double)squares / (double)count - mean * mean;
    return (moments_t){mean / units, sqrt(variance > 0 ? variance : 0) / units};
}

/* Add a prior to the scores of items (search/weights.py, SeedWeights.with_prior); and to those of seeds that are left
   out, unless these are NULL. */
static int add_prior(double *scores, int64_t n, const prior_t *prior, int64_t n_seeds, double *left_out) {
    const double own = moments(scores, n).deviation, spread = prior->of_values.deviation, mean = prior->of_values.mean;
    const double factor = prior->share * (own > 0 ? own : 1) / spread;
    for (int64_t e = 0; left_out && prior->of_seeds && e < n_seeds; e++)
        if (!isnan(prior->of_seeds[e])) left_out[e] += factor * (prior->of_seeds[e] - mean);
    double added[SMOOTHED];
    for (int64_t first = 0; first < prior->count; first += SMOOTHED) {
        const int64_t size = prior->count - first < SMOOTHED ? prior->count - first : SMOOTHED;
        for (int64_t i = 0; i < size; i++) added[i] = to_lattice(factor * (prior->values[first + i] - mean));
        for (int64_t i = 0; i < size; i++) {
            const int64_t id = prior->ids ? prior->ids[first + i] : first + i;
            if (id < 0 || id >= n) return DAMAGED;
            scores[id] += added[i];
        }
    }
    return 0;
}

/* The best of all items, as find_best has them, by scores that are smoothed if neighbors count, with a prior if
   there is one: they are changed, and likewise those of seeds that are left out, unless these are NULL. `levels`: n.
   `sums`: BLOCK. */
static int64_t find_smoothed(double *scores, int64_t n, const neighbors_t *near, const prior_t *prior,
                             const ids_t *seeds, const ids_t *excluded, double *left_out, double *levels, double *sums,
                             best_t *best) {
    if (near->count && find_levels(scores, n, near, seeds, levels) < 0) return DAMAGED;
    for (int64_t e = 0; left_out && near->count && e < seeds->count; e++) {
        if (smooth(scores, n, near, levels, seeds->ids[e], 1, sums, sums + 1) < 0) return DAMAGED;
        left_out[e] = left_out[e] * near->factors[seeds->ids[e]] + sums[1];
    }
    for (int64_t first = 0; near->count && first < n; first += SMOOTHED) {
        const int64_t size = n - first < SMOOTHED ? n - first : SMOOTHED;
        double *others = sums + SMOOTHED;
        if (smooth(scores, n, near, levels, first, size, sums, others) < 0) return DAMAGED;
        for (int64_t i = 0; i < size; i++) scores[first + i] = scores[first + i] + sums[i] + others[i];
    }
    if (prior->count && add_prior(scores, n, prior, seeds->count, left_out) < 0) return DAMAGED;
    for (int64_t e = 0; e < excluded->count; e++) {
        if (excluded->ids[e] < 0 || excluded->ids[e] >= n) return DAMAGED;
        scores[excluded->ids[e]] = -INFINITY;
    }
    offer_all(best, scores, 0, n);
    compact(best);
    return best->count;
}

/* How alike rows of `size` small numbers are to one more, `(n,)` (memory/vectors.py, Vectors.cosines), and the mean and
   deviation of this. Products stay below 2^31.

       alike_i = (product_i / length_i - shift) factor_i unit */
ENTRY int64_t setsearch_alike(const int8_t *rows, int64_t n, int64_t size, const int16_t *other, double shift,
                              double unit, const double *lengths, const double *factors, double *restrict alike,
                              moments_t *of_all) {
    for (int64_t first = 0; first < n; first += SMOOTHED) {
        const int64_t end = n - first < SMOOTHED ? n : first + SMOOTHED;
        int32_t products[SMOOTHED]; /* first: then several are divided at once */
        for (int64_t i = first; i < end; ++i, rows += size) {
            int32_t product = 0;
            for (int64_t k = 0; k < size; ++k) product += rows[k] * other[k];
            products[i - first] = product;
        }
        for (int64_t i = first; i < end; ++i)
            alike[i] = (products[i - first] / lengths[i] - shift) * factors[i] * unit;
    }
    *of_all = moments(alike, n);
    return 0;
}

/* ---- Pruning ----

   Some lists, R, are not added. By Cauchy and Schwarz they add to the score of an item with the values x at most

       sum over R of v_j x_j  <=  |v_R| |x|  <=  |v_R| norm          norm: the largest |x| of all items

   so only items whose sum over the other lists is less than |v_R| norm below the k-th best can be among the best. These
   are few, and get their scores from their own features (Anastasiu and Karypis 2014 prune joins by such bounds). The
   lists that are left out are the long ones of little weight, which hold most postings: nine tenths on a dictionary.

   What lists add is summed in single precision; the bounds have room for what that loses. Scores are exact.

   The lists of the largest v_j^2 a posting are added first, until the bound is a part of |v|. Then there is a first
   k-th best sum, and more lists are added until the bound is a part of it. */

/* Add some lists, in their order, to sums in single precision; with `only_touched`, where a sum is not 0 already. */
static APART int add_in_order(float *restrict sums, int64_t n, const part_t *lists, const int64_t *order,
                              int64_t from, int64_t to, int only_touched) {
    const uint32_t *restrict ids = lists->ids;
    const float *restrict values = lists->values;
    for (int64_t i = from; i < to; i++) {
        const float weight = (float)lists->weights[order[i]];
        int64_t p = lists->starts[order[i]];
        const int64_t end = lists->ends[order[i]];
        if (only_touched) {
            for (; p < end && ids[p] < n; p++) sums[ids[p]] += weight * values[p] * (float)(sums[ids[p]] != 0.0f);
        } else {
            for (; p < end && ids[p] < n; p++) sums[ids[p]] += weight * (values ? values[p] : 1.0f);
        }
        if (p < end) return DAMAGED;
    }
    return 0;
}

/* How many lists are added for the bound of the others to be no larger. */
static int64_t until(const double *bounds, int64_t count, double bound) {
    int64_t i = 0;
    while (i < count && bounds[i] > bound) i++;
    return i;
}

/* Fill a heap with the k largest sums of distinct items that some lists touch, 0 for fewer: how many items were among
   them, or -1 for too many. An item that was looked at has its sum negated for that time. */
static int64_t best_sums(float *sums, const double *base, const part_t *lists, const int64_t *order, int64_t to,
                         double *heap, int64_t k, int64_t *looked_at, int64_t room) {
    int64_t count = 0;
    for (int64_t i = 0; i < k; i++) heap[i] = 0.0;
    for (int64_t i = 0; i < to && count < room; i++) {
        for (int64_t p = lists->starts[order[i]], end = lists->ends[order[i]]; p < end && count < room; p++) {
            const uint32_t id = lists->ids[p];
            if (!(sums[id] > heap[0]) || base[id] == -INFINITY) continue;
            replace_least(heap, k, sums[id]);
            sums[id] = -sums[id];
            looked_at[count++] = id;
        }
    }
    for (int64_t i = 0; i < count; i++) sums[looked_at[i]] = -sums[looked_at[i]];
    return count < room ? count : -1;
}

/* The k-th largest sum of some items, or a smaller one if that is more. */
static double raised(const float *sums, const int64_t *ids, int64_t count, double *heap, int64_t k, double smaller) {
    for (int64_t i = 0; i < k; i++) heap[i] = smaller;
    for (int64_t i = 0; i < count; i++)
        if (sums[ids[i]] > heap[0]) replace_least(heap, k, sums[ids[i]]);
    return heap[0];
}

/* The touched items whose sum is at most `bound` below the k-th: how many, more than `room` if that is too many. All
   sums of touched items become 0 again. */
static int64_t near_best(float *sums, const double *base, const part_t *lists, const int64_t *order, int64_t to,
                         double bound, double *heap, int64_t k, int64_t *near_ids, double *near_sums, int64_t room) {
    int64_t count = 0;
    for (int64_t i = 0; i < to; i++) {
        for (int64_t p = lists->starts[order[i]], end = lists->ends[order[i]]; p < end; p++) {
            const uint32_t id = lists->ids[p];
            const double sum = sums[id];
            sums[id] = 0.0f;
            if (!(sum >= heap[0] - bound) || base[id] == -INFINITY || count > room) continue;
            if (sum > heap[0]) replace_least(heap, k, sum);
            if (count < room) near_ids[count] = id, near_sums[count] = sum;
            count++;
        }
    }
    return count;
}

/* A number that is surely below in single precision. */
static float just_below(double number) { return (float)(number - (1 - JUST_BELOW) * fabs(number)); }

/* As near_best, of all items, which takes less time if lists touch many; sums stay. */
static int64_t near_best_of_all(const float *sums, const double *base, int64_t n, double bound, double *heap, int64_t k,
                                int64_t *near_ids, double *near_sums, int64_t room) {
    int64_t count = 0;
    for (int64_t begin = 0; begin < n; begin += STRETCH) {
        const int64_t end = begin + STRETCH < n ? begin + STRETCH : n;
        const float least_sum = just_below(heap[0] - bound);
        int reaching = 0;
        for (int64_t i = begin; i < end; i++) reaching |= sums[i] >= least_sum;
        for (int64_t id = begin; reaching && id < end; id++) {
            if (sums[id] < least_sum || !(sums[id] >= heap[0] - bound)) continue;
            if (base[id] + sums[id] == -INFINITY || count > room) continue;
            if (sums[id] > heap[0]) replace_least(heap, k, sums[id]);
            if (count < room) near_ids[count] = id, near_sums[count] = sums[id];
            count++;
        }
    }
    return count;
}

/* ---- From counts to values (models/values.py) ---- */

/* The count of an entry, of two bytes or four. */
static inline int64_t stored_count(const void *counts, int64_t count_bytes, int64_t p) {
    return count_bytes == 2 ? ((const uint16_t *)counts)[p] : ((const int32_t *)counts)[p];
}

/* A value on the lattice, at most 1. */
static inline double rounded(double value) {
    return whole((value < 1.0 ? value : 1.0) * VALUE_LATTICE) * (1 / VALUE_LATTICE);
}

/* How the stored entries of items become values (models/values.py), by a rule with weights and lengths. */
typedef struct {
    int64_t n_items, n_features, size, count_bytes;
    const int64_t *starts, *ends;
    const uint32_t *ids;
    const void *counts;
    const int64_t *totals, *df, *cf;  /* L_i; d_j and cf_j of stored entries */
    const double *factors, *squares;  /* by d_j, the latter in whole numbers of a unit */
    const double *logs, *log_squares; /* by tf_ij */
    int64_t n_factors, n_logs;
    double all, unit, pivot, slope; /* CF, 0 if all entries exist; the others */
} rule_t;

/* The count of an entry if it exists, else 0; DAMAGED, or UNKNOWN for one without a logarithm. */
static inline int64_t count_of(const rule_t *rule, int64_t item, int64_t p) {
    const int64_t feature = rule->ids[p];
    const int64_t count = stored_count(rule->counts, rule->count_bytes, p);
    if (feature >= rule->n_features || rule->df[feature] < 0 || rule->df[feature] >= rule->n_factors) return DAMAGED;
    if (count < 0 || count >= rule->n_logs) return UNKNOWN;
    if (!rule->all) return count;
    return (double)count / (double)rule->totals[item] > (double)(2 * rule->cf[feature]) / rule->all ? count : 0;
}

/* ||w_i|| of an item (models/values.py, norms_of); negative if it is DAMAGED, or UNKNOWN. */
static double norm_of(const rule_t *rule, int64_t item) {
    double sum = 0;
    if (item < 0 || item >= rule->n_items || rule->starts[item] < 0 || rule->ends[item] > rule->size) return DAMAGED;
    for (int64_t p = rule->starts[item]; p < rule->ends[item]; p++) {
        const int64_t count = count_of(rule, item, p);
        if (count < 0) return (double)count;
        if (count) sum += whole(rule->squares[rule->df[rule->ids[p]]] * rule->log_squares[count]);
    }
    return sqrt(sum / rule->unit);
}

/* 1 / ((1-b) pivot + b ||w_i||) (models/values.py, scales); 0 for an item without weights. */
static double scale_of(const rule_t *rule, double norm) {
    return norm > 0 ? 1.0 / ((1 - rule->slope) * rule->pivot + rule->slope * norm) : 0.0;
}

/* x_ij of an entry that exists (models/values.py, RuleStatistics.values_of). */
static inline double value_of(const rule_t *rule, int64_t p, int64_t count, double scale) {
    return rounded(rule->logs[count] * rule->factors[rule->df[rule->ids[p]]] * scale);
}

/* x_ij of all entries of some lists (models/values.py, RuleStatistics.values_of): those above 0, and how many each list
   has. The number of all, or UNKNOWN for a count without a logarithm.

       x_ij = min(1, (1 + ln tf_ij) factor_j scale_i)  if  tf_ij / L_i > threshold_j, rounded to the lattice

   Lists are those of features, or of items if `by_item`: `starts` and `ends` are their own. Without `thresholds` (NULL)
   all entries exist. `largest` gets the largest sum of the squares of a list. */
ENTRY int64_t setsearch_values(const int64_t *lists, int64_t n_lists, int64_t by_item, const uint32_t *ids,
                               const void *counts, int64_t count_bytes, int64_t size, const int64_t *starts,
                               const int64_t *ends, int64_t n_items, int64_t n_features, const int64_t *totals,
                               const double *thresholds, const double *factors, const double *scales,
                               const double *logs, int64_t n_logs, uint32_t *found_ids, float *found_values,
                               int64_t *lengths, double *largest) {
    const int64_t n_own = by_item ? n_items : n_features, n_others = by_item ? n_features : n_items;
    int64_t n = 0;
    for (int64_t l = 0; l < n_lists; l++) {
        const int64_t own = lists[l], begin = n;
        double squares = 0;
        if (own < 0 || own >= n_own || starts[l] < 0 || ends[l] > size) return DAMAGED;
        for (int64_t p = starts[l]; p < ends[l]; p++) {
            if (ids[p] >= n_others) return DAMAGED;
            const int64_t feature = by_item ? (int64_t)ids[p] : own, item = by_item ? own : (int64_t)ids[p];
            const int64_t count = stored_count(counts, count_bytes, p);
            if (count < 0 || count >= n_logs) return UNKNOWN;
            if (thresholds && !((double)count / (double)totals[item] > thresholds[feature])) continue;
            const double value = rounded(logs[count] * factors[feature] * scales[item]);
            if (!(value > 0)) continue;
            found_ids[n] = ids[p];
            found_values[n++] = (float)value;
            squares += value * value;
        }
        lengths[l] = n - begin;
        if (squares > *largest) *largest = squares;
    }
    return n;
}

/* sum_j w_ij^2 of each item (models/values.py, norms_of), in whole multiples of a unit, which sums keep exactly: 0, or
   UNKNOWN for a count without a logarithm.

       w_ij^2 = factor_square_j log_square_tf, rounded,  if  tf_ij / L_i > threshold_j */
ENTRY int64_t setsearch_squares(int64_t n_items, const int64_t *starts, const int64_t *ends, const uint32_t *ids,
                                const void *counts, int64_t count_bytes, int64_t size, int64_t n_features,
                                const int64_t *totals, const double *thresholds, const double *factor_squares,
                                const double *log_squares, int64_t n_logs, double *squares) {
    for (int64_t item = 0; item < n_items; item++) {
        const double total = (double)totals[item];
        double sum = 0;
        if (starts[item] < 0 || ends[item] > size) return DAMAGED;
        for (int64_t p = starts[item]; p < ends[item]; p++) {
            const int64_t count = stored_count(counts, count_bytes, p);
            if (ids[p] >= n_features) return DAMAGED;
            if (count < 0 || count >= n_logs) return UNKNOWN;
            const double square = whole(factor_squares[ids[p]] * log_squares[count]);
            sum += thresholds ? square * (double)((double)count / total > thresholds[ids[p]]) : square;
        }
        squares[item] = sum;
    }
    return 0;
}

/* The norms of some items (models/values.py, norms_of); UNKNOWN for a count without a logarithm. */
ENTRY int64_t setsearch_norms(const rule_t *rule, const int64_t *items, int64_t count, double *norms) {
    for (int64_t i = 0; i < count; i++)
        if ((norms[i] = norm_of(rule, items[i])) < 0) return (int64_t)norms[i];
    return 0;
}

/* The entries of some items with values above 0 (models/values.py, RuleStatistics.values_of), which have room, and how
   many each has: the number of all, or UNKNOWN. */
ENTRY int64_t setsearch_items(const rule_t *rule, const int64_t *items, int64_t count, uint32_t *ids, float *values,
                              int64_t *lengths) {
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t item = items[i], begin = n;
        const double norm = norm_of(rule, item), scale = scale_of(rule, norm);
        if (norm < 0) return (int64_t)norm;
        for (int64_t p = rule->starts[item]; p < rule->ends[item]; p++) {
            const int64_t tf = count_of(rule, item, p);
            const double value = tf > 0 ? value_of(rule, p, tf, scale) : 0.0;
            if (!(value > 0)) continue;
            ids[n] = rule->ids[p];
            values[n++] = (float)value;
        }
        lengths[i] = n - begin;
    }
    return n;
}

/* The entries of some lists of features whose shares tf_ij / L_i are near the threshold of the feature: how many, at
   most `room`, and of each its item, its feature and its share. */
ENTRY int64_t setsearch_close(const int64_t *lists, int64_t n_lists, const int64_t *starts, const int64_t *ends,
                              const uint32_t *ids, const void *counts, int64_t count_bytes, int64_t size,
                              int64_t n_items, const int64_t *totals, const double *thresholds, double near,
                              int64_t room, int64_t *items, int64_t *features, double *shares) {
    int64_t found = 0;
    for (int64_t l = 0; l < n_lists; l++) {
        const double threshold = thresholds[lists[l]], margin = near * threshold;
        if (starts[l] < 0 || ends[l] > size) return DAMAGED;
        for (int64_t p = starts[l]; p < ends[l]; p++) {
            if (ids[p] >= n_items) return DAMAGED;
            const double share = (double)stored_count(counts, count_bytes, p) / (double)totals[ids[p]];
            if (!(fabs(share - threshold) <= margin)) continue;
            if (found == room) return UNSURE;
            items[found] = ids[p], features[found] = lists[l], shares[found++] = share;
        }
    }
    return found;
}

/* ---- Pruning: exact scores of those that may be among the best ---- */

/* Whether a list had values when the question was asked. */
static int has_values(const part_t *part, int64_t start, int64_t end) {
    return 0 <= start && start <= end && end <= part->size;
}

/* Add its own features' weights times its values to the base of an item: its exact score. */
static int add_own(const part_t *items, int64_t id, const double *weights, int64_t n_features, double *score) {
    const float *values = items->values;
    const int64_t start = items->starts[id], end = items->ends[id];
    if (start < 0 || end > items->size) return DAMAGED;
    for (int64_t p = start; p < end; p++) {
        if (items->ids[p] >= n_features) return DAMAGED;
        *score += weights[items->ids[p]] * (values ? values[p] : 1.0f);
    }
    return 0;
}

/* The same of an item that has no values yet; DAMAGED, or UNSURE for counts without logarithms. */
static int add_new(const rule_t *rule, int64_t id, const double *weights, int64_t n_features, double *score) {
    const double norm = norm_of(rule, id);
    if (norm == UNKNOWN || rule->n_features > n_features) return norm == UNKNOWN ? UNSURE : DAMAGED;
    if (norm < 0) return DAMAGED;
    const double scale = scale_of(rule, norm);
    for (int64_t p = rule->starts[id]; p < rule->ends[id]; p++) {
        const double weight = weights[rule->ids[p]];
        const int64_t count = weight != 0 ? count_of(rule, id, p) : 0;
        if (count > 0) *score += weight * value_of(rule, p, count, scale);
    }
    return 0;
}

/* The middle one of the seeds' scores if each is left out, INFINITY if nobody asks; and how many others are above it:
   if that is more than `most`, any number above `most`; else the same or a larger one up to `most`; UNSURE if it is
   unknown. */
typedef struct {
    double bound, most;
    int64_t above;
} middle_t;

/* Memory of a thread for pruning. */
typedef struct {
    float *sums;     /* n zeros between calls */
    double *weights; /* zeros between calls, one a feature */
    int64_t *order;  /* one a list, as the next */
    double *keys, *bounds;
    double *heap; /* k */
    int64_t *near_ids;
    double *near_sums;
    int64_t room; /* of near_ids and near_sums */
} pruning_t;

/* How lists differ from what they are now, if they are older: a value is x (1 +- share) +- step, but for the items that
   are apart, which ascend. `df`: how many items the list of each feature has now; NULL if no list is older. `rule`: of
   the values of now. */
typedef struct {
    const int64_t *df;
    double share, step;
    ids_t apart;
    const rule_t *rule;
} drift_t;

/* The order of lists, by weight squared over length, and what those from each place on change: two scores differ by
   that at most. What all of them take away from a score at most. */
static double order_lists(const part_t *lists, double norm, const drift_t *drift, const pruning_t *memory) {
    const int64_t count = lists->n_lists;
    double above = 0, below = 0, all = 0, squares = 0;
    for (int64_t j = 0; j < count; j++) {
        const int64_t length = lists->ends[j] - lists->starts[j];
        memory->order[j] = j;
        memory->keys[j] = lists->weights[j] * lists->weights[j] / (double)(length > 1 ? length : 1);
        all += fabs(lists->weights[j]);
        squares += lists->weights[j] * lists->weights[j];
    }
    const double drifted = (drift->share * sqrt(squares) * norm + drift->step * all) * ROUNDING;
    sort_down(memory->keys, memory->order, count);
    memory->bounds[count] = (double)count * all * PRECISION + 2 * drifted;
    for (int64_t i = count - 1; i >= 0; i--) {
        const double weight = lists->weights[memory->order[i]];
        *(weight > 0 ? &above : &below) += weight * weight;
        memory->bounds[i] = (sqrt(above) + sqrt(below)) * norm * ROUNDING + memory->bounds[count];
    }
    return sqrt(below) * norm * ROUNDING + drifted;
}

/* The best of n_near candidates by their exact scores: of those whose sums reach `reached`, and change by at most
   `bound`. */
static int64_t rescore(const double *base, const part_t *lists, const int64_t *active, const part_t *items,
                       const rule_t *rule, int64_t n_features, int64_t n_near, double reached, double bound,
                       const pruning_t *memory, best_t *best) {
    double *weights = memory->weights;
    for (int64_t j = 0; j < lists->n_lists; j++) {
        if (active[j] < 0 || active[j] >= n_features) return DAMAGED;
        weights[active[j]] = lists->weights[j];
    }
    int added = 0;
    for (int64_t i = 0; i < n_near && added >= 0; i++) {
        const double sum = memory->near_sums[i];
        double score = base[memory->near_ids[i]];
        if (i + AHEAD < n_near) fetch(items, items->starts[memory->near_ids[i + AHEAD]]);
        if (sum < reached || sum + bound < least(best)) continue;
        const int64_t id = memory->near_ids[i];
        const int is_new = rule && !has_values(items, items->starts[id], items->ends[id]);
        added = is_new ? add_new(rule, id, weights, n_features, &score)
                       : add_own(items, id, weights, n_features, &score);
        if (added >= 0) offer(best, id, score);
    }
    for (int64_t j = 0; j < lists->n_lists; j++) weights[active[j]] = 0.0;
    compact(best);
    return added < 0 ? added : best->count;
}

/* Add lists from the place `last` on to sums until they tell whether more than `most` items are above a bound: an item
   that is above by more than the others take away surely is, one that is below by more than they change surely is not.
   Of the items that are apart nothing is known. What was added; `above` is the least number that is more than `most`,
   or the largest one that is not, if that is known. */
static int64_t add_until_told(float *restrict sums, int64_t n, const part_t *lists, double norm, int64_t n_apart,
                              const pruning_t *memory, int64_t last, middle_t *middle) {
    const int64_t count = lists->n_lists, *order = memory->order;
    const double *bounds = memory->bounds, near = margin_of(middle->bound);
    for (;;) {
        double below = 0;
        for (int64_t i = last; i < count; i++)
            below += lists->weights[order[i]] < 0 ? lists->weights[order[i]] * lists->weights[order[i]] : 0;
        const double taken = sqrt(below) * norm * ROUNDING + bounds[count];
        const float surely = (float)(middle->bound + near + taken);
        const float perhaps = (float)(middle->bound - near - bounds[last]);
        int32_t sure = 0, possible = (int32_t)n_apart;
        for (int64_t i = 0; i < n; i++) sure += sums[i] > surely, possible += sums[i] > perhaps;
        const int are_many = surely >= 0 && sure > middle->most; /* ids without an item have a sum of 0 */
        if (are_many || possible <= middle->most) middle->above = are_many ? sure : possible;
        if (middle->above != UNSURE || last == count || bounds[last] < BLURRED * bounds[count]) return last;
        const int64_t from = last;
        last = until(bounds, count, bounds[last] * LATER);
        if (add_in_order(sums, n, lists, order, from, last, 0) < 0) return DAMAGED;
    }
}

/* A field: its lists, by feature and by item, which have values; those that have none yet start at -1, or beyond the
   size: another thread may give them some meanwhile. */
typedef struct {
    part_t by_feature, by_item; /* without weights */
    const int64_t *stored;      /* the lengths of the lists of features before values decide */
    double coefficient, norm;   /* no item's values have a larger Euclidean norm; 0: some items have none yet */
    drift_t drift;              /* of the lists by feature */
} field_t;

/* Add the items that are apart, unless they are excluded, to the candidates, whatever their sums are; how many there
   are. */
static int64_t add_apart(const ids_t *apart, const double *base, int64_t n, const ids_t *excluded, int64_t n_near,
                         const pruning_t *memory) {
    for (int64_t i = 0, without = 0; i < apart->count && apart->ids[i] < n; i++) {
        const int64_t id = apart->ids[i];
        while (without < excluded->count && excluded->ids[without] < id) without++;
        if (base[id] == -INFINITY || (without < excluded->count && excluded->ids[without] == id)) continue;
        if (n_near < memory->room) memory->near_ids[n_near] = id, memory->near_sums[n_near] = INFINITY;
        n_near++;
    }
    return n_near;
}

/* Sums of excluded items and of those that are apart: -INFINITY, or 0 again. */
static int set_left_out(float *sums, int64_t n, const ids_t *excluded, const ids_t *apart, float sum) {
    for (const ids_t *some = excluded;; some = apart) {
        for (int64_t i = 0; i < some->count; i++) {
            if (some->ids[i] < 0 || some->ids[i] >= n) return DAMAGED;
            sums[some->ids[i]] = sum;
        }
        if (some == apart) return 0;
    }
}

/* The best of all items that lists touch, as prune has them, by their exact scores, if these items are few: all others
   score 0. */
static int64_t find_touched(const double *base, int64_t n, const part_t *lists, const int64_t *active,
                            const field_t *field, const ids_t *excluded, const pruning_t *memory, best_t *best) {
    const ids_t *apart = &field->drift.apart;
    int64_t count = 0, found = 0;
    set_left_out(memory->sums, n, excluded, apart, -INFINITY);
    for (int64_t j = 0; j < lists->n_lists; j++) {
        for (int64_t p = lists->starts[j]; p < lists->ends[j] && count < memory->room; p++) {
            const uint32_t id = lists->ids[p];
            if (id >= n) return DAMAGED;
            if (memory->sums[id] == -INFINITY) continue;
            memory->sums[id] = -INFINITY; /* once is enough */
            memory->near_ids[count] = id, memory->near_sums[count++] = INFINITY;
        }
    }
    for (int64_t i = 0; i < count; i++) memory->sums[memory->near_ids[i]] = 0.0f;
    set_left_out(memory->sums, n, excluded, apart, 0.0f);
    count = count < memory->room ? add_apart(apart, base, n, excluded, count, memory) : memory->room + 1;
    if (count > memory->room) return UNSURE;
    best->filled = best->count = 0, best->crowd = -INFINITY;
    found = rescore(base, lists, active, &field->by_item, field->drift.rule, field->by_feature.n_lists, count,
                    -INFINITY, INFINITY, memory, best);
    return found >= 0 && !(least(best) > 0) ? UNSURE : found;
}

/* Those of some items that have no values, in front: how many. */
static int64_t put_missing_first(const part_t *items, int64_t *ids, int64_t count) {
    int64_t missing = 0;
    for (int64_t i = 0; i < count; i++)
        if (!has_values(items, items->starts[ids[i]], items->ends[ids[i]])) ids[missing++] = ids[i];
    return missing;
}

/* As find_best, for a base of zeros (-INFINITY: no item) and one part with float32 values, whose sums are exact; UNSURE
   where all lists must be added.

   `active`: the features of the lists, which are some of the field's. If these are older, the items that are apart are
   candidates. Zeros in memory are so again unless the answer is DAMAGED. `middle`: how many
   are above the middle seed is told, too, if all the best surely are. */
static int64_t prune(const double *base, int64_t n, const part_t *lists, const int64_t *active, const field_t *field,
                     const ids_t *excluded, const pruning_t *memory, middle_t *middle, best_t *best) {
    const part_t *items = &field->by_item;
    const ids_t *apart = &field->drift.apart;
    const double norm = field->norm;
    float *sums = memory->sums;
    double *heap = memory->heap, *near_sums = memory->near_sums;
    const int64_t count = lists->n_lists, k = best->k, room = memory->room;
    int64_t *order = memory->order, *near_ids = memory->near_ids;
    if (!is_sound(lists, n) || items->n_lists < n) return DAMAGED;
    if (set_left_out(sums, n, excluded, apart, -INFINITY) < 0) return DAMAGED;
    const double *bounds = memory->bounds, lost = order_lists(lists, norm, &field->drift, memory);
    const int64_t first = until(bounds, count, FIRST * bounds[0]);
    int64_t near = first, last = first, size = 0;
    if (add_in_order(sums, n, lists, order, 0, first, 0) < 0) return DAMAGED;
    const int64_t n_first = best_sums(sums, base, lists, order, first, heap, k, near_ids, room);
    const double of_many = LATER_OF_MANY / sqrt((double)k), later = of_many < LATER ? of_many : LATER;
    double least_sum = n_first < 0 ? 0 : heap[0] - lost;
    if (least_sum > 0) {
        const int64_t touching = until(bounds, count, JUST_BELOW * least_sum);
        if (touching > near) near = touching;
        if (add_in_order(sums, n, lists, order, first, near, 0) < 0) return DAMAGED;
        least_sum = raised(sums, near_ids, n_first, heap, k, least_sum + lost) - lost;
        const int64_t telling = until(bounds, count, later * least_sum);
        last = telling > near ? telling : near;
    }
    for (int64_t i = 0; i < last; i++) size += lists->ends[order[i]] - lists->starts[order[i]];
    const int sure = least_sum > 0 && bounds[last] < least_sum;
    const int counts = sure && least_sum > middle->bound, are_many = counts || size > n / MANY;
    if (sure && add_in_order(sums, n, lists, order, near, last, !are_many) < 0) return DAMAGED;
    if (counts && (last = add_until_told(sums, n, lists, norm, apart->count, memory, last, middle)) < 0)
        return DAMAGED;
    const double reaching = raised(sums, near_ids, sure ? n_first : 0, heap, k, sure ? least_sum : INFINITY);
    for (int64_t i = 0; i < k; i++) heap[i] = reaching;
    const double bound = bounds[last];
    int64_t n_near = are_many
                         ? near_best_of_all(sums, base, n, bound, heap, k, near_ids, near_sums, room)
                         : near_best(sums, base, lists, order, near, bound, heap, k, near_ids, near_sums, room);
    if (are_many) memset(sums, 0, (size_t)n * sizeof *sums);
    set_left_out(sums, n, excluded, apart, 0.0f);
    if (!sure && field->drift.df) return find_touched(base, n, lists, active, field, excluded, memory, best);
    if (sure) n_near = add_apart(apart, base, n, excluded, n_near, memory);
    if (!sure || n_near > room) return UNSURE;
    const double reached = heap[0] - bound;
    return rescore(base, lists, active, items, field->drift.rule, field->by_feature.n_lists, n_near, reached, bound,
                   memory, best);
}

/* ---- Near-duplicates ---- */

/* How many ids two ascending lists have in common, or any smaller number if these are less than `needed`. */
static int64_t n_shared(const uint32_t *ids, int64_t p, int64_t end, int64_t q, int64_t other_end, int64_t needed) {
    int64_t count = 0;
    while (p < end && q < other_end) {
        const uint32_t one = ids[p], other = ids[q];
        count += one == other;
        p += one <= other;
        q += other <= one;
        if (count + end - p < needed || count + other_end - q < needed) break;
    }
    return count;
}

/* Whether two lists are nearly the same (search/near_duplicates.py, _are_alike): both have `alike` of the ids that one
   of them has, and `least` of these. */
static int are_alike(const uint32_t *ids, int64_t p, int64_t end, int64_t q, int64_t other_end, double alike,
                     int64_t least) {
    const double n_one = (double)(end - p), n_other = (double)(other_end - q);
    const double fewer = n_one < n_other ? n_one : n_other, more = n_one + n_other - fewer;
    if (fewer < (double)least || fewer < alike * more) return 0;
    const int64_t needed = (int64_t)(alike / (1 + alike) * (n_one + n_other)); /* rounded down */
    const double both = (double)n_shared(ids, p, end, q, other_end, needed);
    return both >= alike * (n_one + n_other - both);
}

/* Near-duplicates (search/near_duplicates.py, _compared): which earlier item each is nearly the same as, -1 for none;
   at most `back` of those before that are the same as none are compared. Lists are those of items. `same`, `firsts`:
   `count` numbers each. */
ENTRY int64_t setsearch_fold(const int64_t *items, int64_t count, const uint32_t *ids, int64_t size, int64_t n_lists,
                             const int64_t *starts, const int64_t *ends, double alike, int64_t least, int64_t back,
                             int64_t *same, int64_t *firsts) {
    int64_t n_firsts = 0;
    for (int64_t i = 0; i < count; i++) { /* they lie far apart */
        if (items[i] < 0 || items[i] >= n_lists) return DAMAGED;
        __builtin_prefetch(starts + items[i]);
        __builtin_prefetch(ends + items[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = starts[items[i]];
        if (first >= 0 && first < size) __builtin_prefetch(ids + first);
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t one = items[i];
        if (starts[one] < 0 || ends[one] < starts[one] || ends[one] > size) return DAMAGED;
        same[i] = -1;
        for (int64_t f = n_firsts - 1; f >= 0 && f >= n_firsts - back && same[i] < 0; f--) {
            const int64_t other = items[firsts[f]];
            if (are_alike(ids, starts[one], ends[one], starts[other], ends[other], alike, least)) same[i] = firsts[f];
        }
        if (same[i] < 0) firsts[n_firsts++] = i;
    }
    return 0;
}

/* The longest of the shortest lists of some features, of which any near-duplicate of an item with just these must be in
   one: it lacks 1 - `alike` of them at most. UNSURE for too many features. */
static int64_t longest_resembling(const part_t *by_feature, const uint32_t *ids, int64_t n, double alike) {
    double shortest[SMOOTHED]; /* lengths below 0, so that the least is that of the longest list */
    const int64_t telling = n - (int64_t)ceil(alike * (double)n / ROUNDING) + 1;
    if (telling > SMOOTHED) return UNSURE;
    for (int64_t i = 0; i < telling; i++) shortest[i] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] >= by_feature->n_lists) return DAMAGED;
        __builtin_prefetch(by_feature->starts + ids[i]); /* they lie far apart */
        __builtin_prefetch(by_feature->ends + ids[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t start = by_feature->starts[ids[i]], end = by_feature->ends[ids[i]];
        if (!has_values(by_feature, start, end)) return DAMAGED;
        if ((double)(start - end) > shortest[0]) replace_least(shortest, telling, (double)(start - end));
    }
    return (int64_t)-shortest[0];
}

/* Whether surely none of `count` other items is nearly the same as one, but for itself and those `without`. */
static int differ(const part_t *by_item, const uint32_t *others, int64_t count, int64_t item, const ids_t *without,
                  double alike, int64_t least) {
    const int64_t *starts = by_item->starts, *ends = by_item->ends;
    for (int64_t i = 0; i < count; i++) {
        if (others[i] >= by_item->n_lists) return DAMAGED;
        __builtin_prefetch(starts + others[i]);
        __builtin_prefetch(ends + others[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t other = others[i], start = starts[other], end = ends[other];
        if (!has_values(by_item, start, end)) return DAMAGED;
        if (other == item || !are_alike(by_item->ids, starts[item], ends[item], start, end, alike, least)) continue;
        int is_left_out = 0;
        for (int64_t w = 0; w < without->count; w++) is_left_out |= without->ids[w] == other;
        if (!is_left_out) return 0;
    }
    return 1;
}

/* Whether surely no item but those `without` is nearly the same as one of some items (search/near_duplicates.py,
   are_alone): 1, or 0 where this is not so, not known, or takes longer than to compare the best. Lists are those of
   stored entries. */
ENTRY int64_t setsearch_alone(const int64_t *items, int64_t count, const int64_t *excluded, int64_t n_excluded,
                              const uint32_t *ids, int64_t size, int64_t n_items, const int64_t *starts,
                              const int64_t *ends, const uint32_t *having, int64_t n_having, int64_t n_features,
                              const int64_t *firsts, const int64_t *lasts, double alike, int64_t least) {
    const part_t by_item = {n_items, size, ids, NULL, 0, starts, ends, NULL};
    const part_t by_feature = {n_features, n_having, having, NULL, 0, firsts, lasts, NULL};
    const ids_t without = {excluded, n_excluded};
    int64_t left = RESEMBLING * count;
    for (int64_t i = 0; i < count; i++) {
        const int64_t item = items[i];
        if (item < 0 || item >= n_items || !has_values(&by_item, starts[item], ends[item])) return DAMAGED;
        const int64_t n = ends[item] - starts[item];
        const uint32_t *own = ids + starts[item];
        if (n == 0) continue;
        const int64_t fewest = n < least ? n : least; /* a short one is the same as one with all its words */
        const int64_t longest = longest_resembling(&by_feature, own, n, alike);
        if (longest < 0) return longest == UNSURE ? 0 : DAMAGED;
        for (int64_t j = 0; j < n; j++)
            if (lasts[own[j]] - firsts[own[j]] <= longest) fetch(&by_feature, firsts[own[j]]);
        for (int64_t j = 0; j < n; j++) {
            const int64_t length = lasts[own[j]] - firsts[own[j]];
            if (length > longest) continue;
            if ((left -= length) < 0) return 0;
            const int sure = differ(&by_item, having + firsts[own[j]], length, item, &without, alike, fewest);
            if (sure <= 0) return sure;
        }
    }
    return 1;
}

/* ---- From examples to weights (models/lift.py, search/weights.py) ---- */

/* The numbers of a question by lift. */
typedef struct {
    double n_items, given, strength, rarity, budget, feedback; /* n, N of the seeds, k, r, b, ... */
    double weight, parts; /* of the first item that joins; how many of these others may have */
    double flat;  /* none joins if the last of as many of the best ones has more than this share of the first score */
    double alike; /* the share of features that items have in common which are nearly the same; 0 if none are */
    double unlike, few; /* the share of the others, and the number, that may be above the middle seed; 0: not asked */
    int64_t joining, least, own, more; /* how many join; search/passes.py has the others */
    int64_t fewest, k;                 /* postings that are pruned; items that are wanted */
    int64_t words, deepest; /* that these items have at least; times `joining`, items that are looked at */
} question_t;

/* A model whose weights depend on how many of the seeds have a feature, and on its rank, alone: features of equal
   document frequency have the same, and larger frequencies larger ones. Row 0 has what a feature adds that no seed has,
   as a part of the base, at most 0; row c what it adds beyond that if c seeds have it, at least 0. */
typedef struct {
    const double *weights, *constants; /* what entries and what all items get, in rows of n_ranks */
    const int32_t *ranks;              /* of features */
    const float *others;               /* the base without features of the rank `common` and above */
    int64_t n_ranks, common;
} table_t;

/* What is asked: seeds and excluded ids, which ascend, stand elsewhere. */
typedef struct {
    question_t question;
    const double *base, *choosing; /* the second one where it is chosen which items join */
    double *sums; /* of all items, if these are wanted instead of the best ones */
    neighbors_t near; /* none if their count is 0 */
    prior_t prior;    /* of the best items, as neighbors are; without items there is none */
    const part_t *texts; /* NULL, or for each field the lists, with float32 values, of examples that are texts */
    const table_t *table; /* NULL: by lift */
    int64_t n_seeds, n_excluded;
    int64_t once, weighs; /* whether seeds that are nearly the same count once, and whether weights are told */
} asked_t;

/* Memory of a thread for a field; room for all its features, and one more. */
typedef struct {
    double *have; /* zeros between calls: c_j and s_j side by side, in one line of the processor's cache */
    int64_t count, n_always;
    int64_t *features, *always;      /* those that the examples have, in no order; those that always count */
    double *having, *sums, *weights; /* c_j, s_j, v_j */
    int64_t *starts, *ends;          /* of their lists */
} weighed_t;

/* Memory of a thread for a question. */
typedef struct {
    pruning_t pruning;
    double *block;           /* BLOCK sums */
    int64_t *places, *costs; /* one a list of all fields; one a feature of the largest */
    part_t *parts;           /* one a field */
    int64_t *examples;       /* the seeds, and room for what joins */
    double *shares;          /* their weights */
    double *smoothed;        /* 2 n, where neighbors count, or a prior */
    const part_t *texts;     /* of the question */
    double least, constant;  /* no item has a smaller score; what a model by a table adds to all */
    int64_t missing; /* items, if some are */
    int64_t n_examples, together; /* as are_together; -1 if they surely do not share little; 0: unknown */
} memory_t;

/* What a limit leaves: features that cost `most` together, or all if it is negative; and those that always count. */
static const int64_t NO_LIMIT = -1;

/* Whether a weight in multiples of 2^-22 is rounded to the same one in spite of other last bits of its logarithm. */
static int is_sure(double units) { return fabs(units - floor(units) - 0.5) > fabs(units) * MARGIN; }

/* d_j of a feature of the examples. */
static int64_t frequency(const field_t *field, const weighed_t *own, int64_t j) {
    return field->drift.df ? field->drift.df[own->features[j]] : own->ends[j] - own->starts[j];
}

/* r ln N: the exponent of the rarity, for seeds of that weight. */
static double exponent_of(const question_t *question, double given) {
    return question->rarity ? question->rarity * log(given > 1 ? given : 1.0) : 0.0;
}

/* v_j over s_j / N of a feature that examples of weight c_j of N have, and d items (models/lift.py, Lift.query). */
static double factor(const question_t *question, double exponent, double total, double having, double d) {
    const double p = d / question->n_items, strength = question->strength;
    const double beyond_one = (having - total * p) / p / (strength + total);
    double lift = fabs(beyond_one) < NEAR ? log1p(beyond_one) : log((strength * p + having) / (strength + total) / p);
    lift *= pow(having / total, 1 / total);
    if (exponent) {
        const double rarity = question->n_items / (d < question->n_items ? d : question->n_items);
        lift *= pow(log(rarity), exponent);
    }
    return lift;
}

/* v_j over s_j of features, in multiples of 2^-22, by 4 c_j and d: most are rare, and few of the examples have them. */
typedef struct {
    double total, exponent;
    double known[FEW_QUARTERS][RARE]; /* 0 if it is unknown */
} factors_t;

/* Those of a field; what is known stays, unless the one before had other examples. */
static void use_factors(factors_t *factors, const question_t *question, const part_t *texts, const memory_t *memory) {
    double of_texts = 0, total = 0;
    for (int64_t e = 0; e < memory->n_examples; e++) total += memory->shares[e];
    for (int64_t t = 0; texts && t < texts->n_lists; t++) of_texts += texts->weights[t];
    if (total + of_texts == factors->total) return;
    *factors = (factors_t){.total = total + of_texts, .exponent = exponent_of(question, question->given + of_texts)};
}

/* An example of a field: the part that has its list, the number of that, and its weight. */
typedef struct {
    const part_t *part;
    int64_t list;
    double share;
} example_t;

/* Those that are items, then texts. */
static inline example_t example_at(const field_t *field, const part_t *texts, const memory_t *memory, int64_t e) {
    if (e < memory->n_examples) return (example_t){&field->by_item, memory->examples[e], memory->shares[e]};
    return (example_t){texts, e - memory->n_examples, texts->weights[e - memory->n_examples]};
}

/* v_j in multiples of 2^-22, not rounded. */
static inline double units_of(const question_t *question, factors_t *factors, double having, double sum, int64_t df) {
    const double quarters = 4 * having;
    const int is_common = 0 <= df && df < RARE && quarters < FEW_QUARTERS && quarters == (double)(int)quarters;
    double once = 0, *of_feature = is_common ? &factors->known[(int)quarters][df] : &once;
    if (*of_feature == 0)
        *of_feature = factor(question, factors->exponent, factors->total, having, df > 1 ? (double)df : 1.0) /
                      factors->total * VALUE_LATTICE;
    return sum * *of_feature;
}

/* The features of the examples: c_j and s_j (search/weights.py, _seeds), what their lists cost, and with `factors`
   their weights by document frequencies before values decide; all that they cost together. Lists ascend, so features
   that lie near each other are looked at together: their sums stay in the processor's nearest cache. */
static int gather(const field_t *field, const question_t *question, const part_t *texts, factors_t *factors,
                  const memory_t *memory, weighed_t *own, double *cost) {
    const int64_t n_features = field->by_feature.n_lists, count = memory->n_examples + (texts ? texts->n_lists : 0);
    int64_t *places = memory->pruning.near_ids, behind = 0, all = 0, found = 0;
    int64_t *restrict features = own->features;
    double have[2 * NEAR_EACH_OTHER] = {0};
    if (texts && (texts->value_bytes != 4 || !is_sound(texts, n_features))) return DAMAGED;
    for (int64_t e = 0; e < count; e++) {
        const example_t example = example_at(field, texts, memory, e);
        const part_t *part = example.part;
        if (example.list < 0 || example.list >= part->n_lists) return DAMAGED;
        if (!has_values(part, part->starts[example.list], part->ends[example.list])) return UNSURE;
        places[e] = part->starts[example.list];
    }
    for (;;) {
        int64_t first = n_features, begin = found;
        int is_more = 0;
        for (int64_t e = 0; e < count; e++) {
            const example_t example = example_at(field, texts, memory, e);
            if (places[e] == example.part->ends[example.list]) continue;
            if (example.part->ids[places[e]] < first) first = example.part->ids[places[e]];
            is_more = 1;
        }
        if (!is_more) break;
        if (first < behind || first == n_features) return DAMAGED;
        behind = first + NEAR_EACH_OTHER;
        const uint32_t begins = (uint32_t)first;
        const uint32_t room = (uint32_t)(behind < n_features ? NEAR_EACH_OTHER : n_features - first);
        for (int64_t e = 0; e < count; e++) {
            const example_t example = example_at(field, texts, memory, e);
            const uint32_t *ids = example.part->ids;
            const float *values = example.part->values;
            const int64_t end = example.part->ends[example.list];
            int64_t p = places[e];
            for (; p < end && ids[p] - begins < room; p++) {
                double *sums = have + 2 * (ids[p] - begins);
                __builtin_prefetch(field->stored + ids[p]);
                features[found] = ids[p];
                found += sums[0] == 0.0;
                sums[0] += example.share;
                sums[1] += example.share * (values ? values[p] : 1.0f);
            }
            places[e] = p;
        }
        for (int64_t j = begin; j < found; j++) {
            double *sums = have + 2 * (features[j] - first);
            const int64_t df = field->stored[features[j]];
            if (factors) own->weights[j] = units_of(question, factors, sums[0], sums[1], df);
            own->having[j] = sums[0], own->sums[j] = sums[1];
            sums[0] = sums[1] = 0.0;
            memory->costs[j] = df + question->more;
            all += memory->costs[j];
        }
    }
    own->count = found, *cost = (double)all;
    return 0;
}

/* The largest rounded weight that does not count (search/limits.py, _least), of those of a bin and what comes before
   it, if the strongest features may cost `most` together: 0 if all positive ones do. */
static double least_weight(const weighed_t *own, const int64_t *costs, int64_t before, double scale, int bin,
                           int64_t most, double *keys, int64_t *kept) {
    int64_t count = 0;
    for (int64_t j = 0; j < own->count; j++) {
        if (!(own->weights[j] > 0) || costs[j] > most || (int)(own->weights[j] * scale) != bin) continue;
        keys[count] = whole(own->weights[j]), kept[count++] = costs[j];
    }
    sort_down(keys, kept, count);
    for (int64_t i = 0; i < count; i++)
        if ((before += kept[i]) > most) return keys[i];
    return 0.0;
}

/* Leave the features that always count, and the strongest of the others (search/limits.py, _strongest): `most` is what
   they may cost. Bins tell which weights lie near the last one, so that only these are sorted. */
static int keep_strongest(weighed_t *own, int64_t *costs, int64_t most, const pruning_t *memory) {
    const int some_always = own->n_always > 0;
    int64_t spent[BINS] = {0}, before = 0, count = 0;
    int sure = 1, bin = BINS - 1;
    if (!(largest(own->weights, own->count) < WHOLE_BELOW)) return UNSURE; /* in no bin */
    for (int64_t i = 0; i < own->n_always; i++) own->have[2 * own->always[i]] = 1.0;
    for (int64_t j = 0; some_always && j < own->count; j++) own->weights[j] *= own->have[2 * own->features[j]] == 0.0;
    const double strongest = largest(own->weights, own->count), scale = BINS / ((strongest > 0 ? strongest : 0) + 2.0);
    for (int64_t j = 0; j < own->count; j++)
        if (own->weights[j] > 0 && costs[j] <= most) spent[(int)(own->weights[j] * scale)] += costs[j];
    while (bin > 0 && before + spent[bin] <= most) before += spent[bin--];
    const double least_one = bin / scale - 2;
    int64_t *const kept = own->starts;
    for (int64_t j = 0; j < own->count; j++) {
        kept[count] = j;
        count += (costs[j] <= most) & (own->weights[j] > least_one);
        if (some_always && own->have[2 * own->features[j]] != 0.0 && (count == 0 || kept[count - 1] != j))
            kept[count++] = j;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t j = kept[i];
        own->features[i] = own->features[j], own->having[i] = own->having[j], own->sums[i] = own->sums[j];
        own->weights[i] = own->weights[j], costs[i] = costs[j];
    }
    own->count = count, count = 0;
    const double bound = least_weight(own, costs, before, scale, bin, most, memory->keys, memory->order);
    for (int64_t j = 0; j < own->count; j++) {
        const int64_t feature = own->features[j];
        sure &= fabs(own->weights[j] - bound) >= 1.0 || is_sure(own->weights[j]);
        own->features[count] = feature, own->having[count] = own->having[j], own->sums[count] = own->sums[j];
        count += (costs[j] <= most && own->weights[j] > bound + 0.5) || (some_always && own->have[2 * feature] != 0.0);
    }
    for (int64_t i = 0; i < own->n_always; i++) own->have[2 * own->always[i]] = 0.0;
    own->count = count;
    return sure ? 0 : UNSURE;
}

/* The weights of a field (search/weights.py, seed_weights), and the sums of positive and of negative ones, which are
   added to `sums`. */
static int weigh(const field_t *field, const question_t *question, int64_t most, const memory_t *memory, weighed_t *own,
                 const part_t *texts, factors_t *factors, double sums[2]) {
    double cost = 0;
    const int has_limit = most != NO_LIMIT || question->budget > 0;
    int sure = gather(field, question, texts, has_limit ? factors : NULL, memory, own, &cost);
    if (sure < 0) return sure;
    if (most == NO_LIMIT && question->budget) {
        own->n_always = 0;
        most = (int64_t)(question->budget * pow(cost, 1.0 / 3) + 0.5);
        if ((double)most >= cost) most = NO_LIMIT;
    }
    if (most != NO_LIMIT && (sure = keep_strongest(own, memory->costs, most, &memory->pruning)) < 0) return sure;
    int64_t count = 0;
    for (int64_t j = 0; j < own->count; j++) {
        const int64_t feature = own->features[count] = own->features[j];
        own->having[count] = own->having[j], own->sums[count] = own->sums[j];
        own->starts[count] = field->by_feature.starts[feature], own->ends[count] = field->by_feature.ends[feature];
        if (!has_values(&field->by_feature, own->starts[count], own->ends[count])) return UNSURE;
        count += frequency(field, own, count) > 0; /* what texts alone have does not count */
    }
    own->count = count;
    for (int64_t j = 0; j < count; j++) {
        const int64_t df = frequency(field, own, j);
        const double units = units_of(question, factors, own->having[j], own->sums[j], df) * field->coefficient;
        if (!is_sure(units)) return UNSURE;
        own->weights[j] = rint(units) * (1 / VALUE_LATTICE);
        sums[own->weights[j] < 0] += fabs(own->weights[j]);
    }
    return 0;
}

/* What an item has of a field at least: no value is above 1. */
static double least_of_field(const weighed_t *own) {
    double least = 0;
    for (int64_t j = 0; j < own->count; j++) least += own->weights[j] < 0 ? own->weights[j] : 0;
    return least;
}

/* What a second pass may cost; the strongest features of the first one, which always count (search/passes.py,
   second_pass). */
static int64_t second_limit(const field_t *field, const question_t *question, const memory_t *memory, weighed_t *own) {
    const int64_t k = question->own < own->count ? question->own : own->count;
    double *strongest = memory->pruning.keys, cost = 0;
    for (int64_t j = 0; j < k; j++) strongest[j] = -INFINITY;
    own->n_always = 0;
    for (int64_t j = 0; j < own->count; j++) {
        if (own->weights[j] > strongest[0]) replace_least(strongest, k, own->weights[j]);
        cost += (double)(field->stored[own->features[j]] + question->more);
    }
    for (int64_t j = 0; j < own->count; j++)
        if (own->weights[j] >= strongest[0]) own->always[own->n_always++] = own->features[j];
    const int64_t most = (int64_t)(question->feedback * cost);
    return most > question->least ? most : question->least;
}

/* ---- Seeds that are left out (search/cutoff.py) ---- */

/* The first entry of a list from `p` on that is not below a feature. */
static int64_t entry_of(const uint32_t *ids, int64_t p, int64_t end, int64_t feature) {
    for (int64_t size = end - p; size > 0; size /= 2) {
        const int64_t middle = p + size / 2;
        if (ids[middle] < feature) p = middle + 1, size--;
    }
    return p;
}

/* Add to the scores of the seeds what they have in a field, if the others are the set (search/cutoff.py,
   leave_one_out_scores). What one seed alone has does not count; what several have is searched in the list of each, as
   few features of long lists are left. */
static void leave_out(const field_t *field, const question_t *question, const memory_t *memory, const weighed_t *own,
                      int64_t n_seeds, double *scores) {
    const float *values = field->by_item.values;
    double total = 0;
    for (int64_t e = 0; e < memory->n_examples; e++) total += memory->shares[e];
    for (int64_t e = 0; e < n_seeds; e++) {
        const double share = memory->shares[e], others = total - share;
        const double exponent = exponent_of(question, question->given - share);
        const int64_t id = memory->examples[e], end = field->by_item.ends[id];
        double score = 0;
        if (!(others > 0)) continue;
        for (int64_t j = 0; j < own->count; j++) {
            if (!(own->having[j] > share)) continue;
            const int64_t p = entry_of(field->by_item.ids, field->by_item.starts[id], end, own->features[j]);
            if (p == end || field->by_item.ids[p] != own->features[j]) continue;
            const double x = values ? values[p] : 1.0f, sum = own->sums[j] - share * x;
            const int64_t df = frequency(field, own, j);
            score += sum / others * factor(question, exponent, others, own->having[j] - share, (double)df) * x;
        }
        scores[e] += field->coefficient * score;
    }
}

/* ---- Groups among the seeds (search/groups.py) ---- */

/* s, how alike items are (search/groups.py, likeness): count * count numbers. 1, or 0 if some have no values yet, or
   DAMAGED. */
static int find_likeness(const field_t *field, const question_t *question, const int64_t *items, int64_t count,
                         double *have, double *alike) {
    const part_t *lists = &field->by_item;
    const float *values = lists->values;
    for (int64_t a = 0; a < count; a++)
        if (items[a] >= lists->n_lists || !has_values(lists, lists->starts[items[a]], lists->ends[items[a]])) return 0;
    for (int64_t a = 0; a < count; a++) {
        const int64_t start = lists->starts[items[a]], end = lists->ends[items[a]];
        for (int64_t p = start; p < end; p++) {
            if (lists->ids[p] >= field->by_feature.n_lists) return DAMAGED;
            const int64_t df = field->stored[lists->ids[p]];
            have[2 * (int64_t)lists->ids[p]] = factor(question, 0, 1, 1, df > 1 ? (double)df : 1.0) * values[p];
        }
        for (int64_t b = 0; b <= a; b++) {
            double product = 0;
            for (int64_t p = lists->starts[items[b]]; p < lists->ends[items[b]]; p++)
                product += have[2 * (int64_t)lists->ids[p]] * values[p];
            alike[a * count + b] = alike[b * count + a] = product;
        }
        for (int64_t p = start; p < end; p++) have[2 * (int64_t)lists->ids[p]] = 0.0;
    }
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < count; b++) {
            const double norm = sqrt(alike[a * count + a]) * sqrt(alike[b * count + b]);
            if (a != b) alike[a * count + b] = norm > 0 ? alike[a * count + b] / norm : 0;
        }
    return 1;
}

/* Whether the best items are surely like both of any two groups of the seeds that may be the farthest apart, but for
   the last bits (search/groups.py, find_groups): 1, and a bit for each seed, from 2 on, of a group that is not heard.
   `items`: `n` seeds, and LEADERS of the best. */
static int are_together(const double *alike, int64_t n) {
    double apart[1 << (MOST_DIVIDED - 1)], least = INFINITY;
    const int64_t count = n + LEADERS;
    int found = 0;
    double all = 0, between = 0, size = 0, signs[MOST_DIVIDED];
    for (int64_t a = 0; a < n; a++) {
        signs[a] = 1;
        for (int64_t b = 0; b < a; b++) all += alike[a * count + b];
    }
    for (int64_t step = 1; step < (int64_t)1 << (n - 1); step++) { /* each time one seed, never the first, goes over */
        const int64_t mask = step ^ step >> 1;
        int64_t moved = n - 1;
        while (!(step >> (n - 1 - moved) & 1)) moved--;
        double change = -signs[moved] * alike[moved * count + moved];
        for (int64_t b = 0; b < n; b++) change += signs[b] * alike[moved * count + b];
        between += signs[moved] * change, size += signs[moved], signs[moved] = -signs[moved];
        const double other = (double)n - size, within = all - between;
        apart[mask] = size < 2 || other < 2 ? INFINITY
                                            : between / (size * other) -
                                                  2 * within / (size * (size - 1) + other * (other - 1));
        if (apart[mask] < least) least = apart[mask];
    }
    for (int64_t mask = 1; mask < (int64_t)1 << (n - 1); mask++) {
        double smaller = 0, larger = 0, heard[2] = {0, 0};
        int64_t sizes[2] = {0, 0}, seeds[2] = {0, 0};
        if (apart[mask] > least + CLOSE) continue;
        for (int64_t a = 0; a < n; a++) {
            const int64_t side = 2 * mask >> (n - a) & 1;
            sizes[side]++, seeds[side] |= (int64_t)2 << a;
        }
        for (int64_t hit = n; hit < count; hit++) {
            double sums[2] = {0, 0};
            for (int64_t a = 0; a < n; a++) sums[2 * mask >> (n - a) & 1] += alike[hit * count + a];
            const double one = sums[0] / (double)sizes[0], other = sums[1] / (double)sizes[1];
            smaller += one < other ? one : other;
            larger += one < other ? other : one;
            heard[0] += one, heard[1] += other;
        }
        if (smaller < ONE_SIDED * larger + CLOSE) return 0;
        int told = 1;
        for (int side = 0; side < 2; side++) {
            const double more = heard[side] - UNHEARD * (double)sizes[side] / (double)n * (heard[0] + heard[1]);
            if (LEAST_PART * sizes[side] < n) continue;
            if (fabs(more) <= CLOSE) return 0;
            if (more < 0) told |= (int)seeds[side];
        }
        if (found && told != found) return 0;
        found = told;
    }
    return found;
}

/* The middle one of some scores. Scratch memory: `sorted` and `places`, as many. */
static double middle_of(const double *scores, int64_t count, double *sorted, int64_t *places) {
    memcpy(sorted, scores, (size_t)count * sizeof *sorted);
    for (int64_t i = 0; i < count; i++) places[i] = i;
    sort_down(sorted, places, count);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Some items at equal steps of those that exist, in room for SOME: how many. Ids without an item do not count, so that
   an index answers as a fresh one. */
static int64_t some_items(const double *base, int64_t n, double n_items, int64_t *ids) {
    int64_t existing = n_items == (double)n ? n : 0, count = 0;
    for (int64_t id = 0; id < n && existing < n; id++) existing += base[id] > -INFINITY;
    const int64_t size = existing < SOME ? existing : SOME;
    for (; existing == n && count < size; count++) ids[count] = count * n / size;
    for (int64_t id = 0, place = 0; count < size; id++)
        if (base[id] > -INFINITY && place++ == count * existing / size) ids[count++] = id;
    return count;
}

/* Whether the seeds surely share little (search/groups.py, _share_little): more of some items than may score above the
   middle seed that is left out. 1 or -1 for surely not, or 0 where last bits decide or one of these items has no values
   yet. */
static int share_little(const field_t *field, const double *base, int64_t n, const question_t *question,
                        const ids_t *excluded, const pruning_t *memory, const weighed_t *own, const double *left_out,
                        int64_t n_seeds) {
    const part_t *items = &field->by_item;
    double sorted[MOST_DIVIDED], *const weights = memory->weights;
    int64_t ids[SOME], places[MOST_DIVIDED], above = 0, near = 0, without = 0, known = 1;
    const int64_t size = some_items(base, n, question->n_items, ids), n_features = field->by_feature.n_lists;
    const double middle = middle_of(left_out, n_seeds, sorted, places), margin = CLOSE * (1 + fabs(middle));
    const double share = (double)size / question->n_items;
    const double few = share * FEW > (double)size / 4 ? share * FEW : (double)size / 4;
    for (int64_t j = 0; j < own->count; j++) weights[own->features[j]] = own->weights[j];
    for (int64_t i = 0; known && i < size && (double)above <= few * ROUNDING; i++) {
        const int64_t id = ids[i], following = ids[i + AHEAD < size ? i + AHEAD : size - 1];
        double score = base[id];
        if (following < items->n_lists) fetch(items, items->starts[following]);
        known = id < items->n_lists && has_values(items, items->starts[id], items->ends[id]) &&
                add_own(items, id, weights, n_features, &score) == 0;
        while (without < excluded->count && excluded->ids[without] < id) without++;
        if (without < excluded->count && excluded->ids[without] == id) continue;
        above += score > middle + margin, near += fabs(score - middle) <= margin;
    }
    for (int64_t j = 0; j < own->count; j++) weights[own->features[j]] = 0.0;
    if (known && (double)above > few * ROUNDING) return 1;
    return known && (double)(above + near) * ROUNDING < few ? -1 : 0;
}

/* Whether the seeds surely fall into no groups (search/groups.py, find_groups), by the best items, in order: those of
   documents, which may be copies. */
static int are_one_set(const field_t *field, int64_t n_fields, const question_t *question, const memory_t *memory,
                       weighed_t *own, int64_t n_seeds, const int64_t *ids, const double *scores, int64_t found) {
    int64_t items[MOST_DIVIDED + LEADERS];
    double alike[(MOST_DIVIDED + LEADERS) * (MOST_DIVIDED + LEADERS)];
    if (n_fields != 1 || !question->alike || n_seeds < FEWEST_DIVIDED || n_seeds > MOST_DIVIDED) return 0;
    if (found < LEADERS || (found > LEADERS && scores[LEADERS] == scores[LEADERS - 1])) return 0; /* names decide */
    for (int64_t e = 0; e < n_seeds; e++) {
        if (memory->shares[e] != 1) return 0;
        items[e] = memory->examples[e];
    }
    for (int64_t hit = 0; hit < LEADERS; hit++) items[n_seeds + hit] = ids[hit];
    const int known = find_likeness(field, question, items, n_seeds + LEADERS, own->have, alike);
    return known > 0 ? are_together(alike, n_seeds) : known;
}

/* ---- One pass or two (search/passes.py) ---- */

/* What a base takes away at most from an item that exists. */
static double taken_by(const double *base, int64_t n) {
    double least = 0;
    for (int64_t i = 0; i < n; i++)
        if (base[i] < least && base[i] > -INFINITY) least = base[i];
    return -least;
}

/* The middle one of the scores of seeds that are left out, and how many others may be above it. */
static middle_t find_middle(const question_t *question, int64_t n_excluded, const memory_t *memory, int64_t n_seeds,
                            const double *left_out) {
    const double share = question->unlike * (question->n_items - (double)n_excluded);
    const double bound = middle_of(left_out, n_seeds, memory->pruning.near_sums, memory->pruning.near_ids);
    const int is_asked = question->unlike > 0 && n_seeds > 1;
    return (middle_t){is_asked ? bound : INFINITY, share > question->few ? share : question->few, UNSURE};
}

/* The lists of what the examples have of a field. */
static part_t lists_of(const field_t *field, const weighed_t *own) {
    const part_t *lists = &field->by_feature;
    return (part_t){own->count,         lists->size, lists->ids, lists->values,
                    lists->value_bytes, own->starts, own->ends,  own->weights};
}

/* The weights of all fields; how many postings their lists have. */
static int64_t weigh_all(const field_t *fields, int64_t n_fields, const question_t *question, const int64_t *limits,
                         const memory_t *memory, weighed_t *weighed, double sums[2]) {
    int64_t size = 0;
    factors_t factors = {0};
    for (int64_t f = 0; f < n_fields; f++) {
        weighed_t *own = weighed + f;
        const part_t *texts = memory->texts ? memory->texts + f : NULL;
        use_factors(&factors, question, texts, memory);
        const int sure = weigh(fields + f, question, limits[f], memory, own, texts, &factors, sums);
        if (sure < 0) return sure;
        memory->parts[f] = lists_of(fields + f, own);
        for (int64_t j = 0; j < own->count; j++) size += own->ends[j] - own->starts[j];
    }
    return sums[0] + sums[1] < LEAST_SUM ? UNSURE : size; /* they would be scaled */
}

/* One pass: the weights of all fields, and the best items; or else the sums of all, and how many others are above 0.
   With `left_out`, the scores of the `n_seeds` seeds without each other, and how many others are above the middle one.
   `taken`: by the base. */
static int64_t pass(const field_t *fields, int64_t n_fields, const double *base, double taken, int64_t n,
                    const question_t *question, const int64_t *limits, const ids_t *excluded, const memory_t *memory,
                    weighed_t *weighed, best_t *best, double *all_sums, int64_t n_seeds, double *left_out,
                    int64_t *above) {
    middle_t middle = {INFINITY, 0, UNSURE};
    double sums[2] = {0, 0};
    const int64_t size = weigh_all(fields, n_fields, question, limits, memory, weighed, sums);
    if (size < 0) return size;
    const double limit = sums[0] + sums[1] + taken < EXACT_BELOW ? INFINITY : EXACT_BELOW - 1 - sums[1] - taken;
    const int is_older = fields->drift.df != NULL;
    if (is_older && (all_sums || n_fields > 1)) return UNSURE;
    for (int64_t e = 0; left_out && e < n_seeds; e++) left_out[e] = 0.0;
    for (int64_t f = 0; left_out && f < n_fields; f++)
        leave_out(fields + f, question, memory, weighed + f, n_seeds, left_out);
    if (left_out) middle = find_middle(question, excluded->count, memory, n_seeds, left_out);
    if (all_sums) {
        memcpy(all_sums, base, (size_t)n * sizeof *base);
        if (setsearch_add(all_sums, n, memory->parts, n_fields, memory->places) < 0) return DAMAGED;
        if (middle.bound < INFINITY) *above = n_others_above(all_sums, n, excluded, middle.bound);
        return largest(all_sums, n) <= limit ? n_positive(all_sums, n, excluded) : UNSURE;
    }
    int64_t found = UNSURE;
    if (n_fields == 1 && !question->budget && !taken && fields->norm && limit == INFINITY &&
        (is_older || size >= question->fewest))
        found = prune(base, n, memory->parts, weighed->features, fields, excluded, &memory->pruning, &middle, best);
    if (is_older && found < 0) return found;
    if (found == UNSURE) {
        best->filled = best->count = 0, best->crowd = -INFINITY;
        found = find_best(base, n, memory->parts, n_fields, excluded, limit, memory->places, memory->block,
                          best);
    }
    if (middle.above == UNSURE && middle.bound < INFINITY && found > 0) {
        if (best->heap[0] <= middle.bound)
            middle.above = n_above(best->scores, found, middle.bound);
        else if (!is_older) /* what these lists add is not exact */
            middle.above = count_above(base, n, memory->parts, n_fields, excluded, middle.bound, middle.most,
                                       memory->places, memory->block);
    }
    if (left_out) *above = middle.above;
    return middle.above == DAMAGED ? DAMAGED : found;
}

/* Whether two items have the same features with the same values in all fields; not, if some have no values yet. */
static int are_identical(const field_t *fields, int64_t n_fields, int64_t one, int64_t other) {
    for (const field_t *field = fields; field < fields + n_fields; field++) {
        const part_t *items = &field->by_item;
        const float *values = items->values;
        if (one >= items->n_lists || other >= items->n_lists) return 0;
        const int64_t start = items->starts[one], other_start = items->starts[other], n = items->ends[one] - start;
        if (!has_values(items, start, start + n) || !has_values(items, other_start, items->ends[other])) return 0;
        if (n != items->ends[other] - other_start) return 0;
        if (memcmp(items->ids + start, items->ids + other_start, (size_t)n * sizeof *items->ids)) return 0;
        if (memcmp(values + start, values + other_start, (size_t)n * sizeof *values)) return 0;
    }
    return 1;
}

/* Whether two items, which have values, are nearly the same. */
static int are_copies(const part_t *items, const question_t *question, int64_t one, int64_t other) {
    return are_alike(items->ids, items->starts[one], items->ends[one], items->starts[other], items->ends[other],
                     question->alike, question->words);
}

/* Whether an item is nearly the same as an example by the features of the first field (search/passes.py, different). */
static int is_copy(const part_t *items, const question_t *question, const memory_t *memory, int64_t id) {
    for (int64_t e = 0; question->alike && e < memory->n_examples; e++)
        if (are_copies(items, question, id, memory->examples[e])) return 1;
    return 0;
}

/* Whether examples are nearly the same (search/examples.py, once_each): 0, or COPIES, or UNSURE if some have no values
   yet. */
static int have_copies(const part_t *items, const question_t *question, const memory_t *memory) {
    for (int64_t e = 0; e < memory->n_examples; e++) {
        const int64_t id = memory->examples[e];
        if (id < 0 || id >= items->n_lists) return DAMAGED;
        if (!has_values(items, items->starts[id], items->ends[id])) return UNSURE;
        for (int64_t other = 0; other < e; other++)
            if (are_copies(items, question, id, memory->examples[other])) return COPIES;
    }
    return 0;
}

/* Let the best items of a first pass join the examples (search/passes.py, _joining_items), but for copies of examples,
   in the order of their scores, which weigh them (parts_of_weight). UNSURE for equal scores of items that differ: their
   names would decide. */
static int join(const field_t *fields, int64_t n_fields, const question_t *question, memory_t *memory,
                const int64_t *ids, const double *scores, int64_t count) {
    const part_t *items = &fields->by_item;
    const int64_t most = memory->n_examples + question->joining;
    double first = 0;
    for (int64_t i = 0; i < count && scores[i] > 0 && memory->n_examples < most; i++) {
        for (int64_t j = i + 1; j < count && scores[j] == scores[i]; j++)
            if (!are_identical(fields, n_fields, ids[i], ids[j])) return UNSURE;
        if (ids[i] >= items->n_lists) return DAMAGED;
        if (!has_values(items, items->starts[ids[i]], items->ends[ids[i]])) return UNSURE;
        if (is_copy(items, question, memory, ids[i])) continue;
        if (!first) first = scores[i];
        const double parts = rint(question->parts * scores[i] / first);
        memory->shares[memory->n_examples] = question->weight / question->parts * (parts > 1 ? parts : 1);
        memory->examples[memory->n_examples++] = ids[i];
    }
    return 0;
}

/* Who joins the seeds, by first passes, and what `limits` they set: UNSURE, DAMAGED and MISSING as `answer`, else 0.
   With `left_out` it is filled, and `above` gets how many others are above the middle one of these. */
static int64_t join_seeds(const field_t *fields, int64_t n_fields, int64_t n, const asked_t *asked,
                          const ids_t *without, memory_t *memory, weighed_t *weighed, int64_t *limits,
                          double *left_out, int64_t *above, int64_t *ids, double *scores, int64_t room) {
    const question_t *question = &asked->question;
    const int64_t n_seeds = memory->n_examples;
    const double taken = asked->choosing == asked->base ? 0.0 : taken_by(asked->choosing, n);
    for (int64_t k = question->joining; k; k *= DEEPER) {
        best_t best = {k, 0, memory->pruning.heap, 0, room, ids, scores, -INFINITY};
        double *own = k == question->joining ? left_out : NULL;
        const int64_t found = pass(fields, n_fields, asked->choosing, taken, n, question, limits, without, memory,
                                   weighed, &best, NULL, n_seeds, own, above);
        if (found < 0 || is_crowded(&best)) return found < 0 ? found : UNSURE;
        sort_down(scores, ids, found);
        if (fields->drift.df && (memory->missing = put_missing_first(&fields->by_item, ids, found))) return MISSING;
        if (k == question->joining && found >= k && scores[k - 1] > question->flat * scores[0]) return 0;
        const int sure = join(fields, n_fields, question, memory, ids, scores, found);
        if (sure < 0 || memory->n_examples == n_seeds) return sure < 0 ? sure : UNSURE;
        if (memory->n_examples == n_seeds + question->joining || found < k || scores[found - 1] <= 0 ||
            k >= question->joining * question->deepest) {
            for (int64_t f = 0; f < n_fields; f++) limits[f] = second_limit(fields + f, question, memory, weighed + f);
            return 0;
        }
        memory->n_examples = n_seeds;
    }
    return 0;
}

/* The answer to a question by lift (search/passes.py, Weighing.two_passes): the seeds' weights, the best items, and
   again with those among the examples that join. The k best items in order, fewer if there are; or all that equal the
   k-th and those before, in no order: then the count is above k. UNSURE where numpy must be asked: for a list without
   values, tiny or inexact sums, a weight in the middle of two, or if names decide which items join; COPIES if seeds are
   nearly the same, where this is asked; DAMAGED leaves memory that must not be used again.

   `memory` has the seeds and their weights; what joined follows them. It says whether they are one set. `weighed`: the
   features of each field, and their weights. With sums the sums of all items are there, and no best ones. `without`:
   those who do not join, and are none of the best. Where neighbors count, scores are smoothed, but for the sums; and
   with a prior it is added last; the same of `left_out`. `limits` has room for a number a field. `left_out` gets the
   score of each seed if the others, and what joined them, are the set: but for the last bits of its logarithms, and NAN
   where nobody will ask for it; and `above` how many others are above the middle one of these, as middle_t has it: by
   the first pass if some joined TELLING seeds or more. */
static int64_t answer(const field_t *fields, int64_t n_fields, int64_t n, const asked_t *asked, const ids_t *without,
                      memory_t *memory, weighed_t *weighed, int64_t *limits, double *left_out, int64_t *above,
                      int64_t *ids, double *scores, int64_t room) {
    const question_t *question = &asked->question;
    const double *base = asked->base;
    const int64_t n_seeds = memory->n_examples;
    memory->together = 0, memory->least = memory->constant = 0, memory->texts = asked->texts;
    for (int64_t f = 0; f < n_fields; f++) limits[f] = NO_LIMIT;
    if (asked->once) {
        const int same = have_copies(&fields->by_item, question, memory);
        if (same < 0) return same;
    }
    const int tells_first = question->unlike > 0 && n_seeds >= TELLING;
    const int finds_first = tells_first && asked->choosing == base && !asked->texts;
    int64_t above_first = UNSURE;
    const int64_t sure = join_seeds(fields, n_fields, n, asked, without, memory, weighed, limits,
                                    finds_first ? left_out : NULL, &above_first, ids, scores, room);
    if (sure < 0) return sure;
    best_t best = {question->k, 0, memory->pruning.heap, 0, room, ids, scores, -INFINITY};
    const int are_few = n_seeds >= FEWEST_DIVIDED && n_seeds <= MOST_DIVIDED;
    const int may_be_groups = !asked->sums && !asked->texts && n_fields == 1 && question->alike && are_few;
    const int leaves_out = !asked->texts && (question->unlike > 0 || may_be_groups);
    double *const smoothed = asked->near.count || asked->prior.count ? memory->smoothed : NULL;
    double *const sums = asked->sums ? asked->sums : smoothed;
    const int is_told = tells_first && memory->n_examples > n_seeds; /* those of the second pass are not counted */
    question_t second = *question;
    if (is_told) second.unlike = 0;
    const int64_t found = pass(fields, n_fields, base, 0.0, n, &second, limits, without, memory, weighed, &best, sums,
                               n_seeds, leaves_out ? left_out : NULL, above);
    if (is_told) *above = above_first;
    if (found < 0 || (!asked->sums && is_crowded(&best))) return found < 0 ? found : UNSURE;
    for (int64_t f = 0; f < n_fields; f++) memory->least += least_of_field(weighed + f);
    if (!found && !question->joining) return UNSURE; /* nothing else has what the seeds have */
    if (asked->sums) return found;
    if (sums) {
        const ids_t seeds = {memory->examples, n_seeds};
        const int64_t count = find_smoothed(sums, n, &asked->near, &asked->prior, &seeds, without,
                                            leaves_out ? left_out : NULL, smoothed + n, memory->block, &best);
        memory->least = -INFINITY; /* nobody asks */
        if (count < 0 || is_crowded(&best)) return count < 0 ? count : UNSURE;
        const double middle =
            leaves_out ? find_middle(&second, without->count, memory, n_seeds, left_out).bound : INFINITY;
        if (middle < INFINITY) *above = n_above(sums, n, middle);
        sort_down(scores, ids, count);
        return count;
    }
    sort_down(scores, ids, found);
    const int64_t leading = found < LEADERS ? found : LEADERS;
    if (fields->drift.df && may_be_groups &&
        (memory->missing = put_missing_first(&fields->by_item, ids, leading)))
        return MISSING;
    if (!asked->texts)
        memory->together = are_one_set(fields, n_fields, question, memory, weighed, n_seeds, ids, scores, found);
    if (memory->together < 0) return DAMAGED;
    if (may_be_groups && memory->together != 1) {
        const int little =
            share_little(fields, base, n, question, without, &memory->pruning, weighed, left_out, n_seeds);
        if (little >= 0 || !memory->together) memory->together = little;
    }
    return found && (question->joining || scores[0] > 0) ? found : UNSURE;
}

/* ---- A model by a table (models/bernoulli.py), of one field whose entries are all 1 ---- */

/* The weights of the features of the seeds, and the sum of their constants (models/bernoulli.py, Bernoulli.query). */
static int look_up(const field_t *field, const table_t *table, memory_t *memory, weighed_t *own) {
    double all = 0;
    for (int64_t j = 0; j < own->count; j++) {
        const int64_t feature = own->features[j], rank = table->ranks[feature], having = (int64_t)own->having[j];
        if (rank < 0 || rank >= table->n_ranks || having > memory->n_examples) return DAMAGED;
        own->starts[j] = field->by_feature.starts[feature], own->ends[j] = field->by_feature.ends[feature];
        if (!has_values(&field->by_feature, own->starts[j], own->ends[j])) return UNSURE;
        own->weights[j] = table->weights[having * table->n_ranks + rank];
        memory->constant += table->constants[having * table->n_ranks + rank];
        all += fabs(own->weights[j]) + fabs(table->constants[having * table->n_ranks + rank]);
    }
    return all < EXACT_ONES_BELOW ? 0 : UNSURE;
}

/* As prune, from the base without common features on: what one of these adds and its part of the base together are
   little, even if no item is scored by its long list; those that no seed has add nothing at most. The best sums get
   exact scores first, then lists are added until few items can have better ones. */
static int64_t prune_by_table(const double *base, int64_t n, const field_t *field, const table_t *table,
                              const weighed_t *own, const ids_t *excluded, const memory_t *memory, best_t *best) {
    const pruning_t *pruning = &memory->pruning;
    const part_t *items = &field->by_item, *all_lists = memory->parts;
    double *const beyond = memory->block, *const bounds = pruning->bounds, *const heap = pruning->heap;
    double *const near_sums = pruning->near_sums, all = 0;
    float *const sums = pruning->sums;
    const int64_t k = best->k, room = pruning->room, n_features = field->by_feature.n_lists;
    int64_t *const order = pruning->order, *const near_ids = pruning->near_ids, count = 0;
    part_t lists = *all_lists;
    lists.weights = beyond;
    if (!is_sound(all_lists, n) || items->n_lists < n) return DAMAGED;
    if (own->count > BLOCK) return UNSURE;
    memcpy(sums, table->others, (size_t)n * sizeof *sums);
    if (set_left_out(sums, n, excluded, &NONE, -INFINITY) < 0) return DAMAGED;
    for (int64_t j = 0; j < own->count; j++) {
        const int64_t rank = table->ranks[own->features[j]], length = own->ends[j] - own->starts[j];
        beyond[j] = own->weights[j] + (rank >= table->common ? table->weights[rank] : 0);
        if (!(beyond[j] > 0)) continue;
        all += beyond[j];
        pruning->keys[count] = beyond[j] * beyond[j] / (double)(length > 1 ? length : 1), order[count++] = j;
    }
    sort_down(pruning->keys, order, count);
    bounds[count] = 0;
    for (int64_t i = count - 1; i >= 0; i--) bounds[i] = bounds[i + 1] + beyond[order[i]] * ROUNDING;
    int64_t last = until(bounds, count, FIRST_BY_TABLE * bounds[0]), next;
    if (add_in_order(sums, n, &lists, order, 0, last, 0) < 0) return DAMAGED;
    for (int64_t i = 0; i < k; i++) heap[i] = -INFINITY;
    int64_t n_near = near_best_of_all(sums, base, n, 0.0, heap, k, near_ids, near_sums, room);
    const int known = n_near <= room;
    if (known && rescore(base, all_lists, own->features, items, NULL, n_features, n_near, -INFINITY, INFINITY, pruning,
                         best) < 0)
        return DAMAGED;
    const double score = least(best), lost = (double)(count + 1) * (4 * all + fabs(score)) * PRECISION;
    float reached = INFINITY;
    for (; known; last = next) {
        int64_t size = 0;
        int32_t reaching = 0;
        next = until(bounds, count, LATER * bounds[last]);
        reached = just_below(score - bounds[last] - lost);
        for (int64_t i = 0; i < n; i++) reaching += sums[i] >= reached;
        for (int64_t i = last; i < next; i++) size += lists.ends[order[i]] - lists.starts[order[i]];
        if (reaching <= room && (last == count || reaching * RESCORED <= size)) break;
        if (last == count) reached = INFINITY;
        if (last == count) break;
        if (add_in_order(sums, n, &lists, order, last, next, 0) < 0) return DAMAGED;
    }
    n_near = 0;
    for (int64_t begin = 0; begin < n; begin += STRETCH) {
        const int64_t end = begin + STRETCH < n ? begin + STRETCH : n;
        int is_near = 0;
        for (int64_t i = begin; i < end; i++) is_near |= sums[i] >= reached;
        for (int64_t i = begin; is_near && i < end; i++)
            if (sums[i] >= reached && sums[i] > -INFINITY) near_ids[n_near] = i, near_sums[n_near++] = sums[i];
    }
    memset(sums, 0, (size_t)n * sizeof *sums);
    if (!(reached < INFINITY)) return UNSURE;
    best->filled = best->count = 0, best->crowd = -INFINITY;
    return rescore(base, all_lists, own->features, items, NULL, n_features, n_near, -INFINITY, bounds[last] + lost,
                   pruning, best);
}

/* The answer to a question of a model by a table, as `answer` has it. */
static int64_t answer_by_table(const field_t *field, int64_t n, const asked_t *asked, const ids_t *without,
                               memory_t *memory, weighed_t *own, int64_t *ids, double *scores, int64_t room) {
    best_t best = {asked->question.k, 0, memory->pruning.heap, 0, room, ids, scores, -INFINITY};
    double size;
    memory->together = 0, memory->least = memory->constant = 0;
    int sure = gather(field, &asked->question, NULL, NULL, memory, own, &size);
    if (sure < 0 || (sure = look_up(field, asked->table, memory, own)) < 0) return sure;
    *memory->parts = lists_of(field, own);
    if (asked->sums) {
        memcpy(asked->sums, asked->base, (size_t)n * sizeof *asked->sums);
        return setsearch_add(asked->sums, n, memory->parts, 1, memory->places);
    }
    int64_t found = UNSURE;
    if (size >= (double)asked->question.fewest)
        found = prune_by_table(asked->base, n, field, asked->table, own, without, memory, &best);
    if (found == UNSURE) {
        best.filled = best.count = 0, best.crowd = -INFINITY;
        found = find_best(asked->base, n, memory->parts, 1, without, INFINITY, memory->places, memory->block,
                          &best);
    }
    if (found < 0 || is_crowded(&best)) return found < 0 ? found : UNSURE;
    sort_down(scores, ids, found);
    return found;
}

/* ---- Questions (core/question.py) ---- */

/* The answers to questions about the same items and fields, in turn, as long as there is room for the next one: how
   many, or DAMAGED, which leaves memory that must not be used again.

   `ids` and `shares` have the seeds of all questions, ascending, and their weights; the excluded ids, which ascend,
   follow the seeds of each. `limits` has room for a number a field, `room` is that for best items. An answer is in two
   rows of numbers, one behind the other:

       ints     how many best items there are, or why there is no answer
                how many joined, or are MISSING
                how many others are above the middle seed
                whether the seeds are one set (are_together)
                a number of features for each field, 0 unless these are told
                the best items; what joined, or is MISSING; the features of each field, ascending
       reals    the least score that an item may have; what a model by a table adds to all
                the scores of the seeds that are left out; those of the best items; the weights of what joined
                c_j, s_j and v_j of each field */
ENTRY int64_t setsearch_questions(const field_t *fields, int64_t n_fields, int64_t n, const asked_t *asked,
                                  int64_t count, const int64_t *ids, const double *shares, memory_t *memory,
                                  weighed_t *weighed, int64_t *limits, int64_t *ints, int64_t n_ints, double *reals,
                                  int64_t n_reals, int64_t room) {
    const int64_t *const ints_end = ints + n_ints;
    const double *const reals_end = reals + n_reals;
    int64_t n_features = 0, answered = 0;
    for (int64_t f = 0; f < n_fields; f++) n_features += fields[f].by_feature.n_lists;
    for (; answered < count; answered++, asked++) {
        const ids_t without = {ids + asked->n_seeds, asked->n_excluded};
        const int64_t told = asked->weighs ? n_features : 0, joining = asked->question.joining;
        int64_t *const features = ints + HEAD, *const best = features + n_fields;
        double *const left_out = reals + 2, *const scores = left_out + asked->n_seeds;
        if (ints_end - best < room + joining + told || reals_end - scores < room + joining + 3 * told) break;
        memory->n_examples = asked->n_seeds, ints[2] = UNSURE;
        for (int64_t e = 0; e < asked->n_seeds; e++) /* without seeds there may be no ids: NULL */
            memory->examples[e] = ids[e], memory->shares[e] = shares[e], left_out[e] = NAN;
        const int64_t found =
            asked->table ? answer_by_table(fields, n, asked, &without, memory, weighed, best, scores, room)
                         : answer(fields, n_fields, n, asked, &without, memory, weighed, limits, left_out, ints + 2,
                                  best, scores, room);
        if (found == DAMAGED) return DAMAGED;
        const int64_t listed = found < 0 || asked->sums ? 0 : found;
        ints[0] = found < 0 ? found : listed;
        ints[1] = found == MISSING ? memory->missing : found < 0 ? 0 : memory->n_examples - asked->n_seeds;
        ints[3] = memory->together, reals[0] = memory->least, reals[1] = memory->constant;
        if (found >= 0) memcpy(best + listed, memory->examples + asked->n_seeds, (size_t)ints[1] * sizeof *ids);
        if (found >= 0) memcpy(scores + listed, memory->shares + asked->n_seeds, (size_t)ints[1] * sizeof *shares);
        reals = scores + listed + (found < 0 ? 0 : ints[1]);
        int64_t *next = best + listed + ints[1];
        for (int64_t f = 0; f < n_fields; f++) {
            const weighed_t *own = weighed + f;
            const int64_t size = features[f] = found < 0 || !asked->weighs ? 0 : own->count;
            const double *const numbers[] = {own->having, own->sums, own->weights};
            double *const keys = memory->pruning.keys;
            int64_t *const order = memory->pruning.order;
            for (int64_t j = 0; j < size; j++) order[j] = j, keys[j] = -(double)own->features[j];
            sort_down(keys, order, size);
            for (int64_t j = 0; j < size; j++) *next++ = own->features[order[j]];
            for (int i = 0; i < 3; i++)
                for (int64_t j = 0; j < size; j++) *reals++ = numbers[i][order[j]];
        }
        ints = next;
        ids = without.ids + without.count;
        shares += asked->n_seeds;
    }
    return answered;
}

/* ---- The nearest words of each word (memory/contexts/neighbors.py) ---- */

/* What a score must reach to come into a row of `k` similarities, perhaps. */
static double least_of_row(int64_t k, const int64_t *similarities) {
    return similarities[k - 1] ? (double)similarities[k - 1] - 0.5 : 0.5;
}

/* Put a word into a row of ids and similarities (memory/contexts/neighbors.py, _put), the most similar first, equal
   ones by id; zeros are empty places. What the next one must reach. */
static double put_into_row(int64_t id, int64_t similarity, int64_t k, int64_t *ids, int64_t *similarities) {
    int64_t place = k;
    for (; place; place--) {
        const int64_t other = similarities[place - 1];
        if (other > similarity || (other == similarity && ids[place - 1] < id)) break;
        if (place < k) ids[place] = ids[place - 1], similarities[place] = other;
    }
    if (place < k) ids[place] = id, similarities[place] = similarity;
    return least_of_row(k, similarities);
}

/* Find the lists of the features of a word: `own` gets their ends, and `places` where each goes on. With `once` they go
   on behind the word, and so do their starts, since the next words are larger. Whether all lists are inside their
   arrays; of their ids nothing is looked at that is not added. */
static int begin_rows(int64_t word, int64_t once, const part_t *parts, int64_t n_parts, const uint32_t *const *features,
                      part_t *own, int64_t *places, int64_t *ends) {
    for (int64_t p = 0; p < n_parts; places += own[p].n_lists, ends += own[p].n_lists, p++) {
        const part_t *const part = parts + p;
        const uint32_t *const chosen = features[p];
        const int64_t count = own[p].n_lists;
        int64_t *const starts = (int64_t *)part->starts; /* the caller's, to be written with `once` */
        own[p].ends = ends;
        for (int64_t j = 0; j < count; j++) {
            if (chosen[j] >= part->n_lists) return 0;
            __builtin_prefetch(starts + chosen[j]);
            __builtin_prefetch(part->ends + chosen[j]);
        }
        for (int64_t j = 0; j < count; j++) {
            places[j] = starts[chosen[j]], ends[j] = part->ends[chosen[j]];
            if (places[j] < 0 || ends[j] < places[j] || ends[j] > part->size) return 0;
            fetch(part, places[j]);
        }
        for (int64_t j = 0; once && j < count; j++) {
            while (places[j] < ends[j] && part->ids[places[j]] <= word) places[j]++;
            starts[chosen[j]] = places[j];
        }
    }
    return 1;
}

/* The k nearest of `n` words to each of `count` words (memory/contexts/neighbors.py, _fill), into their rows of `ids`
   and `similarities`, in whole units; zeros follow where fewer are similar. `parts` have the lists of all features;
   `features` and `weights`, for each part, those of all these words, and `lengths`, a row for each part, how many of
   them each word has. Each word is also put into the rows of others that are in `kept`, if that is not NULL; with
   `once`, of those behind it, which it is compared with alone: so of all words, ascending, each pair is looked at
   once, and the starts of lists go on. Scratch memory: `own`, a part each; `places` and `ends`, one number for each
   feature of a word; `sums`, BLOCK; `least`, n. */
ENTRY int64_t setsearch_nearest(const int64_t *words, int64_t count, int64_t n, const part_t *parts, int64_t n_parts,
                                const uint32_t **features, const double **weights, const int64_t *lengths,
                                const uint8_t *kept, int64_t once, int64_t k, double unit, part_t *own, int64_t *places,
                                int64_t *ends, double *sums, double *least, int64_t *ids, int64_t *similarities) {
    for (int64_t i = 0; i < n; i++) least[i] = kept && kept[i] ? least_of_row(k, similarities + k * i) : INFINITY;
    for (int64_t i = 0; i < count; i++) {
        if (words[i] < 0 || words[i] >= n) return DAMAGED;
        for (int64_t p = 0; p < n_parts; p++) if (lengths[p * count + i] < 0) return DAMAGED;
    }
    memcpy(own, parts, (size_t)n_parts * sizeof *own);
    for (int64_t i = 0; i < count; i++) {
        const int64_t word = words[i];
        for (int64_t p = 0; p < n_parts; p++) own[p].n_lists = lengths[p * count + i], own[p].weights = weights[p];
        least[word] = least_of_row(k, similarities + k * word);
        if (!begin_rows(word, once, parts, n_parts, features, own, places, ends)) return DAMAGED;
        for (int64_t from = once ? word + 1 : 0; from < n; from += BLOCK) {
            const int64_t size = n - from < BLOCK ? n - from : BLOCK;
            memset(sums, 0, (size_t)size * sizeof *sums);
            if (add_parts(sums, from, size, own, n_parts, places)) return DAMAGED;
            if (word - from >= 0 && word - from < size) sums[word - from] = 0;
            for (int64_t b = 0; b < size; b++) {
                const double score = sums[b] * unit;
                if (score < least[word] && score < least[from + b]) continue;
                const int64_t similarity = (int64_t)whole(score < unit ? score : unit), other = from + b;
                if (!similarity) continue;
                least[word] = put_into_row(other, similarity, k, ids + k * word, similarities + k * word);
                if (kept && kept[other])
                    least[other] = put_into_row(word, similarity, k, ids + k * other, similarities + k * other);
            }
        }
        if (!are_done(own, n_parts, places)) return DAMAGED;
        for (int64_t p = 0; p < n_parts; p++) features[p] += own[p].n_lists, weights[p] += own[p].n_lists;
    }
    return 0;
}

/* ---- Sorting, for indexes and contexts (core/indexing.py) ---- */

/* Sort numbers, and what comes with each, if that is not NULL (core/indexing.py, sort): by one byte after another, from
   the lowest on. So equal ones stay in order. Bytes that are 0 in all are left out. The other two arrays are scratch
   memory. */
ENTRY int64_t setsearch_sort(int64_t n, uint64_t *numbers, int32_t *with, uint64_t *scratch, int32_t *scratch_with) {
    int64_t all_places[8][257] = {{0}}; /* of each byte */
    uint64_t *from = numbers, *to = scratch;
    int32_t *from_with = with, *to_with = scratch_with;
    for (int64_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++) all_places[byte][(numbers[i] >> 8 * byte & 0xFF) + 1]++;
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t *const places = all_places[shift / 8];
        if (places[1] == n) continue;
        for (int byte = 0; byte < 256; byte++) places[byte + 1] += places[byte];
        for (int64_t i = 0; i < n; i++) {
            const int64_t place = places[from[i] >> shift & 0xFF]++;
            to[place] = from[i];
            if (with) to_with[place] = from_with[i];
        }
        uint64_t *const sorted = to;
        int32_t *const sorted_with = to_with;
        to = from, to_with = from_with;
        from = sorted, from_with = sorted_with;
    }
    if (from == numbers) return 0;
    memcpy(numbers, from, (size_t)n * sizeof *numbers);
    if (with) memcpy(with, from_with, (size_t)n * sizeof *with);
    return 0;
}

/* Entries (list, id, count) in the order of their ids (lists.py, transposed), equal ones as they come, into three other
   arrays. Scratch memory: `places`, `n_ids` + 1 zeros. */
ENTRY int64_t setsearch_turn(int64_t size, const int32_t *lists, const int32_t *ids, const int32_t *counts,
                             int64_t n_ids, int64_t *places, int32_t *restrict turned_lists,
                             int32_t *restrict turned_ids, int32_t *restrict turned_counts) {
    for (int64_t i = 0; i < size; i++) {
        if (ids[i] < 0 || ids[i] >= n_ids) return DAMAGED;
        places[ids[i] + 1]++;
    }
    for (int64_t id = 0; id < n_ids; id++) places[id + 1] += places[id];
    for (int64_t i = 0; i < size; i++) {
        const int64_t place = places[ids[i]]++;
        turned_lists[place] = lists[i];
        turned_ids[place] = ids[i];
        turned_counts[place] = counts[i];
    }
    return 0;
}

/* ---- Numbers as they are stored (storage/codec.py) ---- */

/* A number of some bytes, the lowest first. */
static int64_t little(const uint8_t *bytes, int64_t width) {
    uint64_t number = 0;
    for (int64_t i = 0; i < width; i++) number |= (uint64_t)bytes[i] << 8 * i;
    return (int64_t)number;
}

/* The numbers of a patched slice (storage/codec.py, _unpatched), without its head: places and values of those apart, 2
   and 4 bytes each, and the small numbers of 1, 8 or 16 bits. `least` is added to each or, with `are_gaps`, each to the
   one before. */
ENTRY int64_t setsearch_unpack(const uint8_t *data, int64_t size, int64_t bits, int64_t are_gaps, int64_t length,
                               int32_t least, int64_t n_apart, int32_t *restrict values) {
    const uint8_t *const patches = data + 2 * n_apart, *const small = patches + 4 * n_apart;
    if ((bits != 1 && bits != 8 && bits != 16) || size != 6 * n_apart + (length * bits + 7) / 8) return DAMAGED;
    if (bits == 1) {
        const int64_t whole_bytes = length / 8;
        for (int64_t i = 0; i < whole_bytes; i++)
            for (int bit = 0; bit < 8; bit++) values[8 * i + bit] = small[i] >> (7 - bit) & 1;
        for (int64_t i = 8 * whole_bytes; i < length; i++) values[i] = small[i >> 3] >> (7 - (i & 7)) & 1;
    }
    if (bits == 8) for (int64_t i = 0; i < length; i++) values[i] = small[i];
    if (bits == 16) for (int64_t i = 0; i < length; i++) values[i] = small[2 * i] | small[2 * i + 1] << 8;
    for (int64_t i = 0; i < n_apart; i++) {
        const int64_t place = little(data + 2 * i, 2);
        if (place >= length) return DAMAGED;
        values[place] = (int32_t)little(patches + 4 * i, 4);
    }
    uint32_t sum = 0; /* modulo 2^32, as numpy */
    if (are_gaps) for (int64_t i = 0; i < length; i++) values[i] = (int32_t)(sum += (uint32_t)values[i]);
    else for (int64_t i = 0; i < length; i++) values[i] = (int32_t)((uint32_t)values[i] + (uint32_t)least);
    return 0;
}

/* ---- Pieces and words of texts (text/pieces.py) ----

   Texts are in UTF-8, as Python encodes it, with a byte 0xFF between two. A piece is a word of simple letters, those
   of ASCII in lower case. What stands between two blanks is one piece as it is, if it has a character that is not
   simple, a dot before a letter, or + or # behind one: rules in Python tell its words. Each distinct piece has a
   number, in the order of first occurrence. */

enum { /* what a character is; one that stands between words is none of these */
    BLANK = 1, WORD = 2, LETTER = 4, CONSONANT = 8, DIGIT = 16, BEYOND = 32, MARK = 64, APOSTROPHE = 128,
    TEXT_END = 0xFF, TWO_BYTES = 0x800 /* characters of at most two bytes; U+2000 to U+207F follow them in the table */
};

typedef struct {
    uint8_t *bytes;   /* of all pieces, one behind the other */
    int64_t *ends;    /* piece i is from ends[i] to ends[i + 1] */
    uint64_t *slots;  /* a hash table: half of the hash, and the number plus 1; 0 is a free slot */
    int64_t n_slots;  /* a power of two */
    int64_t n_pieces;
    int64_t n_slotted; /* those that are in the slots */
    uint64_t seed;    /* of hashes: nobody can choose texts whose pieces all fall on each other */
} pieces_t;

/* What the character at a byte is, BEYOND if the table lacks it, and how many bytes it has. */
static inline int kind_at(const uint8_t *kinds, const uint8_t *p, int *width) {
    *width = 1;
    if (*p < 0x80) return kinds[*p];
    if (*p == TEXT_END) return BLANK;
    if (*p < 0xE0) return *width = 2, kinds[(*p & 0x1F) << 6 | (p[1] & 0x3F)];
    *width = *p < 0xF0 ? 3 : 4;
    return *p == 0xE2 && p[1] <= 0x81 ? kinds[TWO_BYTES + ((p[1] & 1) << 6 | (p[2] & 0x3F))] : BEYOND;
}

static uint64_t add_to_hash(uint64_t hash, uint8_t byte) { return (hash ^ byte) * 0x100000001B3u; } /* FNV-1a */

/* The number of the piece of `size` bytes behind all others, which stays there if it is new. */
static int32_t number_of(pieces_t *pieces, int64_t size, uint64_t hash) {
    const int64_t n = pieces->n_pieces, begin = pieces->ends[n];
    hash ^= hash >> 32;
    hash *= 0x9E3779B97F4A7C15u;
    const uint64_t upper = hash >> 32 << 32;
    for (int64_t slot = (int64_t)(hash >> 16) & (pieces->n_slots - 1);; slot = (slot + 1) & (pieces->n_slots - 1)) {
        const uint64_t entry = pieces->slots[slot];
        if (!entry) {
            pieces->slots[slot] = upper | (uint64_t)(n + 1);
            pieces->ends[n + 1] = begin + size;
            pieces->n_pieces = n + 1;
            return (int32_t)n;
        }
        if ((entry ^ upper) >> 32) continue;
        const int64_t number = (int64_t)(uint32_t)entry - 1, start = pieces->ends[number];
        if (pieces->ends[number + 1] - start != size) continue;
        if (!memcmp(pieces->bytes + start, pieces->bytes + begin, (size_t)size)) return (int32_t)number;
    }
}

/* The number of some bytes as they are. */
static int32_t number_of_bytes(pieces_t *pieces, const uint8_t *begin, const uint8_t *end) {
    uint64_t hash = pieces->seed;
    memmove(pieces->bytes + pieces->ends[pieces->n_pieces], begin, (size_t)(end - begin));
    for (const uint8_t *p = begin; p < end; p++) hash = add_to_hash(hash, *p);
    return number_of(pieces, end - begin, hash);
}

/* Whether a word goes on at a character between two others. */
static int is_inside(int before, int kind, int after, uint8_t byte) {
    if (kind & APOSTROPHE) return (before & LETTER) && (after & CONSONANT);
    return (byte == '.' || byte == ',') && (before & DIGIT) && (after & DIGIT);
}

/* The numbers of the words between two blanks; where they end. */
static int32_t *add_words(pieces_t *pieces, const uint8_t *kinds, const uint8_t *p, const uint8_t *end, int64_t marks,
                          int32_t *numbers) {
    int width, next_width;
    while (p < end) {
        int kind = kind_at(kinds, p, &width);
        if (!(kind & WORD)) {
            if (marks && kind & MARK) *numbers++ = number_of_bytes(pieces, p, p + 1);
            p += width;
            continue;
        }
        uint8_t *const word = pieces->bytes + pieces->ends[pieces->n_pieces];
        int64_t size = 0;
        uint64_t hash = pieces->seed;
        for (;;) {
            for (const uint8_t *const last = p + width; p < last; p++) {
                word[size] = *p >= 'A' && *p <= 'Z' ? (uint8_t)(*p + 32) : *p;
                hash = add_to_hash(hash, word[size++]);
            }
            const int before = kind;
            if (p == end) break;
            kind = kind_at(kinds, p, &width);
            if (kind & WORD) continue;
            if (p + width >= end || !is_inside(before, kind, kind_at(kinds, p + width, &next_width), *p)) break;
        }
        *numbers++ = number_of(pieces, size, hash);
    }
    return numbers;
}

/* The numbers of the pieces of texts (text/pieces.py, _Dictionary.find): how many. `kinds` tells what each character
   is. With `marks`, commas and ends of sentences are pieces too. `lengths` gets how many each text has, `characters`
   how many are no white space. There is room for as many pieces as bytes. */
ENTRY int64_t setsearch_pieces(const uint8_t *data, int64_t size, const uint8_t *kinds, int64_t marks, pieces_t *pieces,
                               int32_t *numbers, int64_t *lengths, int64_t *characters) {
    int32_t *next = numbers, *first = numbers;
    const uint8_t *const last = data + size;
    const int64_t n_pieces = pieces->n_pieces;
    int width = 1, next_width;
    for (pieces->n_pieces = pieces->n_slotted; pieces->n_pieces < n_pieces;) {
        const int64_t begin = pieces->ends[pieces->n_pieces], end = pieces->ends[pieces->n_pieces + 1];
        number_of_bytes(pieces, pieces->bytes + begin, pieces->bytes + end);
    }
    for (const uint8_t *p = data; p < last;) {
        const uint8_t *const begin = p;
        int is_plain = 1;
        for (int kind = 0, before = 0; p < last; p += width, before = kind) {
            kind = kind_at(kinds, p, &width);
            if (kind & BLANK) break;
            ++*characters;
            if (kind & BEYOND) is_plain = 0;
            if (*p == '.' && p + 1 < last && kind_at(kinds, p + 1, &next_width) & LETTER) is_plain = 0;
            if ((*p == '+' || *p == '#') && before & LETTER) is_plain = 0;
        }
        if (!is_plain) *next++ = number_of_bytes(pieces, begin, p);
        else next = add_words(pieces, kinds, begin, p, marks, next);
        if (p == last) break;
        *characters += width > 1; /* a no-break space is to be seen */
        if (*p == TEXT_END) *lengths++ = next - first, first = next;
        p += width;
    }
    *lengths = next - first;
    pieces->n_slotted = pieces->n_pieces;
    return next - numbers;
}

/* The words of pieces (core/indexing.py, words_of), those of piece i from starts[i] to starts[i + 1] of `words`: how
   many. `lengths`: the pieces of each text, and then the words. `n_read` gets the sum of what is `read` of each piece.
   Without `found` words are counted alone. */
ENTRY int64_t setsearch_words(const int32_t *pieces, int64_t n_texts, int64_t *lengths, const int64_t *starts,
                              const int32_t *words, const int64_t *read, int32_t *restrict found, int64_t *n_read) {
    int64_t count = 0;
    for (int64_t t = 0; t < n_texts; t++) {
        const int64_t before = count;
        for (const int32_t *const last = pieces + lengths[t]; pieces < last; pieces++) {
            const int64_t start = starts[*pieces], end = starts[*pieces + 1];
            if (found) *n_read += read[*pieces];
            if (found) for (int64_t p = start; p < end; p++) found[count + p - start] = words[p];
            count += end - start;
        }
        if (found) lengths[t] = count - before;
    }
    return count;
}
