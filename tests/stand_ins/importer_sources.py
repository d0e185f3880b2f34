"""A small sound source on disk for every importer, which tests may import, damage, or shuffle."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from public_sets import MAKERS as PUBLIC
from public_sets import Made, write_json, write_json_lines, write_lines

from billboards.board.writing import write_board
from billboards.importers import IMPORTERS

SEGMENTS = ("d1::1", "d1::2", "d2::1")

_lines, _jsonl = write_lines, write_json_lines


def _segment_lines(path: Path, key: str, values: list[Any]) -> Path:
    items = [{"seg_id": s, "set_id": k, key: v} for k, (s, v) in enumerate(zip(SEGMENTS, values, strict=True))]
    return _jsonl(path, items)


def make_billboard(root: Path) -> Made:
    """Two machines and two references on a board of three segments, with MQM and two released metrics."""
    clone, board = root / "billboard", "wmt20-zh-en"
    submissions = clone / "submissions" / board
    files = [_segment_lines(submissions / "source" / f"{board}_src.jsonl", "src", ["一", "二", "三"])]
    for name in ("X.1", "Y.22"):
        outputs = [f"{name} says one", f"{name} says two", f"{name} says trois à la fois"]
        files.append(_segment_lines(submissions / "generators" / f"{board}_{name}.jsonl", "hyp", outputs))
        for metric in ("wmt20-comet-da", "chrFpp"):
            scores = [f"{name},{s},{k},{metric},{k / 4 + len(name)}" for k, s in enumerate(SEGMENTS)]
            path = clone / "results" / board / f"{name}||{metric}.csv"
            files.append(_lines(path, ["SYS,seg_id,set_id,metric,score", *scores]))
    references = root / "refs" / f"{board}_refs.jsonl"
    items = [
        {"seg_id": s, "set_id": k, "refs": [f"A {k}", f"B {k}"], "ref_names": ["Human-A", "Human-B"]}
        for k, s in enumerate(SEGMENTS)
    ]
    mqm = [f"{system} -{k}.5 {k}" for system in ("X.1", "Y.22", "Human-A.0") for k in (1, 2, 3)]
    judgments = root / "mqm" / "newstest2020" / "zhen" / "mqm_newstest2020_zhen.avg_seg_scores.tsv"
    files += [_jsonl(references, items), _lines(judgments, ["system mqm_avg_score seg_id", *mqm])]
    options = {"board": board, "judgments": root / "mqm", "references": root / "refs"}
    return Made(clone, tuple(files), options)


def _board_folder(root: Path) -> Path:
    made = make_billboard(root / "texts")
    board = IMPORTERS.load("billboard")(made.source, board="wmt20-zh-en", references=made.options["references"]).board
    return write_board(board, root / "board")


def make_arena(root: Path) -> Made:
    """Three models on two questions, judged by two people, with a tie."""
    battles = [
        ("q1", "alpha", "beta", "model_a", "ann"),
        ("q1", "beta", "gamma", "tie", "ann"),
        ("q1", "alpha", "beta", "model_b", "bob"),
        ("q2", "gamma", "alpha", "model_a", "bob"),
        ("q2", "beta", "gamma", "tie (bothbad)", "ann"),
    ]
    items = [
        {
            "question_id": question,
            "model_a": first,
            "model_b": second,
            "winner": winner,
            "judge": judge,
            "prompt": f"What is é in {question}?",
            "response_a": f"{first} on {question}.",
            "response_b": f"{second} on {question}.",
        }
        for question, first, second, winner, judge in battles
    ]
    path = _jsonl(root / "battles.jsonl", items)
    return Made(path, (path,))


def make_mqm(root: Path) -> Made:
    lines = [f"{system} -{k}.25 {k}" for system in ("Human-B.0", "X.1") for k in (1, 2, 3)]
    path = _lines(root / "zhen.avg_seg_scores.tsv", ["system mqm_avg_score seg_id", *lines])
    return Made(path, (path,), {"into": _board_folder(root)})


def make_wmt_da(root: Path) -> Made:
    systems = ("X.1", "Human-B.0", "Absent.9")
    lines = [f"{system} {s} {50 + k}.5 0.{k}25 1 {k + 1}" for system in systems for k, s in enumerate(SEGMENTS)]
    path = _lines(root / "metrics-ad-seg-scores-zh-en.csv", ["SYS SEGID RAW.SCR Z.SCR N SID", *lines])
    return Made(path, (path,), {"into": _board_folder(root)})


def make_thumb(root: Path) -> Made:
    rating = {"coherence": 5, "consistency": 4, "fluency": 3, "relevance": 2}
    items = [
        {
            "SYS": system,
            "seg_id": s,
            "set_id": k,
            "hyp": f"{system} says {('one', 'two', 'trois à la fois')[k]}",
            "expert_annotations": [rating, {**rating, "coherence": k + 1}],
            "turker_annotations": [rating] if k else float("nan"),
        }
        for system in ("X.1", "Y.22")
        for k, s in enumerate(SEGMENTS)
    ]
    path = _jsonl(root / "wmt20-zh-en_THumB-1.0.jsonl", items)
    return Made(path, (path,), {"into": _board_folder(root)})


def make_mtme(root: Path) -> Made:
    folder = root / "wmt99"
    texts = {name: [f"{name} {k} ä" for k in (1, 2, 3)] for name in ("refA", "S1", "S2")}
    files = [
        _lines(folder / "sources" / "en-de.txt", ["one", "two", "three"]),
        _lines(folder / "documents" / "en-de.docs", ["news\td1", "news\td1", "social\td2"]),
        _lines(folder / "references" / "en-de.refA.txt", texts["refA"]),
        *(_lines(folder / "system-outputs" / "en-de" / f"{name}.txt", lines) for name, lines in texts.items()),
        _lines(folder / "human-scores" / "en-de.mqm.seg.score", _blocks({"S1": "-1.5 None -2", "S2": "-3 -4 -5"})),
        _lines(folder / "human-scores" / "en-de.da-sqm.seg.score", _blocks({"S1": "60 70 80"})),
        _lines(folder / "metric-scores" / "en-de" / "M-refA.seg.score", _blocks({"S1": "1 2 3", "S2": "2 None 2"})),
        _lines(folder / "metric-scores" / "en-de" / "QE-x-src.seg.score", _blocks({"refA": ".1 .2 .3", "S2": "2 2 2"})),
    ]
    return Made(folder, tuple(files))


#: Where the catalogue finds the archive of mt-metrics-eval, as a path of a mirror.
MTME_ARCHIVE = "/storage.googleapis.com/mt-metrics-eval/mt-metrics-eval-v2.tgz"


def mtme_archive(root: Path) -> bytes:
    """An archive as mt-metrics-eval is published, with one small set: wmt99."""
    made, raw = make_mtme(root), io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        archive.add(made.source, "mt-metrics-eval-v2/wmt99")
    return raw.getvalue()


def _blocks(scores: Mapping[str, str]) -> list[str]:
    return [f"{system}\t{score}" for system, cells in scores.items() for score in cells.split()]


def make_table(root: Path) -> Made:
    header = "instance,generator,output,reference_A,input,document,domain,tags,adequacy,annotator,BLEU"
    lines = [
        f'i{k},{g},"{g} said, ""{k}""",ref {k},in {k},doc,news,"long, odd",{1 + (k + a) % 5},ann{a},{k / 4}'
        for k in (1, 2, 3)
        for g in ("G1", "Human-Z")
        for a in (1, 2)
    ]
    path = _lines(root / "some table.csv", [header, *lines])
    return Made(path, (path,), {"judgment": ["adequacy"], "range": ["adequacy=1:5"], "score": ["BLEU"]})


def make_text(root: Path) -> Made:
    source = _lines(root / "source.txt", [f"Satz {k}" for k in (1, 2, 3)])
    reference = _lines(root / "reference.txt", [f"sentence {k}" for k in (1, 2, 3)])
    outputs = [_lines(root / f"{name}.txt", [f"{name} said {k}" for k in (1, 2, 3)]) for name in ("one", "two")]
    judged = [f"{name},{k},{rater},{k + len(rater)}" for name in ("one", "two") for k in (1, 2, 3) for rater in "ab"]
    judgments = _lines(root / "human.csv", ["system,line,annotator,score", *judged])
    options = {"reference": [f"A={reference}"], "output": list(map(str, outputs)), "judgments": judgments}
    return Made(source, (source, reference, *outputs, judgments), options)


def make_rated_lines(root: Path) -> Made:
    """A source of the importer in examples/, which is held to the contract where it is installed."""
    rows = [(f"i{k}", f"in {k} ä", system, f"{system} {k}", k) for k in (1, 2, 3) for system in ("S1", "S2")]
    path = _lines(root / "rated.tsv", ["\t".join(map(str, row)) for row in rows])
    return Made(path, (path,))


_SAID = {"good": ("Paris", "4"), "poor": ("London", "four")}
_ASKED = (("capital of France?", "Paris"), ("two and two?", "4"))


def make_lm_eval(root: Path) -> Made:
    """Two models on two samples of one task, as --log_samples writes them."""
    files = [
        _jsonl(
            root / model / "samples_facts_2026-01-01T10-00-00.000000.jsonl",
            [
                {
                    "doc_id": k,
                    "doc": {"question": asked},
                    "target": target,
                    "arguments": {"gen_args_0": {"arg_0": asked, "arg_1": {"until": ["\n"]}}},
                    "resps": [[said[k]]],
                    "filtered_resps": [said[k]],
                    "filter": "none",
                    "metrics": ["exact_match"],
                    "exact_match": float(said[k] == target),
                }
                for k, (asked, target) in enumerate(_ASKED)
            ],
        )
        for model, said in _SAID.items()
    ]
    return Made(root, tuple(files))


def make_helm(root: Path) -> Made:
    """Two runs of one scenario."""
    files = []
    for model, said in _SAID.items():
        run = root / f"facts:model={model}"
        requests = [
            {
                "instance": {
                    "id": f"id{k}",
                    "input": {"text": asked},
                    "references": [{"output": {"text": target}, "tags": ["correct"]}],
                    "split": "test",
                },
                "train_trial_index": 0,
                "result": {"success": True, "completions": [{"text": said[k], "logprob": -1.0}]},
            }
            for k, (asked, target) in enumerate(_ASKED)
        ]
        stats = [
            {
                "instance_id": f"id{k}",
                "train_trial_index": 0,
                "stats": [{"name": {"name": "exact_match", "split": "test"}, "mean": float(said[k] == target)}],
            }
            for k, (_, target) in enumerate(_ASKED)
        ]
        state = {"adapter_spec": {"model": f"maker/{model}"}, "request_states": requests}
        files += [
            write_json(run / "scenario_state.json", state),
            write_json(run / "per_instance_stats.json", stats),
        ]
    return Made(root, tuple(files))


def make_inspect_log(root: Path) -> Made:
    """A log for each of two models."""
    files = []
    for model, said in _SAID.items():
        samples = [
            {
                "id": k,
                "epoch": 1,
                "input": [{"role": "user", "content": asked}],
                "target": target,
                "output": {"model": model, "completion": said[k]},
                "scores": {"match": {"value": "C" if said[k] == target else "I"}},
            }
            for k, (asked, target) in enumerate(_ASKED)
        ]
        run = {"task": "facts", "model": f"maker/{model}"}
        log = {"version": 2, "status": "success", "eval": run, "samples": samples}
        files.append(write_json(root / f"{model}.json", log))
    return Made(root, tuple(files))


def make_openai_evals(root: Path) -> Made:
    """The records of two runs."""
    files = []
    for model, said in _SAID.items():
        lines: list[dict[str, Any]] = [{"spec": {"completion_fns": [model], "eval_name": "facts.dev.v0"}}]
        for k, (asked, target) in enumerate(_ASKED):
            of_sample = {"run_id": "r", "sample_id": f"facts.dev.{k}"}
            prompt = [{"role": "user", "content": asked}]
            sampling = {"prompt": prompt, "sampled": [said[k]]}
            match = {"correct": said[k] == target, "expected": target, "picked": None, "sampled": said[k]}
            lines += [
                {**of_sample, "event_id": 2 * k, "type": "sampling", "data": sampling},
                {**of_sample, "event_id": 2 * k + 1, "type": "match", "data": match},
            ]
        files.append(_jsonl(root / f"{model}.jsonl", [*lines, {"final_report": {"accuracy": 1.0}}]))
    return Made(root, tuple(files))


def make_hf_dataset(root: Path) -> Made:
    """Two outputs for each row, with references in a list and scores of one generator."""
    rows = [
        {
            "id": f"row{k}",
            "question": asked,
            "answers": [target],
            "good": _SAID["good"][k],
            "poor": _SAID["poor"][k],
            "right": float(_SAID["poor"][k] == target),
        }
        for k, (asked, target) in enumerate(_ASKED)
    ]
    path = _jsonl(root / "test.jsonl", rows)
    options = {
        "output": ("good", "poor"),
        "input": "question",
        "references": ("answers",),
        "id": "id",
        "score": ("poor:exact_match=right",),
    }
    return Made(path, (path,), options)


MAKERS: Mapping[str, Callable[[Path], Made]] = {
    **PUBLIC,
    "arena": make_arena,
    "billboard": make_billboard,
    "helm": make_helm,
    "hf-dataset": make_hf_dataset,
    "inspect-log": make_inspect_log,
    "lm-eval": make_lm_eval,
    "mqm": make_mqm,
    "mtme": make_mtme,
    "openai-evals": make_openai_evals,
    "rated-lines": make_rated_lines,
    "table": make_table,
    "text": make_text,
    "thumb": make_thumb,
    "wmt-da": make_wmt_da,
}
