"""Data with many fields are made by their names: of seventeen values in a row two can be swapped unseen."""

from __future__ import annotations

import ast
from pathlib import Path

import billboards

HOUSE = Path(billboards.__file__).parent

#: From this many fields on.
MANY = 6
#: What callers, guides and files of extensions begin with a name or an id, or give an option in its usual place.
PUBLIC = {
    "Aggregate", "Dimension", "Generator", "Instance", "Result", "Suite", "SuiteBoard", "Table", "TableColumn",
}  # fmt: skip
#: Metrics are made with their options, most often one.
METRICS = {
    "BERTScore", "BLEU", "ChrF", "EvaluateMetric", "GEval", "MAUVE", "Panel", "ProgramMetric", "QuestEvalFamily",
    "QuestionMetric",
}  # fmt: skip
#: Rows that are unpacked as they come from a query or an array, and processes' own records that begin empty.
RECORDS = {
    "Answer", "Child", "Evidence", "FileStoreWatch", "GivenAnswer", "Line", "Pages", "Residual", "Search",
    "TableColumns", "Urns", "Work", "_Content", "_Fit", "_Reading",
}  # fmt: skip


def positional() -> set[str]:
    """Data classes of many fields whose values may be given by their places."""
    names = set()
    for path in HOUSE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and len(_fields(node)) >= MANY and not _is_by_keyword(node):
                names.add(node.name)
    return names


def _fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    stated = (each for each in node.body if isinstance(each, ast.AnnAssign))
    return [each for each in stated if "ClassVar" not in ast.unparse(each.annotation)]


def _is_by_keyword(node: ast.ClassDef) -> bool:
    made = [ast.unparse(decorator) for decorator in node.decorator_list]
    return not any("dataclass" in text and "kw_only=True" not in text for text in made)


def test_results_are_made_by_keyword() -> None:
    assert positional() == PUBLIC | METRICS | RECORDS
