/* METEOR's greedy alignment of words in three stages: equal words, equal stems, synonyms.

   Each stage goes through the output's free words from the last to the first and gives each the last free word of the
   reference that it accepts. Time grows with the number of words and of their synonyms, memory with the words. */

#include "kernel.h"

/* For each number of a word: the last free place of it in the reference, counted from 1, and 0 for none; `before` leads
   from a place to the one before it. Numbers are those of words in the first stage and of stems in the others. */
typedef struct {
    int32_t *last;
    int32_t *before;
} Free;

typedef struct {
    const int32_t *stems;
    const int64_t *synonym_offsets;
    const int32_t *synonyms;
    int64_t twice;
    Free free;
    /* For each place of the output the place it was matched to, from 1: by word or stem, and by synonym. */
    int32_t *by_form, *by_meaning;
    uint8_t *taken;
} Aligner;

static inline int32_t keyed(const Aligner *a, int32_t word, int by_stem) { return by_stem ? a->stems[word] : word; }

static void fill(const Aligner *a, const int32_t *ref, int64_t m, int by_stem, int skip_taken) {
    for (int64_t j = 0; j < m; j++) {
        if (skip_taken && a->taken[j]) continue;
        int32_t key = keyed(a, ref[j], by_stem);
        a->free.before[j] = a->free.last[key];
        a->free.last[key] = (int32_t)(j + 1);
    }
}

static void empty(const Aligner *a, const int32_t *ref, int64_t m, int by_stem) {
    for (int64_t j = 0; j < m; j++) a->free.last[keyed(a, ref[j], by_stem)] = 0;
}

/* Takes the last free place of a key out of the list; 0 where there is none. */
static int32_t take(const Aligner *a, int32_t key) {
    int32_t place = a->free.last[key];
    if (place > 0) a->free.last[key] = a->free.before[place - 1];
    return place;
}

static void match_forms(Aligner *a, const int32_t *out, int64_t length, const int32_t *ref, int64_t m, int by_stem,
                        uint8_t mark) {
    fill(a, ref, m, by_stem, by_stem);
    for (int64_t i = length - 1; i >= 0; i--) {
        if (a->by_form[i] > 0) continue;
        int32_t place = take(a, keyed(a, out[i], by_stem));
        if (place == 0) continue;
        a->by_form[i] = place;
        a->taken[place - 1] = mark;
    }
    empty(a, ref, m, by_stem);
}

/* The key, the word itself or a synonym, whose last free place comes last. */
static int32_t best_key(const Aligner *a, int32_t key) {
    int32_t best = key;
    for (int64_t k = a->synonym_offsets[key]; k < a->synonym_offsets[key + 1]; k++)
        if (a->free.last[a->synonyms[k]] > a->free.last[best]) best = a->synonyms[k];
    return best;
}

/* Marks of places taken: by a word, or by a stem. */
#define BY_WORD 1
#define BY_STEM 2

static void match_meanings(Aligner *a, const int32_t *out, int64_t length, const int32_t *ref, int64_t m,
                           const uint8_t *by_word) {
    int by_stem = !a->twice;
    if (a->twice)
        for (int64_t j = 0; j < m; j++)
            if (a->taken[j] == BY_STEM) a->taken[j] = 0;
    fill(a, ref, m, by_stem, 1);
    for (int64_t i = length - 1; i >= 0; i--)
        if (a->twice ? !by_word[i] : a->by_form[i] == 0)
            a->by_meaning[i] = take(a, best_key(a, keyed(a, out[i], by_stem)));
    empty(a, ref, m, by_stem);
}

/* Matches and the chunks they lie in, in the order of the output. */
static void count_matches(const Aligner *a, int64_t length, int64_t *matches, int64_t *chunks) {
    int64_t last_i = -2, last_j = -2;
    *matches = *chunks = 0;
    for (int64_t i = 0; i < length; i++) {
        const int32_t places[2] = {a->by_form[i], a->by_meaning[i]};
        for (int k = 0; k < 2; k++) {
            if (places[k] == 0) continue;
            ++*matches;
            if (i != last_i + 1 || places[k] != last_j + 1) ++*chunks;
            last_i = i;
            last_j = places[k];
        }
    }
}

static int synonyms_are_good(const Aligner *a, int64_t offsets_length, int64_t synonyms_length, int64_t distinct) {
    return offsets_length == distinct + 1 && offsets_are_good(a->synonym_offsets, offsets_length, synonyms_length) &&
           indices_are_good(a->synonyms, synonyms_length, distinct);
}

/* For pairs start..stop-1 of texts: how many words are matched, and in how many chunks. Word w has the stem stems[w] and
   key k (a word or stem) the synonyms from synonym_offsets[k]. */
EXPORT int64_t align_words(const int32_t *ids, int64_t ids_length, const int64_t *offsets, int64_t offsets_length,
                           const int32_t *stems, int64_t stems_length, const int64_t *synonym_offsets,
                           int64_t synonym_offsets_length, const int32_t *synonyms, int64_t synonyms_length,
                           const int32_t *outputs, int64_t outputs_length, const int32_t *references,
                           int64_t references_length, int64_t *matches, int64_t matches_length, int64_t *chunks,
                           int64_t chunks_length, int64_t twice, int64_t start, int64_t stop) {
    int64_t texts = offsets_length - 1, distinct = stems_length, longest = 1;
    Aligner a = {.stems = stems, .synonym_offsets = synonym_offsets, .synonyms = synonyms, .twice = twice};
    if (!offsets_are_good(offsets, offsets_length, ids_length) || !indices_are_good(ids, ids_length, distinct) ||
        !indices_are_good(stems, stems_length, distinct) ||
        !synonyms_are_good(&a, synonym_offsets_length, synonyms_length, distinct) ||
        references_length != outputs_length || matches_length != outputs_length || chunks_length != outputs_length ||
        !range_is_good(start, stop, outputs_length) || !indices_are_good(outputs, outputs_length, texts) ||
        !indices_are_good(references, outputs_length, texts))
        return MALFORMED;
    for (int64_t k = 0; k < texts; k++)
        if (offsets[k + 1] - offsets[k] > longest) longest = offsets[k + 1] - offsets[k];
    if (longest > INT32_MAX / 2) return OUT_OF_MEMORY;
    a.free.last = calloc((size_t)distinct + 1, sizeof(int32_t));
    a.free.before = malloc(sizeof(int32_t) * (size_t)longest);
    a.by_form = malloc(sizeof(int32_t) * (size_t)longest);
    a.by_meaning = malloc(sizeof(int32_t) * (size_t)longest);
    a.taken = malloc((size_t)longest);
    uint8_t *by_word = malloc((size_t)longest);
    int64_t problem = !a.free.last || !a.free.before || !a.by_form || !a.by_meaning || !a.taken || !by_word ? OUT_OF_MEMORY : 0;
    for (int64_t pair = start; pair < stop && !problem; pair++) {
        const int32_t *out = ids + offsets[outputs[pair]], *ref = ids + offsets[references[pair]];
        int64_t length = offsets[outputs[pair] + 1] - offsets[outputs[pair]];
        int64_t m = offsets[references[pair] + 1] - offsets[references[pair]];
        memset(a.by_form, 0, sizeof(int32_t) * (size_t)length);
        memset(a.by_meaning, 0, sizeof(int32_t) * (size_t)length);
        memset(a.taken, 0, (size_t)m);
        match_forms(&a, out, length, ref, m, 0, BY_WORD);
        for (int64_t i = 0; i < length; i++) by_word[i] = a.by_form[i] > 0;
        match_forms(&a, out, length, ref, m, 1, BY_STEM);
        match_meanings(&a, out, length, ref, m, by_word);
        count_matches(&a, length, &matches[pair], &chunks[pair]);
    }
    free(a.free.last);
    free(a.free.before);
    free(a.by_form);
    free(a.by_meaning);
    free(a.taken);
    free(by_word);
    return problem;
}
