/* Translation edit rate: the fewest edits after greedy shifts of phrases, with the limits of sacreBLEU's TER.

   Edit distances are kept in a band around the diagonal, so a row costs the band's width whatever the lengths. A shift
   changes only the rows between the phrase's old and new place. Rows before are those of the unshifted output, rows
   after are summed up by distances to the end, computed once, so a candidate costs only the rows it changes; it is
   given up at the first row that shows it can't win. Both leave every number as it is. */

#include "items.h"

#define MAX_SHIFT_SIZE 10
#define MAX_SHIFT_DISTANCE 50
#define MAX_CANDIDATES 1000
#define BEAM 25
/* More than any distance, with room to add to. */
#define FAR (INT32_MAX / 4)

/* One output being shifted towards one reference. Row i of a table is cells[begin[i] - first[i] + j]. */
typedef struct {
    const int32_t *reference;
    int32_t *words, *shifted;
    int64_t n, m;
    int64_t *low, *high;           /* the band: row i has columns low[i] <= j < high[i] */
    int64_t *first, *begin;        /* columns kept, beyond the band by what neighbouring rows look at */
    int32_t *forward, *backward;   /* distances from the beginning, and to the end */
    int32_t *rows[2];              /* of a candidate */
    int32_t *align, *reference_errors, *output_errors;
    int64_t room, cells_room;
} Work;

static void work_free(Work *w) {
    free(w->words);
    free(w->low);
    free(w->forward);
    free(w->align);
    *w = (Work){0};
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The band follows the ratio of the lengths. */
static void lay_band(Work *w) {
    double ratio = w->n ? (double)w->m / (double)w->n : 1.0;
    int64_t beam = BEAM < ratio / 2 ? (int64_t)ceil(ratio / 2 + BEAM) : BEAM;
    w->low[0] = 0;
    w->high[0] = w->m + 1;
    for (int64_t i = 1; i <= w->n; i++) {
        int64_t diagonal = (int64_t)floor((double)i * ratio);
        w->low[i] = larger(0, diagonal - beam);
        w->high[i] = i == w->n ? w->m + 1 : smaller(w->m + 1, diagonal + beam);
    }
}

/* Columns kept of each row: its band and its neighbours', and one more on either side. Row 0 needs no cells: its
   distances are the columns themselves. Returns the number of cells. */
static int64_t lay_rows(Work *w) {
    int64_t cells = 0;
    for (int64_t i = 1; i <= w->n; i++) {
        int64_t low = i > 1 ? smaller(w->low[i - 1], w->low[i]) : w->low[i];
        int64_t high = i < w->n ? larger(w->high[i], w->high[i + 1]) : w->high[i];
        w->first[i] = low - 1;
        w->begin[i] = cells;
        cells += high + 2 - (low - 1);
    }
    return cells;
}

static int work_reset(Work *w, const int32_t *output, int64_t n, const int32_t *reference, int64_t m) {
    int64_t room = n + m + 2;
    if (room > w->room) {
        room *= 2;
        work_free(w);
        w->words = malloc(sizeof(int32_t) * 2 * room);
        w->low = malloc(sizeof(int64_t) * 4 * room);
        w->align = malloc(sizeof(int32_t) * 3 * room);
        if (w->words == NULL || w->low == NULL || w->align == NULL) return 0;
        w->shifted = w->words + room;
        w->high = w->low + room;
        w->first = w->high + room;
        w->begin = w->first + room;
        w->reference_errors = w->align + room;
        w->output_errors = w->reference_errors + room;
        w->room = room;
    }
    w->n = n;
    w->m = m;
    w->reference = reference;
    memcpy(w->words, output, sizeof(int32_t) * n);
    lay_band(w);
    int64_t cells = lay_rows(w), extra = 2 * (m + 8);
    if (cells + extra > w->cells_room) {
        free(w->forward);
        w->cells_room = 0;
        w->forward = malloc(sizeof(int32_t) * 2 * (cells + extra) * 2);
        if (w->forward == NULL) return 0;
        w->cells_room = 2 * (cells + extra);
    }
    w->backward = w->forward + cells;
    w->rows[0] = w->backward + cells;
    w->rows[1] = w->rows[0] + m + 8;
    return 1;
}

/* Row i of a table, indexed by column. */
static inline int32_t *row_of(const Work *w, int32_t *table, int64_t i) { return table + w->begin[i] - w->first[i]; }

/* One row from the one above (NULL: row 0); the cells just outside the band are made FAR for the next row to read.
   Returns the least distance in it. */
static int32_t next_row(const Work *w, int64_t i, int32_t word, const int32_t *above, int32_t *row) {
    int64_t low = w->low[i], high = w->high[i], reach = i < w->n ? larger(high, w->high[i + 1]) : high;
    const int32_t *reference = w->reference;
    if (above == NULL) {
        for (int64_t j = larger(low, 1); j < high; j++) row[j] = (int32_t)(j - (reference[j - 1] == word));
    } else {
        for (int64_t j = larger(low, 1); j < high; j++) {
            int32_t change = above[j - 1] + (reference[j - 1] != word), removal = above[j] + 1;
            row[j] = change < removal ? change : removal;
        }
    }
    if (low == 0) row[0] = (above == NULL ? 0 : above[0]) + 1;
    int32_t left = row[low], least = left;
    for (int64_t j = low + 1; j < high; j++) {
        left = left + 1 < row[j] ? left + 1 : row[j];
        row[j] = left;
        least = left < least ? left : least;
    }
    row[low - 1] = FAR;
    for (int64_t j = high; j < reach; j++) row[j] = FAR;
    return least;
}

static int32_t all_forward(Work *w) {
    for (int64_t i = 1; i <= w->n; i++)
        next_row(w, i, w->words[i - 1], i > 1 ? row_of(w, w->forward, i - 1) : NULL, row_of(w, w->forward, i));
    return w->n ? row_of(w, w->forward, w->n)[w->m] : (int32_t)w->m;
}

/* Distances to the end: from the cell below right, below, and right. */
static void all_backward(Work *w) {
    int32_t *last = row_of(w, w->backward, w->n);
    for (int64_t j = w->low[w->n]; j <= w->m; j++) last[j] = (int32_t)(w->m - j);
    for (int64_t i = w->n - 1; i >= 1; i--) {
        int32_t *row = row_of(w, w->backward, i), *below = row_of(w, w->backward, i + 1), right = FAR;
        for (int64_t j = w->high[i] - 1; j >= w->low[i]; j--) {
            int32_t best = right + 1;
            if (j + 1 >= w->low[i + 1] && j + 1 < w->high[i + 1]) {
                int32_t change = below[j + 1] + (w->words[i] != w->reference[j]);
                best = change < best ? change : best;
            }
            if (j >= w->low[i + 1] && j < w->high[i + 1] && below[j] + 1 < best) best = below[j] + 1;
            row[j] = right = best;
        }
    }
}

/* Which output word each reference word stands at, and running counts of the words of either that are wrong. A change
   is preferred to a removal, a removal to an insertion. */
static void trace(Work *w) {
    int64_t i = w->n, j = w->m;
    while (i > 0 || j > 0) {
        int insertion = i == 0, removal = !insertion && j == 0, wrong = 1;
        if (!insertion && !removal) {
            const int32_t *row = row_of(w, w->forward, i), *above = i > 1 ? row_of(w, w->forward, i - 1) : NULL;
            int32_t corner = above ? above[j - 1] : (int32_t)(j - 1), up = above ? above[j] : (int32_t)j;
            wrong = w->words[i - 1] != w->reference[j - 1];
            if (row[j] != corner + wrong) {
                removal = row[j] == up + 1;
                insertion = !removal;
                wrong = 1;
            }
        }
        if (!insertion) w->output_errors[i--] = wrong;
        if (!removal) {
            w->reference_errors[j] = wrong;
            w->align[--j] = (int32_t)(insertion ? i : i + 1) - 1;
        }
    }
    w->output_errors[0] = w->reference_errors[0] = 0;
    for (i = 1; i <= w->n; i++) w->output_errors[i] += w->output_errors[i - 1];
    for (j = 1; j <= w->m; j++) w->reference_errors[j] += w->reference_errors[j - 1];
}

/* A phrase of `length` words at `start`, to be put before word `target`; `score` is what it saves. */
typedef struct {
    int64_t start, length, target;
    int32_t score;
} Shift;

/* Writes the words between the old and the new place, shifted, to `w->shifted`, and says where they begin and end. */
static void lay_shift(const Work *w, const Shift *s, int64_t *begin, int64_t *end) {
    int64_t after = s->start + s->length;
    /* A target inside the phrase means: as many words further as the target lies inside. */
    int64_t target = s->target < s->start || s->target > after ? s->target : smaller(s->target + s->length, w->n);
    int back = target < s->start;
    *begin = back ? target : s->start;
    *end = back ? after : target;
    int64_t others = back ? s->start - target : target - after;
    memcpy(w->shifted + (back ? 0 : others), w->words + s->start, sizeof(int32_t) * s->length);
    memcpy(w->shifted + (back ? s->length : 0), w->words + (back ? target : after), sizeof(int32_t) * others);
}

/* The distance after a shift if it is at most `limit`, else FAR. */
static int32_t distance_within(Work *w, const Shift *s, int32_t limit) {
    int64_t begin, end;
    lay_shift(w, s, &begin, &end);
    const int32_t *above = begin ? row_of(w, w->forward, begin) : NULL;
    int32_t *row = NULL;
    for (int64_t i = begin + 1; i <= end; i++) {
        row = w->rows[i & 1] + 1;
        if (next_row(w, i, w->shifted[i - 1 - begin], above, row) > limit) return FAR;
        above = row;
    }
    const int32_t *rest = row_of(w, w->backward, end);
    int32_t least = FAR;
    for (int64_t j = w->low[end]; j < w->high[end]; j++) least = row[j] + rest[j] < least ? row[j] + rest[j] : least;
    return least <= limit ? least : FAR;
}

/* Of two shifts that save the same: the longer, then the earlier phrase, then the earlier target. */
static int wins_tie(const Shift *a, const Shift *b) {
    if (a->length != b->length) return a->length > b->length;
    if (a->start != b->start) return a->start < b->start;
    return a->target < b->target;
}

/* Try one phrase at every place that would put it beside its words in the reference. */
static void try_places(Work *w, int32_t before, int64_t start, int64_t at, int64_t length, Shift *best,
                       int64_t *candidates) {
    if (w->output_errors[start + length] == w->output_errors[start]) return;
    if (w->reference_errors[at + length] == w->reference_errors[at]) return;
    if (start <= w->align[at] && w->align[at] < start + length) return;
    int64_t previous = -1;
    for (int64_t offset = -1; offset < length; offset++) {
        int64_t target = at + offset == -1 ? 0 : (int64_t)w->align[at + offset] + 1;
        if (target == previous) continue;
        previous = target;
        Shift shift = {start, length, target, 0};
        /* Only a shift that saves something matters: if none does, none is made, whichever is best. */
        int32_t wanted = best->score < 1 ? 1 : wins_tie(&shift, best) ? best->score : best->score + 1;
        int32_t after = distance_within(w, &shift, before - wanted);
        if (after < FAR) {
            shift.score = before - after;
            *best = shift;
        }
        ++*candidates;
    }
}

/* The shift that saves most; `candidates` goes on counting those tried, up to their limit. */
static Shift best_shift(Work *w, int32_t before, int64_t *candidates) {
    Shift best = {0, 0, 0, 0};
    trace(w);
    all_backward(w);
    for (int64_t start = 0; start < w->n; start++) {
        int64_t stop = smaller(w->m, start + MAX_SHIFT_DISTANCE + 1);
        for (int64_t at = larger(0, start - MAX_SHIFT_DISTANCE); at < stop; at++)
            for (int64_t k = 0; k < MAX_SHIFT_SIZE && start + k < w->n && at + k < w->m; k++) {
                if (w->words[start + k] != w->reference[at + k]) break;
                try_places(w, before, start, at, k + 1, &best, candidates);
                if (*candidates >= MAX_CANDIDATES) return best;
            }
    }
    return best;
}

static void shift_words(Work *w, const Shift *s) {
    int64_t begin, end;
    lay_shift(w, s, &begin, &end);
    memcpy(w->words + begin, w->shifted, sizeof(int32_t) * (end - begin));
}

/* Edits and shifts that turn `words` into `reference`, or OUT_OF_MEMORY. */
static int64_t edits(Work *w, const int32_t *words, int64_t n, const int32_t *reference, int64_t m) {
    if (m == 0 || n == 0) return n + m;
    if (!work_reset(w, words, n, reference, m)) return OUT_OF_MEMORY;
    int64_t shifts = 0, candidates = 0;
    for (;;) {
        int32_t before = all_forward(w);
        if (before == 0) return shifts;
        Shift best = best_shift(w, before, &candidates);
        if (candidates >= MAX_CANDIDATES || best.score <= 0) return shifts + before;
        shift_words(w, &best);
        shifts++;
    }
}

/* Rows of `statistics`: the fewest edits over the references, and the references' mean length. */
EXPORT int64_t ter_statistics(const int32_t *words, int64_t words_length, const int64_t *offsets,
                              int64_t offsets_length, ITEMS, double *statistics, int64_t statistics_length) {
    if (!offsets_are_good(offsets, offsets_length, words_length) || !ITEMS_ARE_GOOD(offsets_length - 1) ||
        statistics_length != 2 * outputs_length || words_length > FAR)
        return MALFORMED;
    Work work = {0};
    for (int64_t k = start; k < stop; k++) {
        int64_t fewest = INT64_MAX, lengths = 0, count = bounds[k + 1] - bounds[k];
        for (int64_t r = bounds[k]; r < bounds[k + 1]; r++) {
            int64_t its = length_of(offsets, references[r]);
            int64_t found = edits(&work, words + offsets[outputs[k]], length_of(offsets, outputs[k]),
                                  words + offsets[references[r]], its);
            if (found < 0) {
                work_free(&work);
                return found;
            }
            fewest = smaller(fewest, found);
            lengths += its;
        }
        statistics[2 * k] = count ? (double)fewest : 0.0;
        statistics[2 * k + 1] = count ? (double)lengths / (double)count : 0.0;
    }
    work_free(&work);
    return stop - start;
}
