/* YiSi-0 (Lo 2019): n-grams of words, matched by the letters that their words have in common.

   Two words are as alike as their longest common run of letters is long, twice that over the sum of their lengths. An
   n-gram of one text is matched with the n-gram of the other whose words, place by place, are most alike on the
   weighted mean. The table of likenesses is walked row by row, and only the last n rows are kept. */

#include "items.h"

#define LONGEST 100 /* words of an n-gram */

typedef struct {
    double *rows;     /* the last n rows of likenesses, each as long as the output */
    double *best;     /* of each n-gram of the output; and its weight, */
    double *weight;   /* and what it shares with the n-gram of the reference in hand, by either's weights */
    double *by_output, *by_reference;
    double *of_place; /* the weight of each word of the output */
    double *of_word;  /* likenesses of the row's word to words of the vocabulary, */
    int64_t *in_row;  /* and the row each was computed in */
    int64_t *runs;    /* of letters in common, up to each letter of a word */
    int64_t room, row;
} Matching;

static void matching_free(Matching *m) {
    free(m->rows);
    free(m->best);
    free(m->of_word);
    free(m->in_row);
    free(m->runs);
}

static int matching_make(Matching *m, int64_t words, int64_t longest) {
    *m = (Matching){0};
    m->of_word = malloc(sizeof(double) * ((size_t)words + 1));
    m->in_row = calloc((size_t)words + 1, sizeof(int64_t));
    m->runs = malloc(sizeof(int64_t) * ((size_t)longest + 1));
    return m->of_word != NULL && m->in_row != NULL && m->runs != NULL;
}

static int matching_room(Matching *m, int64_t words, int64_t n) {
    if (m->rows != NULL && words <= m->room) return 1;
    free(m->rows);
    free(m->best);
    m->room = 2 * words + 16;
    m->rows = malloc(sizeof(double) * (size_t)(n * m->room));
    m->best = malloc(sizeof(double) * (size_t)m->room * 5);
    if (m->rows == NULL || m->best == NULL) return (int)(m->room = 0);
    m->weight = m->best + m->room;
    m->by_output = m->weight + m->room;
    m->by_reference = m->by_output + m->room;
    m->of_place = m->by_reference + m->room;
    return 1;
}

/* The length of the longest run of letters that two words share. */
static int64_t longest_run(Matching *m, const uint32_t *one, int64_t length, const uint32_t *other, int64_t others) {
    int64_t longest = 0, *runs = m->runs;
    memset(runs, 0, sizeof(int64_t) * (size_t)(others + 1));
    for (int64_t i = 0; i < length; i++)
        for (int64_t j = others; j > 0; j--) {
            runs[j] = one[i] == other[j - 1] ? runs[j - 1] + 1 : 0;
            if (runs[j] > longest) longest = runs[j];
        }
    return longest;
}

typedef struct {
    const uint32_t *letters, *words;
    const int64_t *begins, *offsets; /* of words in letters, and of texts in words */
    const double *weights;
} Vocabulary;

static double likeness(Matching *m, const Vocabulary *v, uint32_t one, uint32_t other) {
    if (one == other) return 1.0;
    if (m->in_row[other] == m->row) return m->of_word[other];
    int64_t length = length_of(v->begins, one), others = length_of(v->begins, other);
    int64_t run = longest_run(m, v->letters + v->begins[one], length, v->letters + v->begins[other], others);
    m->in_row[other] = m->row;
    return m->of_word[other] = 2.0 * (double)run / (double)(length + others);
}

/* What each n-gram of the output shares with the reference's n-gram that begins at `first`. */
static void share(Matching *m, const double *of_reference, int64_t first, int64_t size, int64_t grams) {
    double *restrict by_output = m->by_output, *restrict by_reference = m->by_reference;
    memset(by_output, 0, sizeof(double) * (size_t)grams);
    memset(by_reference, 0, sizeof(double) * (size_t)grams);
    for (int64_t t = 0; t < size; t++) {
        const double *restrict alike = m->rows + (first + t) % size * m->room + t, *restrict own = m->of_place + t;
        for (int64_t j = 0; j < grams; j++) {
            by_reference[j] += of_reference[t] * alike[j];
            by_output[j] += own[j] * alike[j];
        }
    }
}

/* Precision and recall of one output by one reference. */
static void match(Matching *m, const Vocabulary *v, int32_t output, int32_t reference, int64_t n, double *precision,
                  double *recall) {
    const uint32_t *written = v->words + v->offsets[output], *wanted = v->words + v->offsets[reference];
    int64_t length = length_of(v->offsets, output), others = length_of(v->offsets, reference);
    int64_t size = length < others ? length : others;
    if (n < size) size = n;
    *precision = *recall = 0.0;
    if (size == 0) return;
    int64_t grams = length - size + 1;
    double shared = 0.0, total = 0.0, of_reference[LONGEST];
    for (int64_t j = 0; j < length; j++) m->of_place[j] = v->weights[written[j]];
    for (int64_t j = 0; j < grams; j++) {
        m->best[j] = m->weight[j] = 0.0;
        for (int64_t t = 0; t < size; t++) m->weight[j] += m->of_place[j + t];
    }
    for (int64_t i = 0; i < others; i++) {
        double *row = m->rows + i % size * m->room;
        m->row++;
        for (int64_t j = 0; j < length; j++) row[j] = likeness(m, v, wanted[i], written[j]);
        if (i + 1 < size) continue;
        int64_t first = i + 1 - size;
        double weight = 0.0, best = 0.0;
        for (int64_t t = 0; t < size; t++) weight += of_reference[t] = v->weights[wanted[first + t]];
        share(m, of_reference, first, size, grams);
        for (int64_t j = 0; j < grams; j++) {
            if (m->by_reference[j] > best) best = m->by_reference[j];
            if (m->by_output[j] > m->best[j]) m->best[j] = m->by_output[j];
        }
        shared += best;
        total += weight;
    }
    *recall = shared / total;
    shared = total = 0.0;
    for (int64_t j = 0; j < grams; j++) {
        shared += m->best[j];
        total += m->weight[j];
    }
    *precision = shared / total;
}

/* The length of the longest word, or below 0 where a word has no letter or a weight is not above 0. */
static int64_t checked_words(const int64_t *begins, int64_t begins_length, const double *weights) {
    int64_t longest = 0;
    for (int64_t k = 0; k + 1 < begins_length; k++) {
        int64_t length = begins[k + 1] - begins[k];
        if (length < 1 || !(weights[k] > 0) || isinf(weights[k])) return -1;
        if (length > longest) longest = length;
    }
    return longest;
}

/* `parts`: for each item the highest precision over its references, and the highest recall. */
EXPORT int64_t yisi_parts(const uint32_t *letters, int64_t letters_length, const int64_t *begins, int64_t begins_length,
                          const double *weights, int64_t weights_length, const uint32_t *words, int64_t words_length,
                          const int64_t *offsets, int64_t offsets_length, ITEMS, int64_t n, double *parts,
                          int64_t parts_length) {
    if (!offsets_are_good(begins, begins_length, letters_length) || weights_length != begins_length - 1 ||
        !offsets_are_good(offsets, offsets_length, words_length) || !ITEMS_ARE_GOOD(offsets_length - 1) ||
        parts_length != 2 * outputs_length || n < 1 || n > LONGEST)
        return MALFORMED;
    for (int64_t k = 0; k < words_length; k++)
        if (words[k] >= weights_length) return MALFORMED;
    int64_t longest = checked_words(begins, begins_length, weights);
    if (longest < 0) return MALFORMED;
    Vocabulary vocabulary = {letters, words, begins, offsets, weights};
    Matching matching;
    int64_t problem = matching_make(&matching, weights_length, longest) ? 0 : OUT_OF_MEMORY;
    for (int64_t k = start; k < stop && !problem; k++) {
        double *part = parts + 2 * k, precision, recall;
        part[0] = part[1] = 0.0;
        if (!matching_room(&matching, length_of(offsets, outputs[k]), n)) problem = OUT_OF_MEMORY;
        for (int64_t r = bounds[k]; r < bounds[k + 1] && !problem; r++) {
            match(&matching, &vocabulary, outputs[k], references[r], n, &precision, &recall);
            if (precision > part[0]) part[0] = precision;
            if (recall > part[1]) part[1] = recall;
        }
    }
    matching_free(&matching);
    return problem ? problem : stop - start;
}
