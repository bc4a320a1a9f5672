/* The compiled core: exact scores, and the k best of them.

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

enum {
    VERSION = 2,    /* of the entries; binding.py asks for it */
    DAMAGED = -1,   /* a list is not what the layout says */
    UNKNOWN = -2,   /* a count without a logarithm */
    UNSURE = -3,    /* what is pruned could change the answer */
    BLOCK = 1 << 15, /* items that are scored together: their sums stay in the processor's cache */
    MANY = 4,       /* lists that have more than one posting for so many items touch many */
    STRETCH = 16    /* scores that are compared with the least of the best together */
};

static const double VALUE_LATTICE = 4194304.0; /* 2^22 */
static const double FIRST = 0.2, LATER = 0.5, JUST_BELOW = 0.99; /* shares of bounds, as in scoring/pruning.py */

typedef struct {
    int64_t n_lists, size; /* size: of ids and values */
    const uint32_t *ids;
    const void *values;
    int64_t value_bytes; /* of a value: 4 or 8, 0 if all are 1 */
    const int64_t *starts, *ends;
    const double *weights;
} part_t;

/* What may be among the best so far: a heap of the k largest scores, the least first, and all that reach it. */
typedef struct {
    int64_t k, filled;
    double *heap;
    int64_t count, room;
    int64_t *ids;
    double *scores;
} best_t;

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
            if (*places == part->ends[j]) continue;
            *places = add_list(sums, first, size, part, part->weights[j], *places, part->ends[j]);
            if (*places < 0) return DAMAGED;
        }
    }
    return 0;
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

/* The least score that can be among the best. */
static double least(const best_t *best) { return best->filled < best->k ? -INFINITY : best->heap[0]; }

/* Forget the candidates that do not reach the least of the best any more. */
static void compact(best_t *best) {
    const double bound = least(best);
    int64_t kept = 0;
    for (int64_t i = 0; i < best->count; i++) {
        best->ids[kept] = best->ids[i];
        best->scores[kept] = best->scores[i];
        kept += best->scores[i] >= bound;
    }
    best->count = kept;
}

/* A score of an item; 0 if there is no room for all that are equal. */
static int offer(best_t *best, int64_t id, double score) {
    if (score == -INFINITY || score < least(best)) return 1;
    if (best->filled < best->k) insert(best, score);
    else if (score > best->heap[0]) replace_least(best->heap, best->k, score);
    if (best->count == best->room) compact(best);
    if (best->count == best->room) return 0;
    best->ids[best->count] = id;
    best->scores[best->count++] = score;
    return 1;
}

/* The scores of `size` items from `first` on; 0 if there is no room for all that are equal. */
static int offer_all(best_t *best, const double *scores, int64_t first, int64_t size) {
    for (int64_t begin = 0; begin < size; begin += STRETCH) {
        const int64_t end = begin + STRETCH < size ? begin + STRETCH : size;
        const double bound = least(best);
        int reaching = 0;
        for (int64_t i = begin; i < end; i++) reaching |= scores[i] >= bound;
        if (!reaching) continue;
        for (int64_t i = begin; i < end; i++)
            if (!offer(best, first + i, scores[i])) return 0;
    }
    return 1;
}

/* ---- Pruning: the lists of most weight a posting first (scoring/pruning.py) ---- */

/* Add some lists, in their order, to sums in single precision; with `only_touched`, where a sum is not 0 already. */
static int add_in_order(float *restrict sums, int64_t n, const part_t *lists, const int64_t *order, int64_t from,
                        int64_t to, int only_touched) {
    const uint32_t *restrict ids = lists->ids;
    const float *restrict values = lists->values;
    for (int64_t i = from; i < to; i++) {
        const float weight = (float)lists->weights[order[i]];
        int64_t p = lists->starts[order[i]];
        const int64_t end = lists->ends[order[i]];
        if (only_touched) {
            for (; p < end && ids[p] < n; p++) sums[ids[p]] += weight * values[p] * (float)(sums[ids[p]] != 0.0f);
        } else {
            for (; p < end && ids[p] < n; p++) sums[ids[p]] += weight * values[p];
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

/* Fill a heap with the k largest sums of distinct items that some lists touch, 0 for fewer; 0 if there are too many
   that were among them. An item that was looked at has its sum negated for that time. */
static int best_sums(float *sums, const double *base, const part_t *lists, const int64_t *order, int64_t to, double *heap,
                     int64_t k, int64_t *looked_at, int64_t room) {
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
    return count < room;
}

/* The touched items whose sum is at most `bound` below the k-th: how many, more than `room` if that is too many. All sums
   of touched items become 0 again. */
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

/* The same of all items, which takes less time if lists touch many. */
static int64_t near_best_of_all(float *sums, const double *base, int64_t n, double bound, double *heap, int64_t k,
                                int64_t *near_ids, double *near_sums, int64_t room) {
    int64_t count = 0;
    for (int64_t begin = 0; begin < n; begin += STRETCH) {
        const int64_t end = begin + STRETCH < n ? begin + STRETCH : n;
        const float least_sum = (float)((heap[0] - bound) * JUST_BELOW); /* above 0: rounding lets more through */
        int reaching = 0;
        for (int64_t i = begin; i < end; i++) reaching |= sums[i] >= least_sum;
        if (!reaching) continue;
        for (int64_t id = begin; id < end; id++) {
            if (!(sums[id] >= heap[0] - bound) || base[id] == -INFINITY || count > room) continue;
            if (sums[id] > heap[0]) replace_least(heap, k, sums[id]);
            if (count < room) near_ids[count] = id, near_sums[count] = sums[id];
            count++;
        }
    }
    memset(sums, 0, (size_t)n * sizeof *sums);
    return count;
}

/* The exact score of an item: the sum of its own features' weights times its values. */
static int score_of(const part_t *items, int64_t id, const double *weights, int64_t n_features, double *score) {
    const float *values = items->values;
    const int64_t start = items->starts[id], end = items->ends[id];
    if (start < 0 || end > items->size) return DAMAGED;
    *score = 0.0;
    for (int64_t p = start; p < end; p++) {
        if (items->ids[p] >= n_features) return DAMAGED;
        *score += weights[items->ids[p]] * values[p];
    }
    return 0;
}

/* ---- Entries ---- */

ENTRY int64_t setsearch_version(void) { return VERSION; }

/* score_i += sum over lists of weight_j x_ij, for all n items. `places` has room for one number a list. */
ENTRY int64_t setsearch_add(double *scores, int64_t n, const part_t *parts, int64_t n_parts, int64_t *places) {
    if (begin_parts(parts, n_parts, n, places) < 0) return DAMAGED;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t size = n - first < BLOCK ? n - first : BLOCK;
        if (add_parts(scores + first, first, size, parts, n_parts, places) < 0) return DAMAGED;
    }
    return 0;
}

/* The k best items, and all that equal the k-th: how many, in no order; more than `room` if there are too many of these.

   `excluded` and `among` ascend, below n; without `among` (NULL) all items count. Scratch memory: `places`, one number
   a list; `sums`, BLOCK of them; `heap`, k of them. `ids` and `scores` have `room`, at least k. */
ENTRY int64_t setsearch_best(const double *base, int64_t n, const part_t *parts, int64_t n_parts,
                             const int64_t *excluded, int64_t n_excluded, const int64_t *among, int64_t n_among,
                             int64_t k, int64_t *places, double *sums, double *heap, int64_t *ids, double *scores,
                             int64_t room) {
    best_t best = {k, 0, heap, 0, room, ids, scores};
    if (begin_parts(parts, n_parts, n, places) < 0) return DAMAGED;
    for (int64_t first = 0, without = 0, within = 0; first < n; first += BLOCK) {
        const int64_t size = n - first < BLOCK ? n - first : BLOCK, last = first + size;
        memcpy(sums, base + first, (size_t)size * sizeof *sums);
        if (add_parts(sums, first, size, parts, n_parts, places) < 0) return DAMAGED;
        for (; without < n_excluded && excluded[without] < last; without++) {
            if (excluded[without] < first) return DAMAGED;
            sums[excluded[without] - first] = -INFINITY;
        }
        if (!among) {
            if (!offer_all(&best, sums, first, size)) return room + 1;
            continue;
        }
        for (; within < n_among && among[within] < last; within++) {
            if (among[within] < first) return DAMAGED;
            if (!offer(&best, among[within], sums[among[within] - first])) return room + 1;
        }
    }
    compact(&best);
    return best.count;
}

/* x_ij of all entries of some lists (models/values.py): those above 0, and how many each list has. The number of all,
   or UNKNOWN for a count without a logarithm.

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
            const int64_t count = count_bytes == 2 ? ((const uint16_t *)counts)[p] : ((const int32_t *)counts)[p];
            if (count < 0 || count >= n_logs) return UNKNOWN;
            if (thresholds && !((double)count / (double)totals[item] > thresholds[feature])) continue;
            double value = logs[count] * factors[feature] * scales[item];
            value = rint((value < 1.0 ? value : 1.0) * VALUE_LATTICE) * (1 / VALUE_LATTICE);
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

/* As setsearch_best, for a base of zeros (-INFINITY: no item) and one part with float32 values, whose sums are exact;
   UNSURE where all lists must be added.

   `active`: the features of the lists. `items`: the same entries by item, all items and features. The lists from the
   i-th on in `order` change what two scores differ by at most by `bounds[i]`; all take away `lost` at most. `sums`, n of
   them, and `weights`, n_features of them, are zeros, and are so again unless the answer is DAMAGED. */
ENTRY int64_t setsearch_prune(const double *base, int64_t n, const part_t *lists, const int64_t *active,
                              const part_t *items, int64_t n_features, const int64_t *excluded, int64_t n_excluded,
                              const int64_t *order, const double *bounds, double lost, int64_t k, float *sums,
                              double *weights, double *heap, int64_t *near_ids, double *near_sums, int64_t *ids,
                              double *scores, int64_t room) {
    const int64_t count = lists->n_lists, first = until(bounds, count, FIRST * bounds[0]);
    int64_t touching = first, n_near = room + 1;
    if (!is_sound(lists, n) || items->n_lists < n) return DAMAGED;
    for (int64_t i = 0; i < n_excluded; i++) {
        if (excluded[i] < 0 || excluded[i] >= n) return DAMAGED;
        sums[excluded[i]] = -INFINITY;
    }
    if (add_in_order(sums, n, lists, order, 0, first, 0) < 0) return DAMAGED;
    const int known = best_sums(sums, base, lists, order, first, heap, k, near_ids, room);
    const double least_sum = heap[0] - lost;
    const int64_t last = known ? until(bounds, count, LATER * least_sum) : first;
    int64_t size = 0;
    for (int64_t i = 0; i < last; i++) size += lists->ends[order[i]] - lists->starts[order[i]];
    const int are_many = size > n / MANY;
    const int sure = known && heap[0] > 0 && least_sum > 0 && bounds[last > first ? last : first] < least_sum;
    if (sure) {
        const int64_t near = are_many ? last : until(bounds, count, JUST_BELOW * least_sum);
        if (near > touching) touching = near;
        if (add_in_order(sums, n, lists, order, first, touching, 0) < 0) return DAMAGED;
        if (add_in_order(sums, n, lists, order, touching, last, 1) < 0) return DAMAGED;
    }
    for (int64_t i = 0; i < k; i++) heap[i] = sure ? least_sum : INFINITY;
    const double bound = bounds[last > first ? last : first];
    n_near = are_many ? near_best_of_all(sums, base, n, bound, heap, k, near_ids, near_sums, room)
                      : near_best(sums, base, lists, order, touching, bound, heap, k, near_ids,
                                  near_sums, room);
    for (int64_t i = 0; i < n_excluded; i++) sums[excluded[i]] = 0.0f;
    if (!sure || n_near > room) return UNSURE;

    const double reached = heap[0] - bound;
    best_t best = {k, 0, heap, 0, room, ids, scores};
    int fits = 1;
    for (int64_t j = 0; j < count; j++) {
        if (active[j] < 0 || active[j] >= n_features) return DAMAGED;
        weights[active[j]] = lists->weights[j];
    }
    for (int64_t i = 0; i < n_near && fits; i++) {
        double score;
        if (near_sums[i] < reached || near_sums[i] + bound < least(&best)) continue;
        if (score_of(items, near_ids[i], weights, n_features, &score) < 0) return DAMAGED;
        fits = offer(&best, near_ids[i], score);
    }
    for (int64_t j = 0; j < count; j++) weights[active[j]] = 0.0;
    compact(&best);
    return fits ? best.count : UNSURE;
}
