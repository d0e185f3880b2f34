/* What two texts share: n-grams counted with repetition, the longest common subsequence, and the union of the longest
   common subsequences of sentences (ROUGE-N, -L and -Lsum).

   Words come as numbers below `distinct`. The subsequences are found bit by bit in parallel, 64 words of the reference
   at a time: a text pair of m and n words takes m * n / 64 steps and memory of the order of m + n (for the union
   m * sqrt(n) / 4 bytes beyond 64 kilobytes), never a table of m * n. */

#include "kernel.h"

/* Words of texts laid end to end, as Python's class of that name. */
typedef struct {
    const int32_t *ids;
    const int64_t *offsets;
    int64_t texts;
} Words;

static int words_are_good(const Words *words, int64_t total, int64_t distinct) {
    return distinct >= 0 && offsets_are_good(words->offsets, words->texts + 1, total) &&
           indices_are_good(words->ids, total, distinct);
}

static int64_t words_of(const Words *words, int64_t text, const int32_t **found) {
    *found = words->ids + words->offsets[text];
    return words->offsets[text + 1] - words->offsets[text];
}

/* n-grams of one text by their place, with how often they are still to be found. A slot counts only when its stamp is
   that of the present text, so that the table is never cleared. */
typedef struct {
    uint32_t stamp;
    int32_t left;
    int64_t place;
} Slot;

typedef struct {
    Slot *slots;
    int64_t size;
    uint32_t stamp;
} Grams;

static int grams_begin(Grams *grams, int64_t count) {
    int64_t size = table_size(2 * count);
    if (size > grams->size || grams->stamp == UINT32_MAX) {
        free(grams->slots);
        if (size < grams->size) size = grams->size;
        grams->slots = calloc((size_t)size, sizeof(Slot));
        grams->size = grams->slots == NULL ? 0 : size;
        grams->stamp = 0;
    }
    grams->stamp++;
    return grams->slots != NULL;
}

/* The slot of an n-gram of `words`, or the free one where it belongs; `known` holds the n-grams that slots point to. */
static Slot *gram_slot(const Grams *grams, const int32_t *known, const int32_t *gram, int64_t n) {
    uint64_t hash = (uint64_t)n;
    for (int64_t k = 0; k < n; k++) hash = mixed(hash ^ (uint64_t)(uint32_t)gram[k]);
    int64_t at = (int64_t)(hash & (uint64_t)(grams->size - 1));
    for (;; at = (at + 1) & (grams->size - 1)) {
        Slot *slot = &grams->slots[at];
        if (slot->stamp != grams->stamp) return slot;
        if (memcmp(known + slot->place, gram, sizeof(int32_t) * (size_t)n) == 0) return slot;
    }
}

static int64_t shared_grams(Grams *grams, const int32_t *ref, int64_t m, const int32_t *out, int64_t length, int64_t n) {
    if (m < n || length < n) return 0;
    if (!grams_begin(grams, m - n + 1)) return OUT_OF_MEMORY;
    for (int64_t k = 0; k + n <= m; k++) {
        Slot *slot = gram_slot(grams, ref, ref + k, n);
        if (slot->stamp == grams->stamp) slot->left++;
        else *slot = (Slot){grams->stamp, 1, k};
    }
    int64_t shared = 0;
    for (int64_t k = 0; k + n <= length; k++) {
        Slot *slot = gram_slot(grams, ref, out + k, n);
        if (slot->stamp == grams->stamp && slot->left > 0) {
            slot->left--;
            shared++;
        }
    }
    return shared;
}

/* For pairs start..stop-1 of texts: how many n-grams they share, each as often as both have it. */
EXPORT int64_t count_shared_ngrams(const int32_t *ids, int64_t ids_length, const int64_t *offsets,
                                   int64_t offsets_length, int64_t distinct, const int32_t *outputs,
                                   int64_t outputs_length, const int32_t *references, int64_t references_length,
                                   int64_t *counts, int64_t counts_length, int64_t n, int64_t start, int64_t stop) {
    Words words = {ids, offsets, offsets_length - 1};
    if (!words_are_good(&words, ids_length, distinct) || references_length != outputs_length ||
        counts_length != outputs_length || !range_is_good(start, stop, outputs_length) || n < 1 ||
        !indices_are_good(outputs, outputs_length, words.texts) ||
        !indices_are_good(references, outputs_length, words.texts))
        return MALFORMED;
    Grams grams = {NULL, 0, 0};
    int64_t problem = 0;
    for (int64_t pair = start; pair < stop && !problem; pair++) {
        const int32_t *out, *ref;
        int64_t length = words_of(&words, outputs[pair], &out), m = words_of(&words, references[pair], &ref);
        counts[pair] = shared_grams(&grams, ref, m, out, length, n);
        if (counts[pair] < 0) problem = counts[pair];
    }
    free(grams.slots);
    return problem;
}

/* Where each word stands among 64 words of a reference, one bit per place. */
static void set_places(uint64_t *places, const int32_t *ref, int64_t count) {
    for (int64_t k = 0; k < count; k++) places[ref[k]] |= UINT64_C(1) << k;
}

static void clear_places(uint64_t *places, const int32_t *ref, int64_t count) {
    for (int64_t k = 0; k < count; k++) places[ref[k]] = 0;
}

/* One word of the output against 64 of the reference. A bit of the row is 0 where the common subsequence grows by that
   word of the reference; the carry goes to the next 64 (Hyyro 2004). */
static inline uint64_t next_row(uint64_t row, uint64_t places, uint8_t *carry) {
    uint64_t met = row & places, sum = row + met, whole = sum + *carry;
    *carry = (uint8_t)((sum < row) | (whole < sum));
    return whole | (row & ~places);
}

static inline int64_t at_most_64(int64_t count) { return count < 64 ? count : 64; }

static int64_t bits_set(uint64_t bits) {
    int64_t count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

static int64_t subsequence_length(uint64_t *places, uint8_t *carries, const int32_t *ref, int64_t m, const int32_t *out,
                                  int64_t length) {
    int64_t found = 0;
    memset(carries, 0, (size_t)length);
    for (int64_t first = 0; first < m; first += 64) {
        int64_t count = at_most_64(m - first);
        uint64_t row = ~UINT64_C(0), used = count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0);
        set_places(places, ref + first, count);
        for (int64_t k = 0; k < length; k++) row = next_row(row, places[out[k]], &carries[k]);
        clear_places(places, ref + first, count);
        found += bits_set(~row & used);
    }
    return found;
}

static int64_t longest_text(const Words *words) {
    int64_t longest = 1;
    for (int64_t k = 0; k < words->texts; k++)
        if (words->offsets[k + 1] - words->offsets[k] > longest) longest = words->offsets[k + 1] - words->offsets[k];
    return longest;
}

/* For pairs start..stop-1 of texts: the length of their longest common subsequence of words. */
EXPORT int64_t measure_subsequences(const int32_t *ids, int64_t ids_length, const int64_t *offsets,
                                    int64_t offsets_length, int64_t distinct, const int32_t *outputs,
                                    int64_t outputs_length, const int32_t *references, int64_t references_length,
                                    int64_t *lengths, int64_t lengths_length, int64_t start, int64_t stop) {
    Words words = {ids, offsets, offsets_length - 1};
    if (!words_are_good(&words, ids_length, distinct) || references_length != outputs_length ||
        lengths_length != outputs_length || !range_is_good(start, stop, outputs_length) ||
        !indices_are_good(outputs, outputs_length, words.texts) ||
        !indices_are_good(references, outputs_length, words.texts))
        return MALFORMED;
    uint64_t *places = calloc((size_t)distinct + 1, sizeof(uint64_t));
    uint8_t *carries = malloc((size_t)longest_text(&words));
    int64_t problem = places == NULL || carries == NULL ? OUT_OF_MEMORY : 0;
    for (int64_t pair = start; pair < stop && !problem; pair++) {
        const int32_t *out, *ref;
        int64_t length = words_of(&words, outputs[pair], &out), m = words_of(&words, references[pair], &ref);
        lengths[pair] = subsequence_length(places, carries, ref, m, out, length);
    }
    free(places);
    free(carries);
    return problem;
}

/* Rows kept while a subsequence is read out: all of them up to so many, else every so many-th and those between two. */
#define ROWS_KEPT 8192

typedef struct {
    uint64_t *places, *kept, *rows, *marked;
    uint8_t *carries;
    int32_t *left_output, *left_reference;
    int64_t kept_size, rows_size, marked_size;
} Union;

static int grow(uint64_t **array, int64_t *size, int64_t wanted) {
    if (wanted <= *size) return 1;
    free(*array);
    *array = malloc(sizeof(uint64_t) * (size_t)wanted);
    *size = *array == NULL ? 0 : wanted;
    return *array != NULL;
}

static int64_t square_root(int64_t number) {
    int64_t root = 1;
    while (root * root < number) root++;
    return root;
}

/* The first row of every part of the output. */
static void keep_rows(Union *u, const int32_t *ref, int64_t m, const int32_t *out, int64_t length, int64_t part) {
    int64_t blocks = (m + 63) / 64;
    memset(u->carries, 0, (size_t)length);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t count = at_most_64(m - 64 * b);
        uint64_t row = ~UINT64_C(0);
        set_places(u->places, ref + 64 * b, count);
        for (int64_t k = 0; k < length; k++) {
            if (k % part == 0) u->kept[k / part * blocks + b] = row;
            row = next_row(row, u->places[out[k]], &u->carries[k]);
        }
        clear_places(u->places, ref + 64 * b, count);
    }
}

/* Every row of one part of the output, from the row kept before it, up to reference word m. */
static void fill_rows(Union *u, const int32_t *ref, int64_t m, int64_t blocks, const int32_t *out, int64_t count_out,
                      const uint64_t *before) {
    memset(u->carries, 0, (size_t)count_out);
    for (int64_t b = 0; 64 * b < m; b++) {
        int64_t count = at_most_64(m - 64 * b);
        uint64_t row = before[b];
        set_places(u->places, ref + 64 * b, count);
        for (int64_t k = 0; k < count_out; k++) {
            row = next_row(row, u->places[out[k]], &u->carries[k]);
            u->rows[k * blocks + b] = row;
        }
        clear_places(u->places, ref + 64 * b, count);
    }
}

/* Marks the words of a reference sentence that one longest common subsequence with an output sentence uses: the one
   that is read out from the ends, taking equal words at once and else leaving the reference's word unless the
   subsequence needs it. */
static int mark_subsequence(Union *u, const int32_t *ref, int64_t m, const int32_t *out, int64_t length) {
    if (m == 0 || length == 0) return 1;
    int64_t blocks = (m + 63) / 64;
    int64_t part = length * blocks <= ROWS_KEPT ? length : square_root(length), parts = (length + part - 1) / part;
    if (!grow(&u->kept, &u->kept_size, parts * blocks) || !grow(&u->rows, &u->rows_size, part * blocks)) return 0;
    if (parts == 1) memset(u->kept, 0xff, sizeof(uint64_t) * (size_t)blocks);
    else keep_rows(u, ref, m, out, length, part);
    int64_t i = m, j = length;
    for (int64_t p = parts - 1; p >= 0 && i > 0; p--) {
        int64_t first = p * part;
        fill_rows(u, ref, i, blocks, out + first, j - first, u->kept + p * blocks);
        while (i > 0 && j > first) {
            uint64_t row = u->rows[(j - 1 - first) * blocks + (i - 1) / 64];
            if (ref[i - 1] == out[j - 1]) {
                i--;
                j--;
                u->marked[i / 64] |= UINT64_C(1) << (i % 64);
            } else if ((row >> ((i - 1) % 64) & 1) == 0) j--;
            else i--;
        }
    }
    return 1;
}

static void count_words(int32_t *counts, const int32_t *words, int64_t length, int32_t change) {
    for (int64_t k = 0; k < length; k++) counts[words[k]] += change;
}

/* Words of the marked places, none counted more often than output and reference still have it. */
static int64_t marked_hits(Union *u, const int32_t *ref, int64_t m) {
    int64_t hits = 0;
    for (int64_t k = 0; k < m; k++) {
        if ((u->marked[k / 64] >> (k % 64) & 1) == 0 || u->left_output[ref[k]] < 1 || u->left_reference[ref[k]] < 1)
            continue;
        hits++;
        u->left_output[ref[k]]--;
        u->left_reference[ref[k]]--;
    }
    return hits;
}

/* Sentences first..last-1 of the output against those of the reference. */
static int64_t union_hits(Union *u, const Words *words, int64_t out_first, int64_t out_last, int64_t ref_first,
                          int64_t ref_last) {
    const int64_t *at = words->offsets;
    const int32_t *ids = words->ids;
    int64_t hits = 0;
    count_words(u->left_output, ids + at[out_first], at[out_last] - at[out_first], 1);
    count_words(u->left_reference, ids + at[ref_first], at[ref_last] - at[ref_first], 1);
    for (int64_t r = ref_first; r < ref_last && hits >= 0; r++) {
        const int32_t *ref = ids + at[r], *out;
        int64_t m = at[r + 1] - at[r];
        int good = grow(&u->marked, &u->marked_size, (m + 63) / 64);
        if (good) memset(u->marked, 0, sizeof(uint64_t) * (size_t)((m + 63) / 64));
        for (int64_t o = out_first; o < out_last && good; o++) {
            int64_t length = words_of(words, o, &out);
            good = mark_subsequence(u, ref, m, out, length);
        }
        hits = good ? hits + marked_hits(u, ref, m) : OUT_OF_MEMORY;
    }
    for (int64_t k = at[out_first]; k < at[out_last]; k++) u->left_output[ids[k]] = 0;
    for (int64_t k = at[ref_first]; k < at[ref_last]; k++) u->left_reference[ids[k]] = 0;
    return hits;
}

/* For pairs start..stop-1 of texts, text t being the sentences sentence_offsets[t]..sentence_offsets[t + 1] - 1: the
   hits of the union of longest common subsequences. */
EXPORT int64_t count_union_hits(const int32_t *ids, int64_t ids_length, const int64_t *offsets, int64_t offsets_length,
                                const int64_t *sentence_offsets, int64_t sentence_offsets_length, int64_t distinct,
                                const int32_t *outputs, int64_t outputs_length, const int32_t *references,
                                int64_t references_length, int64_t *hits, int64_t hits_length, int64_t start,
                                int64_t stop) {
    Words words = {ids, offsets, offsets_length - 1};
    if (!words_are_good(&words, ids_length, distinct) || references_length != outputs_length ||
        !offsets_are_good(sentence_offsets, sentence_offsets_length, words.texts) || hits_length != outputs_length ||
        !range_is_good(start, stop, outputs_length) ||
        !indices_are_good(outputs, outputs_length, sentence_offsets_length - 1) ||
        !indices_are_good(references, outputs_length, sentence_offsets_length - 1))
        return MALFORMED;
    Union u = {0};
    u.places = calloc((size_t)distinct + 1, sizeof(uint64_t));
    u.left_output = calloc((size_t)distinct + 1, sizeof(int32_t));
    u.left_reference = calloc((size_t)distinct + 1, sizeof(int32_t));
    u.carries = malloc((size_t)longest_text(&words));
    int64_t problem = !u.places || !u.left_output || !u.left_reference || !u.carries ? OUT_OF_MEMORY : 0;
    for (int64_t pair = start; pair < stop && !problem; pair++) {
        int64_t out = outputs[pair], ref = references[pair];
        hits[pair] = union_hits(&u, &words, sentence_offsets[out], sentence_offsets[out + 1], sentence_offsets[ref],
                                sentence_offsets[ref + 1]);
        if (hits[pair] < 0) problem = hits[pair];
    }
    free(u.places);
    free(u.left_output);
    free(u.left_reference);
    free(u.carries);
    free(u.kept);
    free(u.rows);
    free(u.marked);
    return problem;
}
