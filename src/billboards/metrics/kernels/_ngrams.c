/* BLEU and chrF: statistics of outputs against their references, and scores from statistics.

   Statistics are those of sacreBLEU, number by number, so that a corpus score is the score of their sums. */

#include "grams.h"
#include "items.h"

#define MOST_ORDERS 1024

/* The reference length nearest to the output's, the shorter one of two that are equally near. */
static int64_t nearest_length(int64_t length, const int64_t *offsets, const int32_t *references, int64_t count) {
    int64_t nearest = -1, difference = -1;
    for (int64_t r = 0; r < count; r++) {
        int64_t its = length_of(offsets, references[r]), away = its > length ? its - length : length - its;
        if (difference < 0 || away < difference || (away == difference && its < nearest)) {
            difference = away;
            nearest = its;
        }
    }
    return nearest;
}

/* Rows of `statistics`: output length, reference length, matches of each order, n-grams of each order. */
EXPORT int64_t bleu_statistics(const uint32_t *words, int64_t words_length, const int64_t *offsets,
                               int64_t offsets_length, ITEMS, int64_t orders, int64_t *statistics,
                               int64_t statistics_length) {
    int64_t width = 2 + 2 * orders;
    if (!offsets_are_good(offsets, offsets_length, words_length) || !ITEMS_ARE_GOOD(offsets_length - 1) || orders < 1 ||
        orders > MOST_ORDERS || statistics_length != width * outputs_length)
        return MALFORMED;
    Grams grams = {0};
    int64_t matched[MOST_ORDERS];
    for (int64_t k = start; k < stop; k++) {
        const uint32_t *output = words + offsets[outputs[k]];
        int64_t length = length_of(offsets, outputs[k]), *row = statistics + k * width, *correct = row + 2;
        memset(row, 0, sizeof(int64_t) * width);
        memset(matched, 0, sizeof(int64_t) * orders);
        row[0] = length;
        row[1] = nearest_length(length, offsets, references + bounds[k], bounds[k + 1] - bounds[k]);
        for (int64_t n = 1; n <= orders; n++) row[1 + orders + n] = grams_of(length, n);
        if (!grams_reset(&grams, length, orders)) {
            grams_free(&grams);
            return OUT_OF_MEMORY;
        }
        grams_count(&grams, output, length, orders);
        for (int64_t r = bounds[k]; r < bounds[k + 1]; r++)
            grams_meet(&grams, words + offsets[references[r]], length_of(offsets, references[r]), orders,
                       (int32_t)(r - bounds[k]), matched, correct);
    }
    grams_free(&grams);
    return stop - start;
}

enum { SMOOTH_NONE, SMOOTH_FLOOR, SMOOTH_ADD_K, SMOOTH_EXP };

static double brevity_penalty(double length, double reference_length) {
    if (length >= reference_length) return 1.0;
    return length > 0 ? exp(1 - reference_length / length) : 0.0;
}

/* sacreBLEU's log of 0: far below that of any precision, yet finite. */
static double log_or_least(double precision) { return precision == 0.0 ? -9999999999.0 : log(precision); }

static double bleu(const int64_t *row, int64_t orders, int64_t smoothing, double value, int64_t effective) {
    const int64_t *correct = row + 2, *total = row + 2 + orders;
    int64_t any = 0;
    for (int64_t n = 0; n < orders; n++) any |= correct[n];
    if (!any) return 0.0;
    double halving = 1.0, logs = 0.0;
    int64_t used = orders, n = 0;
    for (; n < orders; n++) {
        double added = smoothing == SMOOTH_ADD_K && n > 0 ? value : 0.0;
        double here = (double)correct[n] + added, all = (double)total[n] + added, precision = 0.0;
        if (all == 0.0) break;
        if (effective) used = n + 1;
        if (here == 0.0) {
            if (smoothing == SMOOTH_EXP) precision = 100.0 / ((halving *= 2) * all);
            if (smoothing == SMOOTH_FLOOR) precision = 100.0 * value / all;
        } else {
            precision = 100.0 * here / all;
        }
        logs += log_or_least(precision);
    }
    for (; n < used; n++) logs += log_or_least(0.0);
    return brevity_penalty((double)row[0], (double)row[1]) * exp(logs / (double)used);
}

EXPORT int64_t bleu_scores(const int64_t *statistics, int64_t statistics_length, int64_t orders, int64_t smoothing,
                           double value, int64_t effective, double *scores, int64_t scores_length) {
    if (orders < 1 || orders > MOST_ORDERS || statistics_length != scores_length * (2 + 2 * orders)) return MALFORMED;
    for (int64_t k = 0; k < scores_length; k++)
        scores[k] = bleu(statistics + k * (2 + 2 * orders), orders, smoothing, value, effective);
    return scores_length;
}

/* chrF of one row of statistics: n-grams of the output, of the reference, and of both, for each order. */
static double chrf(const int64_t *row, int64_t orders, double beta, int64_t smoothed) {
    const double least = 1e-16;
    double factor = beta * beta, sum = 0.0, precisions = 0.0, recalls = 0.0;
    int64_t used = 0;
    for (int64_t n = 0; n < orders; n++) {
        double ours = (double)row[3 * n], theirs = (double)row[3 * n + 1], both = (double)row[3 * n + 2];
        double precision = ours > 0 ? both / ours : least, recall = theirs > 0 ? both / theirs : least;
        double denominator = factor * precision + recall;
        sum += denominator > 0 ? (1 + factor) * precision * recall / denominator : least;
        if (ours > 0 && theirs > 0) {
            precisions += precision;
            recalls += recall;
            used++;
        }
    }
    if (smoothed) return 100 * sum / (double)orders;
    if (used == 0) return 0.0;
    precisions /= (double)used;
    recalls /= (double)used;
    if (precisions + recalls == 0) return 0.0;
    return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls));
}

EXPORT int64_t chrf_scores(const int64_t *statistics, int64_t statistics_length, int64_t orders, double beta,
                           int64_t smoothed, double *scores, int64_t scores_length) {
    if (orders < 1 || orders > 2 * MOST_ORDERS || statistics_length != scores_length * 3 * orders) return MALFORMED;
    for (int64_t k = 0; k < scores_length; k++)
        scores[k] = chrf(statistics + k * 3 * orders, orders, beta, smoothed);
    return scores_length;
}

typedef struct {
    const uint32_t *symbols;
    const int64_t *offsets;
    int64_t orders;
    Grams grams;
} Side;

/* Triples of one kind of symbol, for one output and reference. */
static void meet_side(Side *side, int32_t output, int32_t reference, int32_t number, int64_t *row) {
    int64_t matched[MOST_ORDERS], clipped[MOST_ORDERS];
    memset(matched, 0, sizeof(int64_t) * side->orders);
    memset(clipped, 0, sizeof(int64_t) * side->orders);
    int64_t length = length_of(side->offsets, output), its = length_of(side->offsets, reference);
    grams_meet(&side->grams, side->symbols + side->offsets[reference], its, side->orders, number, matched, clipped);
    for (int64_t n = 0; n < side->orders; n++) {
        row[3 * n] = its > n ? grams_of(length, n + 1) : 0;
        row[3 * n + 1] = grams_of(its, n + 1);
        row[3 * n + 2] = matched[n];
    }
}

static int count_side(Side *side, int32_t output) {
    int64_t length = length_of(side->offsets, output);
    if (!grams_reset(&side->grams, length, side->orders)) return 0;
    grams_count(&side->grams, side->symbols + side->offsets[output], length, side->orders);
    return 1;
}

/* Rows of `statistics`: those of the reference with the best score; three for each order of letters, then of words. */
EXPORT int64_t chrf_statistics(const uint32_t *letters, int64_t letters_length, const int64_t *letter_offsets,
                               int64_t letter_offsets_length, const uint32_t *words, int64_t words_length,
                               const int64_t *word_offsets, int64_t word_offsets_length, ITEMS, int64_t letter_orders,
                               int64_t word_orders, double beta, int64_t smoothed, int64_t *statistics,
                               int64_t statistics_length) {
    int64_t orders = letter_orders + word_orders;
    if (!offsets_are_good(letter_offsets, letter_offsets_length, letters_length) ||
        !offsets_are_good(word_offsets, word_offsets_length, words_length) ||
        word_offsets_length != letter_offsets_length || !ITEMS_ARE_GOOD(letter_offsets_length - 1) ||
        letter_orders < 0 || word_orders < 0 || orders < 1 || letter_orders > MOST_ORDERS ||
        word_orders > MOST_ORDERS || statistics_length != 3 * orders * outputs_length)
        return MALFORMED;
    Side sides[2] = {{letters, letter_offsets, letter_orders, {0}}, {words, word_offsets, word_orders, {0}}};
    int64_t row[6 * MOST_ORDERS], problem = 0;
    for (int64_t k = start; k < stop && !problem; k++) {
        double best = -1.0;
        if (!count_side(&sides[0], outputs[k]) || !count_side(&sides[1], outputs[k])) problem = OUT_OF_MEMORY;
        memset(statistics + k * 3 * orders, 0, sizeof(int64_t) * 3 * orders);
        for (int64_t r = bounds[k]; r < bounds[k + 1] && !problem; r++) {
            int32_t number = (int32_t)(r - bounds[k]);
            meet_side(&sides[0], outputs[k], references[r], number, row);
            meet_side(&sides[1], outputs[k], references[r], number, row + 3 * letter_orders);
            double score = chrf(row, orders, beta, smoothed);
            if (score > best) {
                best = score;
                memcpy(statistics + k * 3 * orders, row, sizeof(int64_t) * 3 * orders);
            }
        }
    }
    grams_free(&sides[0].grams);
    grams_free(&sides[1].grams);
    return problem ? problem : stop - start;
}
