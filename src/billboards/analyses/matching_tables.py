"""Greedy matching beside word mover's distance as a table, setting by setting (BERTScore, Table 9)."""

from __future__ import annotations

from itertools import groupby

from billboards.analyses.matchings import MatchingStanding, MatchingStudy
from billboards.show.table import Table, TableColumn


def matchings_table(study: MatchingStudy) -> Table:
    """A row for each setting: the correlation of every matching with people."""
    groups = [(setting, list(some)) for setting, some in groupby(study.variants, key=lambda one: one.setting)]
    matchings = [one.matching for one in groups[0][1]]
    columns = (
        TableColumn("setting", "setting", "left"),
        *(TableColumn(name, name, digits=3) for name in matchings),
        *(
            TableColumn(f"{name} interval", f"95% interval of {name}", digits=3, kind="interval", priority=1)
            for name in matchings
        ),
        TableColumn("unbeaten", "not outperformed", "left"),
    )
    title = f"{study.board}: matching of {study.model}'s embeddings, layer {study.layer} ({study.aggregate})"
    facts = (
        f"Pearson with people over {study.n:,} outputs, references {', '.join(study.references)}; part: {study.part}.",
        "WMD1, WMD2: 1 - word mover's distance of words, of pairs of words; F: greedy matching, BERTScore's F1.",
        "IDF: rare tokens weigh more; SEP: rare among the outputs themselves; PMEANS: power means of the last layers; "
        "RM: without punctuation and pieces of words.",
        "Not outperformed: no other variant correlates better at p < .05 (Williams, one-sided).",
    )
    return Table(title, columns, tuple(_row(setting, some) for setting, some in groups), facts)


def _row(setting: str, variants: list[MatchingStanding]) -> dict[str, object]:
    return {
        "setting": setting,
        **{one.matching: one.correlation for one in variants},
        **{f"{one.matching} interval": one.interval for one in variants},
        "unbeaten": ", ".join(one.matching for one in variants if not one.is_outperformed),
    }
