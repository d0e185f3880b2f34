/* The cover/disjoint error rate (CDER): an edit distance whose path may jump to anywhere in the output, at the cost of
   one edit (Leusch et al. 2006, §3).

   A jump costs as much as any edit, so that in each row of the table, one for each word of the reference, every cell
   holds the row's lowest cost or one more. A row is therefore a set of places, kept as bits: those with the lowest
   cost. The next row's are those a match leads to; where there is no match, the cost grows by one and the places are
   those that an edit of any kind, or a match after a jump, leads to. A word of which the output has many has a row of
   bits of its own, and at most 64 words have that many; of the others the places are listed. So time is m * n / 64. */

#include "items.h"

#define NOWHERE (-1)

typedef struct {
    int32_t *last, *before; /* a symbol's last place in the output, and the place before each, or NOWHERE */
    int32_t *times, *row;   /* how often the output has a symbol; which row of `many` it has, or NOWHERE */
    uint64_t *places, *next, *many;
    int64_t room, words;
} Jumps;

static void jumps_free(Jumps *j) {
    free(j->last);
    free(j->times);
    free(j->row);
    free(j->before);
    free(j->places);
    free(j->next);
    free(j->many);
}

static int jumps_make(Jumps *j, int64_t symbols) {
    *j = (Jumps){0};
    size_t size = sizeof(int32_t) * ((size_t)symbols + 1);
    j->last = malloc(size);
    j->times = malloc(size);
    j->row = malloc(size);
    if (j->last == NULL || j->times == NULL || j->row == NULL) return 0;
    for (int64_t k = 0; k <= symbols; k++) j->last[k] = j->row[k] = NOWHERE, j->times[k] = 0;
    return 1;
}

/* Place i is before the output's word i; there is one more place than words. */
static int jumps_room(Jumps *j, int64_t n) {
    if (j->before != NULL && n <= j->room) return 1;
    int64_t room = 2 * n + 64, words = room / 64 + 1;
    free(j->before);
    free(j->places);
    free(j->next);
    free(j->many);
    j->before = malloc(sizeof(int32_t) * (size_t)room);
    j->places = malloc(sizeof(uint64_t) * (size_t)words);
    j->next = malloc(sizeof(uint64_t) * (size_t)words);
    j->many = malloc(sizeof(uint64_t) * 64 * (size_t)words);
    if (j->before == NULL || j->places == NULL || j->next == NULL || j->many == NULL) return (int)(j->room = 0);
    j->room = room;
    return 1;
}

/* Where the output has each of its symbols: the place after the word. */
static void learn_output(Jumps *j, const uint32_t *output, int64_t n) {
    int32_t rows = 0;
    j->words = n / 64 + 1;
    for (int64_t k = 0; k < n; k++) {
        j->before[k] = j->last[output[k]];
        j->last[output[k]] = (int32_t)k;
        j->times[output[k]]++;
    }
    for (int64_t k = 0; k < n; k++) {
        uint32_t symbol = output[k];
        if (j->times[symbol] < j->words || j->row[symbol] != NOWHERE || rows == 64) continue;
        uint64_t *bits = j->many + j->words * rows;
        memset(bits, 0, sizeof(uint64_t) * (size_t)j->words);
        for (int32_t at = j->last[symbol]; at != NOWHERE; at = j->before[at])
            bits[(at + 1) / 64] |= UINT64_C(1) << ((at + 1) % 64);
        j->row[symbol] = rows++;
    }
}

static void forget_output(Jumps *j, const uint32_t *output, int64_t n) {
    for (int64_t k = 0; k < n; k++) j->last[output[k]] = j->row[output[k]] = NOWHERE, j->times[output[k]] = 0;
}

/* The places that a match of `symbol` leads to from the present ones; 0 where there is none. */
static int match(Jumps *j, uint32_t symbol) {
    uint64_t any = 0, carried = 0;
    if (j->row[symbol] == NOWHERE) {
        memset(j->next, 0, sizeof(uint64_t) * (size_t)j->words);
        for (int32_t at = j->last[symbol]; at != NOWHERE; at = j->before[at])
            if (j->places[at / 64] >> (at % 64) & 1) {
                j->next[(at + 1) / 64] |= UINT64_C(1) << ((at + 1) % 64);
                any = 1;
            }
        return any != 0;
    }
    const uint64_t *bits = j->many + j->words * j->row[symbol];
    for (int64_t k = 0; k < j->words; k++) {
        j->next[k] = (j->places[k] << 1 | carried) & bits[k];
        carried = j->places[k] >> 63;
        any |= j->next[k];
    }
    return any != 0;
}

/* The places that an edit leads to from the present ones, and a match of `symbol` from all others. */
static void edit(Jumps *j, uint32_t symbol) {
    uint64_t carried = 0;
    const uint64_t *bits = j->row[symbol] == NOWHERE ? NULL : j->many + j->words * j->row[symbol];
    for (int64_t k = 0; k < j->words; k++) {
        j->next[k] = j->places[k] | j->places[k] << 1 | carried | (bits == NULL ? 0 : bits[k]);
        carried = j->places[k] >> 63;
    }
    if (bits != NULL) return;
    for (int32_t at = j->last[symbol]; at != NOWHERE; at = j->before[at])
        j->next[(at + 1) / 64] |= UINT64_C(1) << ((at + 1) % 64);
}

/* The least edits and jumps that lead along all of the reference, from the output's beginning to its end. */
static int64_t jump_distance(Jumps *j, const uint32_t *reference, int64_t m, int64_t n) {
    int64_t cost = 0;
    memset(j->places, 0, sizeof(uint64_t) * (size_t)j->words);
    j->places[0] = 1;
    for (int64_t k = 0; k < m; k++) {
        if (!match(j, reference[k])) {
            edit(j, reference[k]);
            cost++;
        }
        uint64_t *swap = j->places;
        j->places = j->next;
        j->next = swap;
    }
    return cost + !(j->places[n / 64] >> (n % 64) & 1);
}

/* Rows of `statistics`: edits, and the length of the reference, for the reference with the lowest rate. */
EXPORT int64_t jump_statistics(const uint32_t *symbols, int64_t symbols_length, const int64_t *offsets,
                               int64_t offsets_length, ITEMS, int64_t distinct, double *statistics,
                               int64_t statistics_length) {
    if (!offsets_are_good(offsets, offsets_length, symbols_length) || !ITEMS_ARE_GOOD(offsets_length - 1) ||
        statistics_length != 2 * outputs_length || distinct < 0 || distinct > INT32_MAX || symbols_length > INT32_MAX / 4)
        return MALFORMED;
    for (int64_t k = 0; k < symbols_length; k++)
        if (symbols[k] >= distinct) return MALFORMED;
    Jumps jumps;
    int64_t problem = jumps_make(&jumps, distinct) ? 0 : OUT_OF_MEMORY;
    for (int64_t k = start; k < stop && !problem; k++) {
        const uint32_t *output = symbols + offsets[outputs[k]];
        int64_t n = length_of(offsets, outputs[k]);
        double lowest = INFINITY, *row = statistics + 2 * k;
        row[0] = row[1] = 0.0;
        if (!jumps_room(&jumps, n)) {
            problem = OUT_OF_MEMORY;
            break;
        }
        learn_output(&jumps, output, n);
        for (int64_t r = bounds[k]; r < bounds[k + 1]; r++) {
            int64_t its = length_of(offsets, references[r]);
            int64_t edits = jump_distance(&jumps, symbols + offsets[references[r]], its, n);
            double rate = its ? (double)edits / (double)its : edits > 0;
            if (rate < lowest) {
                lowest = rate;
                row[0] = (double)edits;
                row[1] = (double)its;
            }
        }
        forget_output(&jumps, output, n);
    }
    jumps_free(&jumps);
    return problem ? problem : stop - start;
}
