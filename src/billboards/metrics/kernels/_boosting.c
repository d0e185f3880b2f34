/* Boosted regression trees for squared errors, on inputs that were cut into at most 64 bins.

   Each tree is grown leaf by leaf, the leaf first whose split lowers the error most (as LightGBM and scikit-learn's
   histogram trees do), from a sample of the rows and of the inputs. An input may be bound to help: along it, no tree
   ever falls (or rises). Sums of a split's second part are the whole's less the first's, so that only the smaller part
   is counted anew. Trees are laid out in arrays, `nodes` places each: an inner node names an input, the last bin (or
   the largest value) that goes left and its two children; a leaf names input -1 and its value. */

#include "kernel.h"

#define BINS 64

typedef struct {
    int64_t start, stop;
    double sum, low, high;
    double *sums;
    int32_t *counts;
    int32_t node;
    double gain, left_sum;
    int32_t input, bin;
    int64_t left_count;
} Leaf;

static uint64_t next_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static double bounded(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

/* What a leaf of this value adds to the error, less what is the same for all values. */
static double error_of(double value, double sum, double count, double shrink) {
    return value * (0.5 * (count + shrink) * value - sum);
}

/* Sums and counts stand for the inputs in use only, one after the other. */
static void count_rows(Leaf *leaf, const uint8_t *bins, int64_t inputs, const int32_t *rows, const double *left,
                       const int32_t *used, int64_t uses) {
    memset(leaf->sums, 0, (size_t)uses * BINS * sizeof(double));
    memset(leaf->counts, 0, (size_t)uses * BINS * sizeof(int32_t));
    for (int64_t k = leaf->start; k < leaf->stop; k++) {
        const uint8_t *own = bins + (int64_t)rows[k] * inputs;
        double rest = left[rows[k]];
        for (int64_t use = 0; use < uses; use++) {
            int64_t place = use * BINS + own[used[use]];
            leaf->sums[place] += rest;
            leaf->counts[place]++;
        }
    }
}

/* `inverse` holds 1 / (count + shrink) for every count, since a division costs more than all the rest of a bin. */
static void find_split(Leaf *leaf, const int32_t *directions, const int32_t *used, int64_t uses, int64_t fewest,
                       double shrink, const double *inverse) {
    int64_t count = leaf->stop - leaf->start;
    int is_free = leaf->low == -INFINITY && leaf->high == INFINITY;
    double value = bounded(leaf->sum * inverse[count], leaf->low, leaf->high);
    double whole = error_of(value, leaf->sum, (double)count, shrink);
    leaf->gain = 0.0;
    leaf->input = -1;
    if (count < 2 * fewest) return;
    for (int64_t use = 0; use < uses; use++) {
        int32_t input = used[use];
        const double *sums = leaf->sums + use * BINS;
        const int32_t *counts = leaf->counts + use * BINS;
        double left_sum = 0.0, direction = (double)directions[input];
        int64_t left_count = 0;
        for (int32_t bin = 0; bin < BINS - 1; bin++) {
            if (!counts[bin]) continue;
            left_sum += sums[bin];
            left_count += counts[bin];
            if (left_count < fewest) continue;
            int64_t right_count = count - left_count;
            if (right_count < fewest) break;
            double right_sum = leaf->sum - left_sum;
            double left = left_sum * inverse[left_count], right = right_sum * inverse[right_count], gain;
            if (is_free) {
                gain = whole + 0.5 * (left_sum * left + right_sum * right);
            } else {
                left = bounded(left, leaf->low, leaf->high);
                right = bounded(right, leaf->low, leaf->high);
                gain = whole - error_of(left, left_sum, (double)left_count, shrink) -
                       error_of(right, right_sum, (double)right_count, shrink);
            }
            if (gain > leaf->gain && direction * (right - left) >= 0.0) {
                leaf->gain = gain;
                leaf->input = input;
                leaf->bin = bin;
                leaf->left_sum = left_sum;
                leaf->left_count = left_count;
            }
        }
    }
}

/* Rows of the leaf that go left stand first afterwards, each part in its old order. */
static void part_rows(const Leaf *leaf, const uint8_t *bins, int64_t inputs, int32_t *rows, int32_t *spare) {
    int64_t left = leaf->start, right = 0;
    for (int64_t k = leaf->start; k < leaf->stop; k++) {
        if (bins[(int64_t)rows[k] * inputs + leaf->input] <= leaf->bin) rows[left++] = rows[k];
        else spare[right++] = rows[k];
    }
    memcpy(rows + left, spare, (size_t)right * sizeof(int32_t));
}

typedef struct {
    const uint8_t *bins;
    int64_t rows, inputs, leaves, nodes, fewest;
    const int32_t *directions;
    double shrink;
    int64_t uses;
    int32_t *used, *order, *spare;
    double *inverse;
    Leaf *leaf;
} Work;

static void split_leaf(Work *w, int64_t best, int64_t count, const double *left, int32_t *input, int32_t *bin,
                       int32_t *children, double *value, int32_t *next_node) {
    Leaf *a = &w->leaf[best], *b = &w->leaf[count];
    double *sums = b->sums;
    int32_t *counts = b->counts;
    part_rows(a, w->bins, w->inputs, w->order, w->spare);
    Leaf whole = *a;
    int32_t node = whole.node;
    input[node] = whole.input;
    bin[node] = whole.bin;
    children[2 * node] = (*next_node)++;
    children[2 * node + 1] = (*next_node)++;
    double right_sum = whole.sum - whole.left_sum;
    int64_t right_count = (whole.stop - whole.start) - whole.left_count;
    double lv = bounded(whole.left_sum * w->inverse[whole.left_count], whole.low, whole.high);
    double rv = bounded(right_sum * w->inverse[right_count], whole.low, whole.high);
    double middle = 0.5 * (lv + rv);
    int32_t direction = w->directions[whole.input];
    a->stop = whole.start + whole.left_count;
    a->sum = whole.left_sum;
    a->node = children[2 * node];
    b->start = a->stop;
    b->stop = whole.stop;
    b->sum = right_sum;
    b->low = whole.low;
    b->high = whole.high;
    b->node = children[2 * node + 1];
    if (direction > 0) {
        a->high = middle;
        b->low = middle;
    } else if (direction < 0) {
        a->low = middle;
        b->high = middle;
    }
    value[a->node] = lv;
    value[b->node] = rv;
    /* The larger part keeps the place of the whole, and gives up what the smaller has. */
    Leaf *small = whole.left_count <= right_count ? a : b, *large = small == a ? b : a;
    small->sums = sums;
    small->counts = counts;
    large->sums = whole.sums;
    large->counts = whole.counts;
    count_rows(small, w->bins, w->inputs, w->order, left, w->used, w->uses);
    for (int64_t place = 0; place < w->uses * BINS; place++) {
        large->counts[place] -= small->counts[place];
        large->sums[place] = large->counts[place] ? large->sums[place] - small->sums[place] : 0.0;
    }
    find_split(a, w->directions, w->used, w->uses, w->fewest, w->shrink, w->inverse);
    find_split(b, w->directions, w->used, w->uses, w->fewest, w->shrink, w->inverse);
}

/* Fits trees to `target` (already centred); what each row is predicted stands in `fitted` afterwards. */
EXPORT int64_t boost_fit(const uint8_t *bins, int64_t bins_length, const double *target, int64_t rows,
                         const int32_t *directions, int64_t inputs, int64_t trees, int64_t leaves, int64_t fewest,
                         double rate, double shrink, double row_share, double input_share, int64_t seed,
                         int32_t *input, int64_t input_length, int32_t *bin, int64_t bin_length, int32_t *children,
                         int64_t children_length, double *value, int64_t value_length, double *fitted,
                         int64_t fitted_length) {
    int64_t nodes = 2 * leaves - 1;
    if (rows < 1 || rows > INT32_MAX || inputs < 1 || leaves < 1 || leaves > 4096 || trees < 0 || fewest < 1 ||
        bins_length != rows * inputs || input_length != trees * nodes || bin_length != trees * nodes ||
        children_length != 2 * trees * nodes || value_length != trees * nodes || fitted_length != rows)
        return MALFORMED;
    for (int64_t k = 0; k < bins_length; k++)
        if (bins[k] >= BINS) return MALFORMED;
    Work w = {bins, rows, inputs, leaves, nodes, fewest, directions, shrink, 0, NULL, NULL, NULL, NULL, NULL};
    double *left = malloc((size_t)rows * sizeof(double));
    double *sums = malloc((size_t)(leaves * inputs * BINS) * sizeof(double));
    int32_t *counts = malloc((size_t)(leaves * inputs * BINS) * sizeof(int32_t));
    w.used = malloc((size_t)inputs * sizeof(int32_t));
    w.order = malloc((size_t)rows * sizeof(int32_t));
    w.spare = malloc((size_t)rows * sizeof(int32_t));
    w.leaf = malloc((size_t)leaves * sizeof(Leaf));
    w.inverse = malloc((size_t)(rows + 1) * sizeof(double));
    int64_t result = OUT_OF_MEMORY;
    if (!left || !sums || !counts || !w.used || !w.order || !w.spare || !w.leaf || !w.inverse) goto end;
    for (int64_t k = 0; k <= rows; k++) w.inverse[k] = (double)k + shrink > 0.0 ? 1.0 / ((double)k + shrink) : 0.0;
    uint64_t state = mixed((uint64_t)seed + 1) | 1;
    for (int64_t k = 0; k < rows; k++) fitted[k] = 0.0;
    int64_t wanted_rows = (int64_t)(row_share * (double)rows + 0.5);
    int64_t wanted = (int64_t)(input_share * (double)inputs + 0.5);
    if (wanted_rows < 1) wanted_rows = 1;
    if (wanted < 1) wanted = 1;
    for (int64_t tree = 0; tree < trees; tree++) {
        int32_t *tree_input = input + tree * nodes, *tree_bin = bin + tree * nodes;
        int32_t *tree_children = children + 2 * tree * nodes;
        double *tree_value = value + tree * nodes;
        for (int64_t k = 0; k < nodes; k++) {
            tree_input[k] = -1;
            tree_bin[k] = 0;
            tree_children[2 * k] = tree_children[2 * k + 1] = 0;
            tree_value[k] = 0.0;
        }
        for (int64_t k = 0; k < rows; k++) left[k] = target[k] - fitted[k];
        /* Rows and inputs of this tree: each set of the wanted size with the same chance. */
        int64_t taken = 0;
        double sum = 0.0;
        for (int64_t k = 0; k < rows && taken < wanted_rows; k++) {
            uint64_t draw = next_random(&state) >> 11;
            if (wanted_rows == rows || (double)draw * 0x1p-53 * (double)(rows - k) < (double)(wanted_rows - taken)) {
                w.order[taken++] = (int32_t)k;
                sum += left[k];
            }
        }
        w.uses = 0;
        for (int64_t k = 0; k < inputs; k++) {
            uint64_t draw = next_random(&state) >> 11;
            if (wanted == inputs || (double)draw * 0x1p-53 * (double)(inputs - k) < (double)(wanted - w.uses))
                w.used[w.uses++] = (int32_t)k;
        }
        for (int64_t k = 0; k < leaves; k++) {
            w.leaf[k].sums = sums + k * inputs * BINS;
            w.leaf[k].counts = counts + k * inputs * BINS;
        }
        Leaf *root = &w.leaf[0];
        root->start = 0;
        root->stop = taken;
        root->sum = sum;
        root->low = -INFINITY;
        root->high = INFINITY;
        root->node = 0;
        tree_value[0] = sum * w.inverse[taken];
        count_rows(root, bins, inputs, w.order, left, w.used, w.uses);
        find_split(root, directions, w.used, w.uses, fewest, shrink, w.inverse);
        int32_t next_node = 1;
        int64_t count = 1;
        while (count < leaves) {
            int64_t best = 0;
            for (int64_t k = 1; k < count; k++)
                if (w.leaf[k].gain > w.leaf[best].gain) best = k;
            if (w.leaf[best].input < 0) break;
            split_leaf(&w, best, count, left, tree_input, tree_bin, tree_children, tree_value, &next_node);
            count++;
        }
        for (int64_t k = 0; k < nodes; k++) tree_value[k] *= rate;
        for (int64_t k = 0; k < rows; k++) {
            const uint8_t *own = bins + k * inputs;
            int32_t node = 0;
            while (tree_input[node] >= 0) node = tree_children[2 * node + (own[tree_input[node]] > tree_bin[node])];
            fitted[k] += tree_value[node];
        }
    }
    result = trees;
end:
    free(left);
    free(sums);
    free(counts);
    free(w.used);
    free(w.order);
    free(w.spare);
    free(w.leaf);
    free(w.inverse);
    return result;
}

/* Adds what the trees say of rows of values (rows × inputs) to `predicted`. */
EXPORT int64_t boost_apply(const double *values, int64_t values_length, int64_t inputs, const int32_t *input,
                           int64_t input_length, const double *limit, int64_t limit_length, const int32_t *children,
                           int64_t children_length, const double *value, int64_t value_length, int64_t nodes,
                           double *predicted, int64_t rows) {
    if (inputs < 1 || nodes < 1 || values_length != rows * inputs || input_length % nodes ||
        limit_length != input_length || children_length != 2 * input_length || value_length != input_length)
        return MALFORMED;
    /* Children stand behind their node and in its tree, so that every way down ends. */
    for (int64_t k = 0; k < input_length; k++) {
        if (input[k] >= inputs) return MALFORMED;
        int64_t place = k % nodes;
        for (int side = 0; side < 2 && input[k] >= 0; side++)
            if (children[2 * k + side] <= place || children[2 * k + side] >= nodes) return MALFORMED;
    }
    int64_t trees = input_length / nodes;
    for (int64_t tree = 0; tree < trees; tree++) {
        int64_t base = tree * nodes;
        for (int64_t k = 0; k < rows; k++) {
            const double *own = values + k * inputs;
            int64_t node = base;
            while (input[node] >= 0) node = base + children[2 * node + !(own[input[node]] <= limit[node])];
            predicted[k] += value[node];
        }
    }
    return trees;
}
