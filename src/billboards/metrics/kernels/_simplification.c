/* SARI's three operations: what an output keeps, deletes and adds of n-grams of 1 to 4 words.

   The first reference of an item is the input that is simplified, the others are the references. All n-grams of an
   item are counted in one table, so time and memory grow with the number of words. */

#include "items.h"

#define ORDERS 4

/* An n-gram of an item: where it stands, and how often input, output and references have it. A slot counts only when
   its stamp is the present one, so that the table is never cleared. */
typedef struct {
    uint64_t stamp;
    const int32_t *words;
    int64_t source, output, references;
} Gram;

typedef struct {
    Gram *grams;
    int64_t *used;
    int64_t size, count;
    uint64_t stamp;
} Table;

static int table_begin(Table *table, int64_t most) {
    int64_t size = table_size(2 * most);
    if (size > table->size) {
        free(table->grams);
        free(table->used);
        table->grams = calloc((size_t)size, sizeof(Gram));
        table->used = malloc(sizeof(int64_t) * (size_t)size);
        table->size = size;
        table->stamp = 0;
    }
    table->count = 0;
    table->stamp++;
    return table->grams != NULL && table->used != NULL;
}

static Gram *table_gram(Table *table, const int32_t *words, int64_t n) {
    uint64_t hash = (uint64_t)n;
    for (int64_t k = 0; k < n; k++) hash = mixed(hash ^ (uint64_t)(uint32_t)words[k]);
    int64_t at = (int64_t)(hash & (uint64_t)(table->size - 1));
    for (;; at = (at + 1) & (table->size - 1)) {
        Gram *gram = &table->grams[at];
        if (gram->stamp != table->stamp) {
            *gram = (Gram){table->stamp, words, 0, 0, 0};
            table->used[table->count++] = at;
            return gram;
        }
        if (memcmp(gram->words, words, sizeof(int32_t) * (size_t)n) == 0) return gram;
    }
}

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* A share; of nothing, it is what the definition makes of nothing. */
static double ratio(double part, int64_t whole, double of_nothing) { return whole > 0 ? part / (double)whole : of_nothing; }

static double f_measure(double precision, double recall) {
    return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

/* Adds the scores of one order to those of keeping, deleting and adding. */
static void add_order(const Table *table, int64_t references, int corrected, double *scores) {
    int64_t kept = 0, to_keep = 0, to_keep_total = 0, right_total = 0, deleted = 0, added = 0, to_add = 0, right_added = 0;
    double keep_precision = 0, keep_recall = 0, delete_precision = 0, of_nothing = corrected ? 1 : 0;
    for (int64_t k = 0; k < table->count; k++) {
        const Gram *gram = &table->grams[table->used[k]];
        /* Input and output count once for each reference, so that each reference has an equal say. */
        int64_t given = gram->source * references, made = gram->output * references, wanted = gram->references;
        int64_t keep = smaller(given, made), should = smaller(given, wanted), right = smaller(keep, wanted);
        kept += keep > 0;
        to_keep += should > 0;
        to_keep_total += should;
        right_total += right;
        if (right > 0) {
            keep_precision += (double)right / (double)keep;
            keep_recall += (double)right / (double)should;
        }
        if (given > made) {
            deleted++;
            if (given - made > wanted) delete_precision += (double)(given - made - wanted) / (double)(given - made);
        }
        added += given == 0 && made > 0;
        to_add += given == 0 && wanted > 0;
        right_added += given == 0 && made > 0 && wanted > 0;
    }
    double recall = corrected ? ratio((double)right_total, to_keep_total, of_nothing)
                              : ratio(keep_recall, to_keep, of_nothing);
    scores[0] += f_measure(ratio(keep_precision, kept, of_nothing), recall) / ORDERS;
    scores[1] += ratio(delete_precision, deleted, of_nothing) / ORDERS;
    scores[2] += f_measure(ratio((double)right_added, added, of_nothing), ratio((double)right_added, to_add, of_nothing)) /
                 ORDERS;
}

static int64_t most_grams(const int64_t *offsets, int32_t output, const int32_t *references, int64_t count) {
    int64_t most = length_of(offsets, output);
    for (int64_t k = 0; k < count; k++) most += length_of(offsets, references[k]);
    return most;
}

/* For items start..stop-1: keeping, deleting and adding, each from 0 to 1, three numbers an item. */
EXPORT int64_t score_simplifications(const int32_t *ids, int64_t ids_length, const int64_t *offsets,
                                     int64_t offsets_length, ITEMS, int64_t corrected, double *scores,
                                     int64_t scores_length) {
    if (!offsets_are_good(offsets, offsets_length, ids_length) || !ITEMS_ARE_GOOD(offsets_length - 1) ||
        scores_length != 3 * outputs_length)
        return MALFORMED;
    Table table = {0};
    int64_t problem = 0;
    for (int64_t item = start; item < stop && !problem; item++) {
        const int32_t *all = references + bounds[item];
        int64_t count = bounds[item + 1] - bounds[item];
        double *own = scores + 3 * item;
        own[0] = own[1] = own[2] = 0;
        for (int64_t n = 1; n <= ORDERS && !problem; n++) {
            if (!table_begin(&table, most_grams(offsets, outputs[item], all, count))) problem = OUT_OF_MEMORY;
            for (int64_t text = -1; text < count && !problem; text++) {
                int32_t number = text < 0 ? outputs[item] : all[text];
                const int32_t *words = ids + offsets[number];
                for (int64_t k = 0; k + n <= length_of(offsets, number); k++) {
                    Gram *gram = table_gram(&table, words + k, n);
                    if (text < 0) gram->output++;
                    else if (text == 0) gram->source++;
                    else gram->references++;
                }
            }
            if (!problem) add_order(&table, count - 1, (int)corrected, own);
        }
    }
    free(table.grams);
    free(table.used);
    return problem ? problem : stop - start;
}
