/* Optimal transport, exactly: the least that moving weights from rows to columns can cost (word mover's distance).

   The network simplex on the complete bipartite graph. Weights are counted in units of 2^-60 of their sum, so flows are
   whole numbers: nothing is lost on the way, and a pivot that moves nothing is exactly that. The tree is kept strongly
   feasible (Cunningham 1976: an arc without flow leads towards the root), so no tree comes twice and the search ends. At
   its end no arc is cheaper than the potentials of its two nodes, which proves that no flow is. */

#include "kernel.h"

#define UNITS 1152921504606846976.0 /* 2^60 */
/* The share of the largest cost by which an arc must be cheaper to count as such: that much is rounding. The result is no
   further than that from the optimum. */
#define ROUNDING 1e-13
#define NOBODY (-1)

/* Row i is node i, column j is node rows + j; node 0 is the root. */
typedef struct {
    int64_t parent, child, next, previous, depth;
    int64_t flow; /* on the arc between this node and its parent, which leads from the row to the column */
} Node;

typedef struct {
    const double *cost;
    int64_t rows, columns;
    Node *nodes;
    double *potential; /* a cost is the sum of the potentials of its two nodes wherever the tree has an arc */
    int64_t *left;     /* what a node still gives or takes while the first tree is built */
} Tree;

static double arc_cost(const Tree *tree, int64_t one, int64_t other) {
    int64_t row = one < other ? one : other, column = (one < other ? other : one) - tree->rows;
    return tree->cost[row * tree->columns + column];
}

static void hang(Tree *tree, int64_t node, int64_t parent, int64_t flow) {
    Node *one = &tree->nodes[node], *above = &tree->nodes[parent];
    one->parent = parent, one->flow = flow, one->previous = NOBODY, one->next = above->child;
    if (above->child != NOBODY) tree->nodes[above->child].previous = node;
    above->child = node;
}

static void cut(Tree *tree, int64_t node) {
    const Node *one = &tree->nodes[node];
    if (one->previous == NOBODY) tree->nodes[one->parent].child = one->next;
    else tree->nodes[one->previous].next = one->next;
    if (one->next != NOBODY) tree->nodes[one->next].previous = one->previous;
}

/* Depths and potentials of a node and of all below it, anew from the costs, so that errors don't add up. */
static void set_potentials(Tree *tree, int64_t top) {
    for (int64_t node = top;;) {
        Node *one = &tree->nodes[node];
        if (one->parent != NOBODY) {
            one->depth = tree->nodes[one->parent].depth + 1;
            tree->potential[node] = arc_cost(tree, node, one->parent) - tree->potential[one->parent];
        }
        if (one->child != NOBODY) {
            node = one->child;
            continue;
        }
        while (node != top && tree->nodes[node].next == NOBODY) node = tree->nodes[node].parent;
        if (node == top) return;
        node = tree->nodes[node].next;
    }
}

/* The nearest node of the other side that still gives or takes something. */
static int64_t nearest(const Tree *tree, int64_t from) {
    int64_t start = from < tree->rows ? tree->rows : 0, found = NOBODY;
    int64_t stop = from < tree->rows ? tree->rows + tree->columns : tree->rows;
    double least = INFINITY;
    for (int64_t node = start; node < stop; node++)
        if (tree->left[node] > 0 && arc_cost(tree, from, node) < least) {
            least = arc_cost(tree, from, node);
            found = node;
        }
    return found;
}

/* The first tree: a row gives to the nearest columns until it has nothing left, then the nearest row goes on with the
   column that took its last. Where both end at once, a row comes next, so that the arc without flow leads upwards. */
static void plant(Tree *tree) {
    for (int64_t k = 0; k < tree->rows + tree->columns; k++)
        tree->nodes[k] = (Node){NOBODY, NOBODY, NOBODY, NOBODY, 0, 0};
    int64_t row = 0, column = nearest(tree, 0), fresh = column;
    while (fresh != NOBODY) {
        int64_t sent = tree->left[row] < tree->left[column] ? tree->left[row] : tree->left[column];
        hang(tree, fresh, fresh == row ? column : row, sent);
        tree->left[row] -= sent, tree->left[column] -= sent;
        if (tree->left[row] == 0) row = fresh = nearest(tree, column);
        else column = fresh = nearest(tree, row);
    }
    tree->potential[0] = 0.0;
    set_potentials(tree, 0);
}

/* In the first row from `start` on that has an arc cheaper than its potentials say: the row, and that arc's column. */
static int64_t cheaper_arc(const Tree *tree, int64_t start, double tolerance, int64_t *column) {
    const double *of_columns = tree->potential + tree->rows;
    for (int64_t step = 0, row = start; step < tree->rows; step++, row = row + 1 < tree->rows ? row + 1 : 0) {
        const double *cost = tree->cost + row * tree->columns;
        double least = tree->potential[row] - tolerance;
        int64_t found = NOBODY;
        for (int64_t j = 0; j < tree->columns; j++)
            if (cost[j] - of_columns[j] < least) {
                least = cost[j] - of_columns[j];
                found = j;
            }
        if (found != NOBODY) {
            *column = found;
            return row;
        }
    }
    return NOBODY;
}

/* Add `sent` to the arcs between a node and `stop` above it that lead the way the flow goes, take it from the others. */
static void send_along(Tree *tree, int64_t node, int64_t stop, int64_t sent, int upwards) {
    for (; node != stop; node = tree->nodes[node].parent)
        tree->nodes[node].flow += (node < tree->rows) == upwards ? sent : -sent;
}

/* Put the arc from `row` to `column` into the tree: flow goes around the cycle that it closes until one of the others
   has none left, and that one is taken out. Of several, it is the last one on the way around from the cycle's top, which
   keeps the tree strongly feasible. */
static void pivot(Tree *tree, int64_t row, int64_t column) {
    int64_t before = row, after = column, out_before = NOBODY, out_after = NOBODY;
    int64_t least_before = INT64_MAX, least_after = INT64_MAX;
    while (before != after) {
        const Node *one = &tree->nodes[before], *other = &tree->nodes[after];
        if (one->depth >= other->depth) {
            if (before < tree->rows && one->flow < least_before) least_before = one->flow, out_before = before;
            before = one->parent;
        } else {
            if (after >= tree->rows && other->flow <= least_after) least_after = other->flow, out_after = after;
            after = other->parent;
        }
    }
    int is_after = least_after <= least_before;
    int64_t sent = is_after ? least_after : least_before, out = is_after ? out_after : out_before;
    send_along(tree, row, before, sent, 0);
    send_along(tree, column, before, sent, 1);
    /* What hung on the arc taken out is turned over and hung on the arc put in. */
    int64_t node = is_after ? column : row, parent = is_after ? row : column, top = node, flow = sent;
    for (int is_last = 0; !is_last;) {
        int64_t above = tree->nodes[node].parent, own = tree->nodes[node].flow;
        is_last = node == out;
        cut(tree, node);
        hang(tree, node, parent, flow);
        parent = node, node = above, flow = own;
    }
    set_potentials(tree, top);
}

/* Weights as whole units, at least one each; 0 where a weight is below 0 or not finite, or all are 0. */
static int64_t count_units(const double *weights, int64_t count, int64_t *units) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++) {
        if (!(weights[k] >= 0)) return 0;
        sum += weights[k];
    }
    if (!(sum > 0) || isinf(sum)) return 0;
    int64_t total = 0;
    for (int64_t k = 0; k < count; k++) {
        units[k] = (int64_t)(weights[k] / sum * UNITS);
        if (units[k] < 1) units[k] = 1;
        total += units[k];
    }
    return total;
}

/* Rounding left the two sides a few units apart: the largest weight of the lighter side gets them. */
static void add_to_largest(int64_t *units, int64_t count, int64_t missing) {
    int64_t largest = 0;
    for (int64_t k = 1; k < count; k++)
        if (units[k] > units[largest]) largest = k;
    units[largest] += missing;
}

/* The largest cost, or below 0 where one is not finite. */
static double largest_cost(const double *costs, int64_t count) {
    double largest = 0;
    for (int64_t k = 0; k < count; k++) {
        if (!isfinite(costs[k])) return -1;
        if (fabs(costs[k]) > largest) largest = fabs(costs[k]);
    }
    return largest;
}

/* The cost of the cheapest flow of so many units; NaN where no end is found, which rounding alone could cause. */
static double least_cost(Tree *tree, double largest, int64_t total) {
    plant(tree);
    int64_t nodes = tree->rows + tree->columns, most = 1000 * nodes + 100 * tree->rows * tree->columns;
    int64_t column, row = 0, pivots = 0;
    while ((row = cheaper_arc(tree, row, ROUNDING * largest, &column)) != NOBODY) {
        if (pivots++ == most) return NAN;
        pivot(tree, row, tree->rows + column);
        row = row + 1 < tree->rows ? row + 1 : 0;
    }
    double cost = 0;
    for (int64_t node = 1; node < nodes; node++)
        cost += (double)tree->nodes[node].flow * arc_cost(tree, node, tree->nodes[node].parent);
    return cost / (double)total;
}

static int64_t solve(const double *costs, const double *supply, int64_t rows, const double *demand, int64_t columns,
                     double *found) {
    int64_t nodes = rows + columns;
    Node *room = malloc((sizeof(Node) + sizeof(double) + sizeof(int64_t)) * (size_t)nodes);
    if (room == NULL) return OUT_OF_MEMORY;
    double *potential = (double *)(room + nodes), largest = largest_cost(costs, rows * columns);
    Tree tree = {costs, rows, columns, room, potential, (int64_t *)(potential + nodes)};
    int64_t given = count_units(supply, rows, tree.left), taken = count_units(demand, columns, tree.left + rows);
    int is_good = given > 0 && taken > 0 && largest >= 0;
    if (is_good) {
        if (given < taken) add_to_largest(tree.left, rows, taken - given);
        else add_to_largest(tree.left + rows, columns, given - taken);
        *found = least_cost(&tree, largest, given < taken ? taken : given);
    }
    free(room);
    return is_good ? 0 : MALFORMED;
}

/* For problems start..stop-1: the least cost of moving the supplies (rows) onto the demands (columns), each scaled to sum
   to 1; a problem's costs lie row by row. */
EXPORT int64_t transport_costs(const double *costs, int64_t costs_length, const int64_t *cost_offsets,
                               int64_t cost_offsets_length, const double *supplies, int64_t supplies_length,
                               const int64_t *supply_offsets, int64_t supply_offsets_length, const double *demands,
                               int64_t demands_length, const int64_t *demand_offsets, int64_t demand_offsets_length,
                               int64_t start, int64_t stop, double *found, int64_t found_length) {
    if (!offsets_are_good(cost_offsets, cost_offsets_length, costs_length) ||
        !offsets_are_good(supply_offsets, supply_offsets_length, supplies_length) ||
        !offsets_are_good(demand_offsets, demand_offsets_length, demands_length) ||
        cost_offsets_length != found_length + 1 || supply_offsets_length != found_length + 1 ||
        demand_offsets_length != found_length + 1 || !range_is_good(start, stop, found_length))
        return MALFORMED;
    for (int64_t k = start; k < stop; k++) {
        int64_t rows = supply_offsets[k + 1] - supply_offsets[k], columns = demand_offsets[k + 1] - demand_offsets[k];
        int64_t numbers = cost_offsets[k + 1] - cost_offsets[k];
        /* By division, because the product of two lengths may be more than fits. */
        if (rows < 1 || columns < 1 || numbers % rows != 0 || numbers / rows != columns) return MALFORMED;
        int64_t problem = solve(costs + cost_offsets[k], supplies + supply_offsets[k], rows,
                                demands + demand_offsets[k], columns, found + k);
        if (problem) return problem;
    }
    return 0;
}
