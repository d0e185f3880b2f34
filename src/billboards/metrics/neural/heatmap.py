"""The matching of one output with one reference, as a picture (BERTScore, Figs. 1 and 2).

Rows are the output's tokens, columns the reference's; the darker a cell, the higher the cosine. The best match of each
row is boxed (precision averages those), the best of each column dotted (recall). The picture is plain SVG in the
colours of the page around it: a notebook shows it by itself, a site can put it into its pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from billboards.metrics.base import Floats
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.encoder import Precision, encoder
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.idf import even_weights
from billboards.metrics.neural.models import EMBEDDED, layer_for
from billboards.metrics.neural.readout import TopLayer
from billboards.metrics.neural.weights import locate

CELL, LABEL = 44, 120


@dataclass(frozen=True)
class Matching:
    """The cosines of the tokens of an output (rows) and of a reference (columns)."""

    output: tuple[str, ...]
    reference: tuple[str, ...]
    cosines: Floats

    @property
    def precision_matches(self) -> tuple[int, ...]:
        """For each token of the output, the reference's token it is matched with."""
        return tuple(self.cosines.argmax(1).tolist()) if self.cosines.size else ()

    @property
    def recall_matches(self) -> tuple[int, ...]:
        """For each token of the reference, the output's token it is matched with."""
        return tuple(self.cosines.argmax(0).tolist()) if self.cosines.size else ()

    def svg(self) -> str:
        """The picture."""
        width, height = LABEL + CELL * len(self.reference) + 8, LABEL + CELL * len(self.output) + 8
        title = f"Matching of “{' '.join(self.output)}” with “{' '.join(self.reference)}”"
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                f'height="{height}" role="img" font-family="sans-serif" font-size="12" fill="currentColor">',
                f"<title>{escape(title)}</title>",
                *self._labels(),
                *self._cells(),
                "</svg>",
            )
        )

    _repr_svg_ = svg

    def _labels(self) -> list[str]:
        rows = [
            f'<text x="{LABEL - 8}" y="{LABEL + CELL * (k + 0.5) + 4:g}" text-anchor="end">{escape(word)}</text>'
            for k, word in enumerate(self.output)
        ]
        middles = (LABEL + CELL * (k + 0.5) + 4 for k in range(len(self.reference)))
        columns = [
            f'<text transform="translate({x:g} {LABEL - 8}) rotate(-45)">{escape(word)}</text>'
            for x, word in zip(middles, self.reference, strict=True)
        ]
        return rows + columns

    def _cells(self) -> list[str]:
        best_of_row, best_of_column = self.precision_matches, self.recall_matches
        return [
            _cell(row, column, float(cosine), best_of_row[row] == column, best_of_column[column] == row)
            for (row, column), cosine in np.ndenumerate(self.cosines)
        ]


def _cell(row: int, column: int, cosine: float, boxed: bool, dotted: bool) -> str:
    x, y = LABEL + CELL * column, LABEL + CELL * row
    shade = f'fill="#1f77b4" fill-opacity="{max(cosine, 0.0) * 0.75:.3f}"'
    box = f'<rect x="{x + 2}" y="{y + 2}" width="{CELL - 4}" height="{CELL - 4}" fill="none" stroke="currentColor"'
    return (
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" {shade}/>'
        f'<text x="{x + CELL / 2:g}" y="{y + CELL / 2 + 4:g}" text-anchor="middle">{cosine:.2f}</text>'
        + (f'{box} stroke-width="2"/>' if boxed else "")
        + (f'{box} stroke-dasharray="2 3"/>' if dotted else "")
    )


def match(
    output: str, reference: str, *, model: str = EMBEDDED, layer: int | None = None, precision: Precision = "fp32"
) -> Matching:
    """How an output matches a reference, token by token; tokens that only separate texts are left out."""
    used = layer_for(model) if layer is None else layer
    device = find_devices(Where.from_environment().devices)[0]
    reader = encoder(locate(model), used, precision, device, TopLayer())
    tokens = reader.tokenizer([output, reference])
    embedded = reader.encode(tokens)
    counts = even_weights(reader.tokenizer)[tokens.ids] > 0
    sides = []
    for text in range(2):
        start, length = int(embedded.starts[text]), int(embedded.lengths[text])
        own = counts[tokens.starts[text] : tokens.starts[text + 1]]
        vectors = embedded.values[start : start + length].float().cpu().numpy()[own]
        sides.append((tuple(reader.tokenizer.words(tokens.of(text)[own])), vectors.astype(np.float64)))
    (rows, first), (columns, second) = sides
    return Matching(rows, columns, first @ second.T)
