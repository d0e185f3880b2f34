/* Edit distances: word and character error rate, CharacTER, and the extended edit distance.

   Plain distances go 64 rows at a time in the bits of a word (Myers 1999, in the blocks of Hyyrö 2003), one strip of
   the table after the other, so that memory grows with the length of a text only. */

#include "items.h"

/* Of an output whose shifts would take more steps than there are. A step is 64 cells of a table of words, or a word. */
#define TOO_LONG (-3)

/* Where a strip's symbols are, by symbol; and what each column passes to the strip below. */
typedef struct {
    uint64_t *masks;
    int8_t *steps;
    int64_t symbols, room;
} Strips;

static int strips_make(Strips *one, int64_t symbols) {
    *one = (Strips){.symbols = symbols};
    one->masks = calloc((size_t)symbols + 1, sizeof(uint64_t));
    return one->masks != NULL;
}

static void strips_free(Strips *one) {
    free(one->masks);
    free(one->steps);
}

static int strips_room(Strips *one, int64_t columns) {
    if (columns <= one->room) return 1;
    free(one->steps);
    one->steps = malloc((size_t)columns * 2);
    one->room = one->steps == NULL ? 0 : columns * 2;
    return one->steps != NULL;
}

/* One strip of up to 64 rows; `last` is the bit of its lowest row. */
static void run_strip(Strips *one, const uint32_t *columns, int64_t n, uint64_t last) {
    uint64_t up = ~UINT64_C(0), down = 0;
    for (int64_t k = 0; k < n; k++) {
        uint64_t equal = one->masks[columns[k]], step_down = one->steps[k] < 0, step_up = one->steps[k] > 0;
        uint64_t vertical = equal | down;
        equal |= step_down;
        uint64_t zero = (((equal & up) + up) ^ up) | equal;
        uint64_t rise = down | ~(zero | up), fall = up & zero;
        one->steps[k] = (int8_t)(((rise & last) != 0) - ((fall & last) != 0));
        rise = (rise << 1) | step_up;
        fall = (fall << 1) | step_down;
        up = fall | ~(vertical | rise);
        down = rise & vertical;
    }
}

/* The distance of two sequences of symbols below `symbols`, or OUT_OF_MEMORY. */
static int64_t distance(Strips *one, const uint32_t *rows, int64_t m, const uint32_t *columns, int64_t n) {
    /* What both begin and end with costs nothing. */
    while (m > 0 && n > 0 && *rows == *columns) rows++, columns++, m--, n--;
    while (m > 0 && n > 0 && rows[m - 1] == columns[n - 1]) m--, n--;
    if (m == 0 || n == 0) return m + n;
    if (!strips_room(one, n)) return OUT_OF_MEMORY;
    memset(one->steps, 1, n);
    for (int64_t top = 0; top < m; top += 64) {
        int64_t height = m - top < 64 ? m - top : 64;
        for (int64_t k = 0; k < height; k++) one->masks[rows[top + k]] |= UINT64_C(1) << k;
        run_strip(one, columns, n, UINT64_C(1) << (height - 1));
        for (int64_t k = 0; k < height; k++) one->masks[rows[top + k]] = 0;
    }
    int64_t found = m;
    for (int64_t k = 0; k < n; k++) found += one->steps[k];
    return found;
}

static int symbols_are_good(const uint32_t *symbols, int64_t length, int64_t count) {
    for (int64_t k = 0; k < length; k++)
        if (symbols[k] >= count) return 0;
    return count >= 0 && count <= INT32_MAX;
}

/* Rows of `statistics`: edits, and the length of the reference, for the reference with the lowest rate. */
EXPORT int64_t error_statistics(const uint32_t *symbols, int64_t symbols_length, const int64_t *offsets,
                                int64_t offsets_length, ITEMS, int64_t distinct, double *statistics,
                                int64_t statistics_length) {
    if (!offsets_are_good(offsets, offsets_length, symbols_length) || !ITEMS_ARE_GOOD(offsets_length - 1) ||
        statistics_length != 2 * outputs_length || !symbols_are_good(symbols, symbols_length, distinct))
        return MALFORMED;
    Strips strips;
    int64_t problem = strips_make(&strips, distinct) ? 0 : OUT_OF_MEMORY;
    for (int64_t k = start; k < stop && !problem; k++) {
        double lowest = INFINITY, *row = statistics + 2 * k;
        row[0] = row[1] = 0.0;
        for (int64_t r = bounds[k]; r < bounds[k + 1] && !problem; r++) {
            int64_t its = length_of(offsets, references[r]);
            int64_t edits = distance(&strips, symbols + offsets[references[r]], its, symbols + offsets[outputs[k]],
                                     length_of(offsets, outputs[k]));
            double rate = its ? (double)edits / (double)its : edits > 0;
            if (edits < 0) problem = edits;
            else if (rate < lowest) {
                lowest = rate;
                row[0] = (double)edits;
                row[1] = (double)its;
            }
        }
    }
    strips_free(&strips);
    return problem ? problem : stop - start;
}

/* One output's words, shifted or not, beside those of a reference. Word numbers follow the order of the words as
   texts, because of two shifts that save the same, the one that gives the later text wins. */
typedef struct {
    const uint32_t *output, *reference;
    int64_t n, m;
    int32_t *order, *trial, *best; /* the output's words in some order, by position */
    uint32_t *words;               /* and by number */
    int64_t *begins;               /* where each word's letters begin in the output's text; the end of the last */
    uint32_t *letters;             /* of the shifted output */
    int64_t room, letters_room;
    int64_t steps, most; /* taken so far for one output and reference, and how many may be */
    Strips by_word, by_letter;
} Shifting;

static void shifting_free(Shifting *s) {
    free(s->order);
    free(s->words);
    free(s->begins);
    free(s->letters);
    strips_free(&s->by_word);
    strips_free(&s->by_letter);
}

static int shifting_room(Shifting *s, int64_t words, int64_t letters) {
    if (words > s->room) {
        free(s->order);
        free(s->words);
        free(s->begins);
        s->room = 2 * words;
        s->order = malloc(sizeof(int32_t) * 3 * s->room);
        s->words = malloc(sizeof(uint32_t) * s->room);
        s->begins = malloc(sizeof(int64_t) * (s->room + 1));
        if (s->order == NULL || s->words == NULL || s->begins == NULL) return s->room = 0;
        s->trial = s->order + s->room;
        s->best = s->trial + s->room;
    }
    if (letters > s->letters_room) {
        free(s->letters);
        s->letters_room = 2 * letters;
        s->letters = malloc(sizeof(uint32_t) * s->letters_room);
        if (s->letters == NULL) return (int)(s->letters_room = 0);
    }
    return 1;
}

/* Where the words of a text with single spaces begin; 0 if there are not as many as there should be. */
static int find_words(Shifting *s, const uint32_t *letters, int64_t length) {
    int64_t found = 0;
    for (int64_t k = 0; k < length; k++)
        if (k == 0 || letters[k - 1] == ' ') {
            if (found == s->n) return 0;
            s->begins[found++] = k;
        }
    s->begins[s->n] = length + 1;
    return found == s->n;
}

static int64_t word_distance(Shifting *s, const int32_t *order) {
    for (int64_t k = 0; k < s->n; k++) s->words[k] = s->output[order[k]];
    return distance(&s->by_word, s->reference, s->m, s->words, s->n);
}

static int is_later(const Shifting *s, const int32_t *a, const int32_t *b) {
    for (int64_t k = 0; k < s->n; k++)
        if (s->output[a[k]] != s->output[b[k]]) return s->output[a[k]] > s->output[b[k]];
    return 0;
}

/* The order with a phrase taken out and put in again before the word that is then at `to`. */
static void move_phrase(const Shifting *s, int64_t from, int64_t length, int64_t to) {
    int64_t left = s->n - length, written = 0;
    if (to > left) to = left;
    for (int64_t k = 0; k <= left; k++) {
        if (k == to) {
            memcpy(s->trial + written, s->order + from, sizeof(int32_t) * length);
            written += length;
        }
        if (k < left) s->trial[written++] = s->order[k < from ? k : k + length];
    }
}

/* The least distance that any order of the output's words can have: the words that the longer text has alone. */
static int64_t least_distance(const Shifting *s, int32_t *times) {
    int64_t shared = 0;
    for (int64_t k = 0; k < s->m; k++) times[s->reference[k]]++;
    for (int64_t k = 0; k < s->n; k++)
        if (times[s->output[k]] > 0) {
            times[s->output[k]]--;
            shared++;
        }
    for (int64_t k = 0; k < s->m; k++) times[s->reference[k]] = 0;
    return (s->n > s->m ? s->n : s->m) - shared;
}

/* Where the reference has each word: its last place, and for each place the one before it, or -1. */
static void learn_places(const Shifting *s, int32_t *last, int32_t *before) {
    for (int64_t k = 0; k < s->m; k++) {
        before[k] = last[s->reference[k]] - 1;
        last[s->reference[k]] = (int32_t)k + 1;
    }
}

/* Move the phrase that saves most to where the reference has it, as long as that saves anything. Of two that save the
   same, the one that gives the later text wins. A phrase of n words saves 2 n at most, and no order of the words comes
   below `least`, so most phrases need not be tried. `last` has, by word, its last place in the reference and one. */
static int64_t shift_while_it_saves(Shifting *s, int64_t least, const int32_t *last, const int32_t *earlier) {
    for (int64_t before = word_distance(s, s->order); before > least;) {
        int64_t saved = 0, cost = (s->m / 64 + 1) * s->n;
        for (int64_t from = 0; from < s->n; from++)
            for (int64_t to = last[s->output[s->order[from]]] - 1; to >= 0; to = earlier[to]) {
                int64_t length = 0;
                while (from != to && from + length < s->n && to + length < s->m &&
                       s->output[s->order[from + length]] == s->reference[to + length])
                    length++;
                s->steps += length + 1;
                int64_t most = 2 * length < before - least ? 2 * length : before - least;
                if (length == 0 || most < saved) continue;
                move_phrase(s, from, length, to);
                s->steps += s->n;
                if (saved > 0 && most == saved && !is_later(s, s->trial, s->best)) continue;
                int64_t after = word_distance(s, s->trial);
                if (after < 0) return after;
                s->steps += cost;
                if (s->steps > s->most) return TOO_LONG;
                if (before - after > saved || (saved > 0 && before - after == saved && is_later(s, s->trial, s->best))) {
                    saved = before - after;
                    memcpy(s->best, s->trial, sizeof(int32_t) * s->n);
                }
            }
        if (saved == 0) return 0;
        before -= saved;
        memcpy(s->order, s->best, sizeof(int32_t) * s->n);
    }
    return 0;
}

static int64_t shift_greedily(Shifting *s) {
    int32_t *last = calloc((size_t)s->by_word.symbols + 1, sizeof(int32_t)), *earlier = NULL;
    if (last == NULL) return OUT_OF_MEMORY;
    earlier = malloc(sizeof(int32_t) * ((size_t)s->m + 1));
    if (earlier == NULL) {
        free(last);
        return OUT_OF_MEMORY;
    }
    s->steps = 0;
    int64_t least = least_distance(s, last);
    learn_places(s, last, earlier);
    int64_t problem = shift_while_it_saves(s, least, last, earlier);
    free(last);
    free(earlier);
    return problem;
}

static int64_t letters_of_word(const Shifting *s, int64_t word) { return s->begins[word + 1] - s->begins[word] - 1; }

/* The mean length of the words of each phrase that was moved back. */
static double shift_cost(const Shifting *s) {
    double cost = 0.0;
    for (int64_t k = 0; k < s->n;) {
        uint32_t word = s->output[k];
        int64_t found = k, length = 0, letters = 0;
        if (s->output[s->order[k]] != word) do found++;
            while (found < s->n && s->output[s->order[found]] != word);
        while (found > k && k + length < s->n && found + length < s->n &&
               s->output[s->order[found + length]] == s->output[k + length])
            letters += letters_of_word(s, k + length++);
        if (length) cost += (double)letters / (double)length;
        k += length ? length : 1;
    }
    return cost;
}

/* The output's letters in the order of its shifted words. */
static void lay_letters(Shifting *s, const uint32_t *letters) {
    uint32_t *to = s->letters;
    for (int64_t k = 0; k < s->n; k++) {
        int64_t length = letters_of_word(s, s->order[k]);
        if (k) *to++ = ' ';
        memcpy(to, letters + s->begins[s->order[k]], sizeof(uint32_t) * length);
        to += length;
    }
}

/* CharacTER of one output and reference, or an error code. */
static double character(Shifting *s, const uint32_t *letters, int64_t length, const uint32_t *its, int64_t its_length) {
    if (length == 0) return 1.0;
    if (!shifting_room(s, s->n, length)) return OUT_OF_MEMORY;
    if (!find_words(s, letters, length)) return MALFORMED;
    for (int64_t k = 0; k < s->n; k++) s->order[k] = (int32_t)k;
    int64_t problem = shift_greedily(s);
    if (problem) return (double)problem;
    lay_letters(s, letters);
    int64_t edits = distance(&s->by_letter, its, its_length, s->letters, length);
    if (edits < 0) return (double)edits;
    return ((double)edits + shift_cost(s)) / (double)length;
}

/* `scores`: the lowest over each output's references. `letters` are those of the words with single spaces between. */
EXPORT int64_t character_scores(const uint32_t *words, int64_t words_length, const int64_t *word_offsets,
                                int64_t word_offsets_length, int64_t distinct, const uint32_t *letters,
                                int64_t letters_length, const int64_t *letter_offsets, int64_t letter_offsets_length,
                                int64_t distinct_letters, ITEMS, int64_t most, double *scores,
                                int64_t scores_length) {
    if (!offsets_are_good(word_offsets, word_offsets_length, words_length) ||
        !offsets_are_good(letter_offsets, letter_offsets_length, letters_length) ||
        letter_offsets_length != word_offsets_length || !ITEMS_ARE_GOOD(word_offsets_length - 1) ||
        scores_length != outputs_length || !symbols_are_good(words, words_length, distinct) ||
        !symbols_are_good(letters, letters_length, distinct_letters) || distinct_letters <= ' ')
        return MALFORMED;
    Shifting s = {.most = most};
    double found = 0.0;
    if (!strips_make(&s.by_word, distinct) || !strips_make(&s.by_letter, distinct_letters)) found = OUT_OF_MEMORY;
    for (int64_t k = start; k < stop && found >= 0; k++) {
        int32_t output = outputs[k];
        scores[k] = INFINITY;
        for (int64_t r = bounds[k]; r < bounds[k + 1] && found >= 0; r++) {
            int32_t reference = references[r];
            s.output = words + word_offsets[output];
            s.n = length_of(word_offsets, output);
            s.reference = words + word_offsets[reference];
            s.m = length_of(word_offsets, reference);
            found = character(&s, letters + letter_offsets[output], length_of(letter_offsets, output),
                              letters + letter_offsets[reference], length_of(letter_offsets, reference));
            if (found < scores[k]) scores[k] = found;
        }
    }
    shifting_free(&s);
    return found < 0 ? (int64_t)found : stop - start;
}

typedef struct {
    double jump, coverage, deletion, insertion;
} Costs;

static double smaller(double a, double b) { return a < b ? a : b; }

/* The extended edit distance: as an edit distance, but letters of the output may be left out cheaply, and at each blank
   of the reference the path may jump to anywhere in the output. `rows` has room for two rows and the visits. */
static double extended_distance(const uint32_t *output, int64_t n, const uint32_t *reference, int64_t m, Costs costs,
                                double *rows) {
    double *row = rows, *next = rows + n + 1, *visits = rows + 2 * (n + 1), *swap;
    for (int64_t i = 0; i <= n; i++) {
        row[i] = i > 0;
        visits[i] = 0;
    }
    for (int64_t j = 0; j < m; j++) {
        int64_t lowest = 0;
        next[0] = row[0] + 1.0;
        for (int64_t i = 1; i <= n; i++) {
            double change = row[i - 1] + (output[i - 1] != reference[j]), insertion = row[i] + costs.insertion;
            next[i] = smaller(smaller(next[i - 1] + costs.deletion, change), insertion);
            if (next[i] < next[lowest]) lowest = i;
        }
        visits[lowest]++;
        double jump = costs.jump + next[lowest];
        for (int64_t i = 0; reference[j] == ' ' && i <= n; i++) next[i] = smaller(next[i], jump);
        swap = row;
        row = next;
        next = swap;
    }
    double uncovered = 0.0;
    for (int64_t i = 0; i <= n; i++) uncovered += visits[i] > 0 ? visits[i] - 1 : 1;
    uncovered *= costs.coverage;
    return smaller(1.0, (row[n] + uncovered) / ((double)m + uncovered));
}

/* `scores`: the lowest over each output's references. */
EXPORT int64_t eed_scores(const uint32_t *letters, int64_t letters_length, const int64_t *offsets,
                          int64_t offsets_length, ITEMS, double jump, double coverage, double deletion,
                          double insertion, double *scores, int64_t scores_length) {
    if (!offsets_are_good(offsets, offsets_length, letters_length) || !ITEMS_ARE_GOOD(offsets_length - 1) ||
        scores_length != outputs_length)
        return MALFORMED;
    double *rows = NULL;
    int64_t room = 0;
    for (int64_t k = start; k < stop; k++) {
        int64_t n = length_of(offsets, outputs[k]);
        if (rows == NULL || n > room) {
            free(rows);
            room = 2 * n;
            rows = malloc(sizeof(double) * 3 * (size_t)(room + 1));
            if (rows == NULL) return OUT_OF_MEMORY;
        }
        scores[k] = INFINITY;
        for (int64_t r = bounds[k]; r < bounds[k + 1]; r++) {
            int64_t m = length_of(offsets, references[r]);
            if (m == 0) {
                free(rows);
                return MALFORMED;
            }
            scores[k] = smaller(scores[k], extended_distance(letters + offsets[outputs[k]], n,
                                                             letters + offsets[references[r]], m,
                                                             (Costs){jump, coverage, deletion, insertion}, rows));
        }
    }
    free(rows);
    return stop - start;
}
