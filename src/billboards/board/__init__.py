"""What a board is: instances, rows of outputs, judgments, scores; and the folder it lies in."""

from billboards.board.card import Agreement, Copies, DataCard, Lengths, MeasuredCard, ScaleUse, Spread
from billboards.board.judgments import Aggregate, Dimension, Judgment, Judgments, human_scores, judged_values
from billboards.board.model import (
    Board,
    Generator,
    Instance,
    Kind,
    Outputs,
    Reference,
    ReferenceFree,
    ReferenceSet,
    Slice,
    Texts,
    digest,
    generator_lines,
    loose_rows,
    row_of,
)
from billboards.board.preferences import Preferences, is_preference, preferred_pairs
from billboards.board.scores import Column, ImportedColumn, Origin, Scores

__all__ = [
    "Aggregate",
    "Agreement",
    "Board",
    "Column",
    "Copies",
    "DataCard",
    "Dimension",
    "Generator",
    "ImportedColumn",
    "Instance",
    "Judgment",
    "Judgments",
    "Kind",
    "Lengths",
    "MeasuredCard",
    "Origin",
    "Outputs",
    "Preferences",
    "Reference",
    "ReferenceFree",
    "ReferenceSet",
    "ScaleUse",
    "Scores",
    "Slice",
    "Spread",
    "Texts",
    "digest",
    "generator_lines",
    "human_scores",
    "is_preference",
    "judged_values",
    "loose_rows",
    "preferred_pairs",
    "row_of",
]
