"""Public sets that come as pickles, made up in the layouts of their repositories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from public_sets import rated_documents


def scored(kind: str, systems: tuple[str, ...], recalls: Mapping[str, float] | None = None) -> dict[int, Any]:
    """REALSumm's score dictionary of two documents; one score is numpy's."""
    return {
        k: {
            "doc_id": k,
            "ref_summ": f"<t> reference {k} . </t>  <t> it ends ü . </t>",
            "system_summaries": {
                system: {
                    "system_summary": f"<t> {system} {k} </t>",
                    "scores": {
                        "rouge_1_f_score": 0.25 * k,
                        "js-2": -0.5 - k / 8,
                        "bert_f_score": np.float32(0.1) if kind == "ext" else 0.5,
                        "litepyramid_recall": (recalls or {}).get(system, 0.5) - k / 4,
                    },
                }
                for system in systems
            },
        }
        for k in (1, 0)
    }


def darr_pairs(*, scores: bool = False) -> dict[int, Any]:
    """BARTScore's pairs of translations."""
    return {
        n: {
            "src": f"ગુજ {n // 2}",
            "ref": f"The reference {n // 2}.",
            "better": {
                "sys_name": "NEU.1",
                "sys": f"NEU says {n // 2}.",
                "scores": {"bleu": f"{n // 2}.5", "prism": "-1e-05"} if scores else {},
            },
            "worse": {
                "sys_name": f"online-{n % 2}.0",
                "sys": f"online-{n % 2} says {n // 2}.",
                "scores": {"bleu": "0.25", "prism": "-2"} if scores else {},
            },
        }
        for n in range(4)
    }


def pickled_sets() -> Iterator[tuple[str, str, Any]]:
    """An importer's name, a file as its repository has it, and what the file holds."""
    yield "realsumm", "REALSumm/scores_dicts/abs.pkl", scored("abs", ("bart_out.txt", "t5_out_base.txt"))
    summeval = rated_documents(("M0", "M17"), dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), 2.0))
    yield "summeval", "BARTScore/SUM/SummEval/data.pkl", summeval
    newsroom = rated_documents(("lede3",), dict.fromkeys(("coherence", "fluency", "informativeness", "relevance"), 2.0))
    yield "newsroom", "BARTScore/SUM/Newsroom/data.pkl", newsroom
    articles = {
        k: {"src": f"é {k}", "ref_summ": f"é {k}", "sys_summs": {0: {"sys_summ": "s", "scores": {"fact": k / 2}}}}
        for k in range(3)
    }
    yield "qags", "BARTScore/SUM/QAGS_XSUM/data.pkl", articles
    yield "rank19", "BARTScore/SUM/Rank19/data.pkl", rated_documents(("correct", "incorrect"), {})
    acts = {
        k: {
            "src": f"inform(near='{k // 2}')",
            "sys_summ": f"X is near {k}.",
            "ref_summs": ["One.", "One.", "Two."],
            "scores": {"informativeness": 5.0, "naturalness": 4.5, "quality": 1.0 + k},
        }
        for k in range(4)
    }
    for name in ("bagel", "sfhot", "sfres"):
        yield name, f"BARTScore/D2T/{name.upper()}/data.pkl", acts
    yield "wmt19-darr", "BARTScore/WMT/gu-en/data.pkl", darr_pairs()


def plain_data() -> dict[Any, Any]:
    """Every kind of value that a pickle of data may hold."""
    return {
        "texts": ["", "é", "x" * 300, b"\xff"],
        "numbers": [0, -1, 2**40, 0.5, True, None, np.float32(0.1), np.int64(-3), np.str_("é")],
        "containers": [(), (1,), (1, 2, 3, 4), {1, "a"}, frozenset({2}), {}, {1: {"2": [3]}}],
        "arrays": [np.arange(6.0).reshape(2, 3), np.array([], "f4"), np.array([True])],
    }
