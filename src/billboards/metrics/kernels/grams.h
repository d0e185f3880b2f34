/* N-grams of one text, counted by exact comparison, and met again in other texts.

   An n-gram is a pair: the slot of its first n-1 symbols, and its last symbol. So every order costs one look-up of a
   64-bit key, keys are compared in full, and the walk along another text ends at the first order that isn't there: no
   longer one can be. */

#ifndef BILLBOARDS_GRAMS_H
#define BILLBOARDS_GRAMS_H

#include "kernel.h"

/* How often the text has an n-gram, how often the reference met now has it, and the most any reference had. */
typedef struct {
    int32_t count, met, most, reference;
} Counts;

typedef struct {
    uint64_t *keys;
    Counts *counts;
    int32_t *slots; /* of the n-grams that begin at each position, for the order in hand */
    int64_t size, room, positions;
} Grams;

static void grams_free(Grams *one) {
    free(one->keys);
    free(one->counts);
    free(one->slots);
    *one = (Grams){0};
}

/* Room for the n-grams of a text of `length` symbols, and an empty table. */
static int grams_reset(Grams *one, int64_t length, int64_t orders) {
    int64_t wanted = length * (orders < length ? orders : length) * 3 / 2;
    int64_t size = table_size(wanted);
    if (size > INT32_MAX / 2) return 0;
    if (size > one->room || length > one->positions) {
        grams_free(one);
        one->keys = malloc(sizeof(uint64_t) * size);
        one->counts = malloc(sizeof(Counts) * size);
        one->slots = malloc(sizeof(int32_t) * (length + 1));
        if (one->keys == NULL || one->counts == NULL || one->slots == NULL) return 0;
        one->room = size;
        one->positions = length;
    }
    one->size = size;
    memset(one->keys, 0, sizeof(uint64_t) * size);
    return 1;
}

/* The slot of the n-gram that continues `prefix` (-1: nothing) with `symbol`, or where it would be. */
static inline int64_t gram_slot(const Grams *one, int64_t prefix, uint32_t symbol, uint64_t *key) {
    *key = ((uint64_t)(prefix + 1) << 32) + symbol + 1;
    int64_t mask = one->size - 1, at = (int64_t)(mixed(*key) >> 20) & mask;
    while (one->keys[at] != 0 && one->keys[at] != *key) at = (at + 1) & mask;
    return at;
}

/* Count all n-grams of a text, of orders 1 to `orders`. */
static void grams_count(Grams *one, const uint32_t *symbols, int64_t length, int64_t orders) {
    for (int64_t k = 0; k < length; k++) one->slots[k] = -1;
    for (int64_t n = 1; n <= orders && n <= length; n++)
        for (int64_t k = 0; k + n <= length; k++) {
            uint64_t key;
            int64_t at = gram_slot(one, one->slots[k], symbols[k + n - 1], &key);
            if (one->keys[at] == 0) {
                one->keys[at] = key;
                one->counts[at] = (Counts){0, 0, 0, -1};
            }
            one->counts[at].count++;
            one->slots[k] = (int32_t)at;
        }
}

/* Walk along reference number `reference`. `matched[n-1]` grows by the n-grams the text and this reference share, each
   as often as both have it; `clipped[n-1]` by what this reference adds to the most that any one so far had. */
static void grams_meet(Grams *one, const uint32_t *symbols, int64_t length, int64_t orders, int32_t reference,
                       int64_t *matched, int64_t *clipped) {
    for (int64_t k = 0; k < length; k++) {
        int64_t prefix = -1;
        for (int64_t n = 0; n < orders && k + n < length; n++) {
            uint64_t key;
            prefix = gram_slot(one, prefix, symbols[k + n], &key);
            if (one->keys[prefix] == 0) break;
            Counts *counts = &one->counts[prefix];
            if (counts->reference != reference) {
                counts->reference = reference;
                counts->met = 0;
            }
            counts->met++;
            if (counts->met <= counts->count) {
                matched[n]++;
                if (counts->met > counts->most) {
                    counts->most = counts->met;
                    clipped[n]++;
                }
            }
        }
    }
}

static inline int64_t grams_of(int64_t length, int64_t order) { return length >= order ? length - order + 1 : 0; }

#endif
