"""Ratings as tab-separated lines: instance, generator, annotator, dimension and value, below a line of these names."""

from collections.abc import Iterable
from pathlib import Path

import billboards.formats as bf
from billboards.board import Board, Judgment
from billboards.reading import Problems, read_number, refuse_errors

COLUMNS = ("instance", "generator", "annotator", "dimension", "value")


@bf.judgment_format()
def vote_lines(path: Path, board: Board, campaign: str) -> bf.JudgmentSource:
    """Tab-separated lines of instance, generator, annotator, dimension and value."""
    problems, judgments = Problems(), list[bf.SourceJudgment]()
    for line, row in bf.read_delimited(path, "\t", COLUMNS, "file of votes"):
        judgments.append(
            bf.SourceJudgment(
                line=line,
                system=row["generator"],
                segment=row["instance"],
                annotator=row["annotator"] or None,
                values={row["dimension"]: read_number(row["value"], "value", str(path), line, problems)},
                campaign=campaign,
            )
        )
    refuse_errors(problems)
    return bf.JudgmentSource.of_campaign(path, board, campaign, judgments, f"Campaign {campaign}: votes.")


@vote_lines.writer
def _write(_: Board, judgments: Iterable[Judgment]) -> str:
    rows = (
        (judgment.instance, bf.single_generator(judgment, "vote-lines"), judgment.annotator or "", name, value)
        for judgment in judgments
        for name, value in judgment.values.items()
    )
    return bf.write_delimited(COLUMNS, (dict(zip(COLUMNS, row, strict=True)) for row in rows), "\t")
