/* Outputs to be scored and the references each is scored by, as numbers of texts.

   Item k is text outputs[k] against the texts references[bounds[k]] ... references[bounds[k + 1] - 1]. */

#ifndef BILLBOARDS_ITEMS_H
#define BILLBOARDS_ITEMS_H

#include "kernel.h"

#define ITEMS                                                                                                     \
    const int32_t *outputs, int64_t outputs_length, const int32_t *references, int64_t references_length,         \
        const int64_t *bounds, int64_t bounds_length, int64_t start, int64_t stop

#define ITEMS_ARE_GOOD(texts)                                                                                     \
    (bounds_length == outputs_length + 1 && offsets_are_good(bounds, bounds_length, references_length) &&         \
     range_is_good(start, stop, outputs_length) && indices_are_good(outputs, outputs_length, texts) &&            \
     indices_are_good(references, references_length, texts))

static inline int64_t length_of(const int64_t *offsets, int64_t text) { return offsets[text + 1] - offsets[text]; }

#endif
