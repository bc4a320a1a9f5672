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
    VERSION = 1,    /* of the entries; binding.py asks for it */
    DAMAGED = -1,   /* a list is not what the layout says */
    UNKNOWN = -2,   /* a count without a logarithm */
    BLOCK = 1 << 15, /* items that are scored together: their sums stay in the processor's cache */
    STRETCH = 16    /* scores that are compared with the least of the best together */
};

static const double VALUE_LATTICE = 4194304.0; /* 2^22 */

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
