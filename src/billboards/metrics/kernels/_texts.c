/* Texts into words, and words into numbers: equal words get equal numbers, found by comparing their letters.

   White space splits, as str.split() does. Before that, a text may be tokenised as mteval-v13a does (in the steps of
   sacreBLEU's `13a`), or its words parted from punctuation as chrF++ does. */

#include "kernel.h"

typedef struct {
    int64_t start, length;
    uint64_t hash;
} Word;

/* Numbers for words seen so far, with a copy of their letters; grows as it fills, never more than half full. */
typedef struct {
    uint32_t *letters;
    Word *words;
    int32_t *slots;
    int64_t letters_used, letters_room, used, room, size;
} Interner;

static int interner_make(Interner *one) {
    *one = (Interner){.letters_room = 4096, .room = 512, .size = 1024};
    one->letters = malloc(sizeof(uint32_t) * one->letters_room);
    one->words = malloc(sizeof(Word) * one->room);
    one->slots = malloc(sizeof(int32_t) * one->size);
    if (one->letters == NULL || one->words == NULL || one->slots == NULL) return 0;
    memset(one->slots, -1, sizeof(int32_t) * one->size);
    return 1;
}

static void interner_free(Interner *one) {
    free(one->letters);
    free(one->words);
    free(one->slots);
}

/* Room for one more word of this length. */
static int interner_grow(Interner *one, int64_t length) {
    while (one->letters_used + length > one->letters_room) {
        uint32_t *letters = realloc(one->letters, sizeof(uint32_t) * one->letters_room * 2);
        if (letters == NULL) return 0;
        one->letters = letters;
        one->letters_room *= 2;
    }
    if (one->used < one->room) return 1;
    if (one->used >= INT32_MAX / 2) return 0;
    Word *words = realloc(one->words, sizeof(Word) * one->room * 2);
    if (words == NULL) return 0;
    one->words = words;
    int32_t *slots = malloc(sizeof(int32_t) * one->size * 2);
    if (slots == NULL) return 0;
    free(one->slots);
    one->slots = slots;
    one->room *= 2;
    one->size *= 2;
    memset(slots, -1, sizeof(int32_t) * one->size);
    for (int64_t id = 0; id < one->used; id++) {
        int64_t at = (int64_t)(words[id].hash & (uint64_t)(one->size - 1));
        while (slots[at] >= 0) at = (at + 1) & (one->size - 1);
        slots[at] = (int32_t)id;
    }
    return 1;
}

/* A word's number, or OUT_OF_MEMORY. */
static int32_t interned(Interner *one, const uint32_t *letters, int64_t length) {
    uint64_t hash = (uint64_t)length;
    for (int64_t k = 0; k < length; k++) hash = mixed(hash ^ letters[k]);
    int64_t at = (int64_t)(hash & (uint64_t)(one->size - 1));
    for (int32_t id; (id = one->slots[at]) >= 0; at = (at + 1) & (one->size - 1)) {
        const Word *word = &one->words[id];
        if (word->hash == hash && word->length == length &&
            memcmp(one->letters + word->start, letters, sizeof(uint32_t) * length) == 0)
            return id;
    }
    if (one->used == one->room || one->letters_used + length > one->letters_room) {
        if (!interner_grow(one, length)) return OUT_OF_MEMORY;
        at = (int64_t)(hash & (uint64_t)(one->size - 1));
        while (one->slots[at] >= 0) at = (at + 1) & (one->size - 1);
    }
    memcpy(one->letters + one->letters_used, letters, sizeof(uint32_t) * length);
    one->words[one->used] = (Word){one->letters_used, length, hash};
    one->letters_used += length;
    one->slots[at] = (int32_t)one->used;
    return (int32_t)one->used++;
}

/* Where the numbers go, and what went wrong if anything did. */
typedef struct {
    Interner interner;
    int32_t *ids;
    int64_t count, room, problem;
} Numbering;

static void number(Numbering *to, const uint32_t *letters, int64_t length) {
    if (to->problem) return;
    int32_t id = interned(&to->interner, letters, length);
    if (id < 0) to->problem = OUT_OF_MEMORY;
    else if (to->count == to->room) to->problem = MALFORMED;
    else to->ids[to->count++] = id;
}

/* A word of chrF++: a mark at its end, or else at its beginning, is a word of its own. */
static void number_parted(Numbering *to, const uint32_t *letters, int64_t length);

static void number_words(Numbering *to, const uint32_t *text, int64_t length, int parted) {
    for (int64_t at = 0; !to->problem;) {
        while (at < length && is_space(text[at])) at++;
        if (at == length) return;
        int64_t start = at;
        while (at < length && !is_space(text[at])) at++;
        if (parted) number_parted(to, text + start, at - start);
        else number(to, text + start, at - start);
    }
}

static int is_ascii_mark(uint32_t c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static void number_parted(Numbering *to, const uint32_t *letters, int64_t length) {
    int64_t cut = length == 1 ? 0 : is_ascii_mark(letters[length - 1]) ? length - 1 : is_ascii_mark(letters[0]) ? 1 : 0;
    if (cut) number(to, letters, cut);
    number(to, letters + cut, length - cut);
}

/* The steps of 13a. Each reads `from` and writes `to`, which has room for what it can grow to; returns the length. */

static int64_t replaced(const uint32_t *from, int64_t length, uint32_t *to, const char *old, uint32_t new) {
    int64_t n = (int64_t)strlen(old), written = 0;
    for (int64_t k = 0; k < length;) {
        int64_t same = 0;
        while (same < n && k + same < length && from[k + same] == (uint32_t)old[same]) same++;
        if (same == n) {
            if (new) to[written++] = new;
            k += n;
        } else {
            to[written++] = from[k++];
        }
    }
    return written;
}

static inline int is_split_off(uint32_t c) {
    return c < 128 && is_ascii_mark(c) && c != '\'' && c != ',' && c != '-' && c != '.';
}
static inline int is_digit(uint32_t c) { return c >= '0' && c <= '9'; }
static inline int is_stop(uint32_t c) { return c == '.' || c == ','; }

/* Marks get spaces around them (up to 3 for 1). */
static int64_t marks_split(const uint32_t *from, int64_t length, uint32_t *to) {
    int64_t written = 0;
    for (int64_t k = 0; k < length; k++) {
        int split = is_split_off(from[k]);
        if (split) to[written++] = ' ';
        to[written++] = from[k];
        if (split) to[written++] = ' ';
    }
    return written;
}

/* A full stop or comma that doesn't follow a digit (up to 4 for 2). */
static int64_t stops_split_after(const uint32_t *from, int64_t length, uint32_t *to) {
    int64_t written = 0;
    for (int64_t k = 0; k < length; k++) {
        to[written++] = from[k];
        if (k + 1 < length && !is_digit(from[k]) && is_stop(from[k + 1])) {
            to[written++] = ' ';
            to[written++] = from[++k];
            to[written++] = ' ';
        }
    }
    return written;
}

/* A full stop or comma that isn't followed by a digit (up to 4 for 2). */
static int64_t stops_split_before(const uint32_t *from, int64_t length, uint32_t *to) {
    int64_t written = 0;
    for (int64_t k = 0; k < length; k++) {
        int split = is_stop(from[k]) && k + 1 < length && !is_digit(from[k + 1]);
        if (split) to[written++] = ' ';
        to[written++] = from[k];
        if (split) {
            to[written++] = ' ';
            to[written++] = from[++k];
        }
    }
    return written;
}

/* A dash that follows a digit (up to 4 for 2). */
static int64_t dashes_split(const uint32_t *from, int64_t length, uint32_t *to) {
    int64_t written = 0;
    for (int64_t k = 0; k < length; k++) {
        to[written++] = from[k];
        if (is_digit(from[k]) && k + 1 < length && from[k + 1] == '-') {
            to[written++] = ' ';
            to[written++] = from[++k];
            to[written++] = ' ';
        }
    }
    return written;
}

/* How far the steps of 13a can stretch a text. */
#define STRETCH 24

static int contains(const uint32_t *text, int64_t length, uint32_t wanted) {
    for (int64_t k = 0; k < length; k++)
        if (text[k] == wanted) return 1;
    return 0;
}

static int64_t language_independent(const uint32_t *text, int64_t length, uint32_t *a, uint32_t *b) {
    length = replaced(text, length, a, "<skipped>", 0);
    length = replaced(a, length, b, "-\n", 0);
    length = replaced(b, length, a, "\n", ' ');
    if (!contains(a, length, '&')) return length;
    length = replaced(a, length, b, "&quot;", '"');
    length = replaced(b, length, a, "&amp;", '&');
    length = replaced(a, length, b, "&lt;", '<');
    return replaced(b, length, a, "&gt;", '>');
}

static void number_13a(Numbering *to, const uint32_t *text, int64_t length, uint32_t *a, uint32_t *b) {
    while (length > 0 && is_space(text[length - 1])) length--;
    /* The text lies between two spaces while marks are split. */
    a[0] = ' ';
    length = language_independent(text, length, a + 1, b);
    a[length + 1] = ' ';
    length = marks_split(a, length + 2, b);
    length = stops_split_after(b, length, a);
    length = stops_split_before(a, length, b);
    length = dashes_split(b, length, a);
    number_words(to, a, length, 0);
}

enum { SPACES, PARTED, MTEVAL_13A };

static int64_t longest(const int64_t *offsets, int64_t offsets_length) {
    int64_t found = 0;
    for (int64_t k = 1; k < offsets_length; k++)
        if (offsets[k] - offsets[k - 1] > found) found = offsets[k] - offsets[k - 1];
    return found;
}

/* Fills `ids` with the numbers of all texts' words and `word_offsets` with where each text's begin; returns how many
   distinct words there are. */
EXPORT int64_t split_words(const uint32_t *codes, int64_t codes_length, const int64_t *offsets, int64_t offsets_length,
                           int64_t how, int32_t *ids, int64_t ids_length, int64_t *word_offsets,
                           int64_t word_offsets_length) {
    if (!offsets_are_good(offsets, offsets_length, codes_length) || word_offsets_length != offsets_length ||
        how < SPACES || how > MTEVAL_13A)
        return MALFORMED;
    Numbering to = {.ids = ids, .room = ids_length};
    int64_t room = how == MTEVAL_13A ? STRETCH * (longest(offsets, offsets_length) + 2) : 1;
    uint32_t *buffers = malloc(2 * sizeof(uint32_t) * room);
    if (!interner_make(&to.interner) || buffers == NULL) to.problem = OUT_OF_MEMORY;
    word_offsets[0] = 0;
    for (int64_t k = 0; k + 1 < offsets_length && !to.problem; k++) {
        const uint32_t *text = codes + offsets[k];
        int64_t length = offsets[k + 1] - offsets[k];
        if (how == MTEVAL_13A) number_13a(&to, text, length, buffers, buffers + room);
        else number_words(&to, text, length, how == PARTED);
        word_offsets[k + 1] = to.count;
    }
    int64_t distinct = to.interner.used;
    interner_free(&to.interner);
    free(buffers);
    return to.problem ? to.problem : distinct;
}

/* Copies texts without their white space; returns how many code points are left. */
EXPORT int64_t remove_spaces(const uint32_t *codes, int64_t codes_length, const int64_t *offsets,
                             int64_t offsets_length, uint32_t *left, int64_t left_length, int64_t *left_offsets,
                             int64_t left_offsets_length) {
    if (!offsets_are_good(offsets, offsets_length, codes_length) || left_length < codes_length ||
        left_offsets_length != offsets_length)
        return MALFORMED;
    int64_t written = 0;
    left_offsets[0] = 0;
    for (int64_t text = 0; text + 1 < offsets_length; text++) {
        for (int64_t k = offsets[text]; k < offsets[text + 1]; k++)
            if (!is_space(codes[k])) left[written++] = codes[k];
        left_offsets[text + 1] = written;
    }
    return written;
}
