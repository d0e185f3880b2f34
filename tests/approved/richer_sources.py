"""More sources in the layouts that importers read, with what the small ones lack; and options that change them."""

from __future__ import annotations

import gzip
import json
import pickle
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from importer_sources import MAKERS, make_billboard, make_mtme
from pascal_clone import pascal_clone
from pickled_sets import darr_pairs, pickled_sets
from public_sets import Made, write_csv, write_json, write_json_lines, write_lines

_PAIR_HEAD = "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie"


def arena_talks(root: Path) -> Made:
    """Battles of conversations, with ids, turns, languages and times; the same question asked in other words."""

    def talk(asked: str, answered: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]

    battles = [
        ("b1", "q1", "alpha", "beta", "model_a", "ann", "English", 30.0, "What is é?"),
        ("b2", "q1", "beta", "gamma", "tie", "ann", "English", 20.0, "What is é?"),
        ("b3", "q1", "gamma", "alpha", "tie (bothbad)", "bob", "German", 10.5, "What else?"),
        ("b4", "q2", "beta", "alpha", "B", "bob", "German", 5.0, "Two?"),
        ("b5", "q2", "beta", "gamma", "gamma", "cid", "German", 1.0, "Two?"),
    ]
    items = [
        {
            "battle_id": battle,
            "question_id": question,
            "model_a": first,
            "model_b": second,
            "winner": winner,
            "judge": judge,
            "language": language,
            "tstamp": time,
            "turn": 1 + k % 2,
            "conversation_a": talk(asked, f"{first} on {asked}") if k != 2 else None,
            "conversation_b": talk(asked, f"{second} on {asked}"),
        }
        for k, (battle, question, first, second, winner, judge, language, time, asked) in enumerate(battles)
    ]
    path = write_json(root / "battles.json", items)
    return Made(path, (path,))


def arena_outcomes(root: Path) -> Made:
    """Three columns for the outcome, and turns as lists in a cell."""
    lines = ['7,x,y,"[""Hi?"",""And?""]","[""A1"",""A2""]","[""B1"",""B2""]",0,1,0', "8,y,x,Hi?,B1,A1,1,0,0"]
    path = write_lines(root / "train.csv", [_PAIR_HEAD, *lines, "9,x,z,Hm?,A1,,0,0,1"])
    return Made(path, (path,))


def arena_bare(root: Path) -> Made:
    """Votes alone, one of them odd, one twice."""
    path = write_lines(
        root / "votes.tsv", ["model_a\tmodel_b\twinner", "x\ty\tmodel_a", "y\tx\tmodel_a", "x\ty\ttie", "x\ty\tx"]
    )
    return Made(path, (path,), {"lenient": True, "name": "votes"})


def asset_pairs(root: Path) -> Made:
    """Human simplifications compared in pairs; one of ASSET's own is compared, one with itself."""
    made = MAKERS["asset"](root)
    originals = ["The Recipient of the medal, was presented.", "It is derived from Voices.", "Third é."]
    rows = [
        {
            "worker_id": worker,
            "sentence_id": k,
            "aspect": aspect,
            "source": originals[k],
            "other_dataset": other,
            "asset_simplification": f"ref 0 {k}",
            "other_simplification": f"Other {k}." if k != 1 else "ref 0 1",
            "winner": winner,
        }
        for k, other, winner, worker in (
            (0, "turkcorpus", "asset", "w1"),
            (0, "turkcorpus", "similar", "w2"),
            (1, "hsplit", "hsplit", "w1"),
            (2, "hsplit", "hsplit", "w3"),
        )
        for aspect in ("meaning", "simplicity")
    ]
    path = write_csv(root / "pairwise_vs_turkcorpus_hsplit.csv", rows)
    return Made(root, (*made.files, path), {"judgments": "pairwise"})


def _segments(path: Path, key: str, values: list[Any]) -> Path:
    return write_json_lines(path, [{"seg_id": f"s{k + 1}", "set_id": k, key: value} for k, value in enumerate(values)])


def _released(path: Path, system: str, metric: str, values: list[object]) -> Path:
    lines = [f"{system},s{k + 1},{k},{metric},{value}" for k, value in enumerate(values)]
    return write_lines(path, ["SYS,seg_id,set_id,metric,score", *lines])


def billboard_captions(root: Path) -> Made:
    """A board of images with THumB's ratings, its references and a person's captions."""
    clone, beside = root / "billboard", root / "THumB" / "mscoco"
    submissions, results = clone / "submissions" / "mscoco", clone / "results" / "mscoco"
    files = [
        _segments(submissions / "source" / "mscoco_src.jsonl", "src", ["1.jpg", "2.jpg"]),
        _segments(submissions / "generators" / "mscoco_Up-Down.jsonl", "hyp", ["A dog.", "A cat."]),
        *(
            _released(results / f"Up-Down||{metric}.csv", "Up-Down", metric, [0.5, value])
            for metric, value in (("CLIPS", 0.75), ("RefCLIPS", "nan"), ("RefOnlyCLIPS", 0.25), ("ensemble", 80))
        ),
        _segments(beside / "mscoco_references.json", "refs", [["Dog!", "The dog."], ["Cat!", "The cat."]]),
        write_json_lines(
            beside / "mscoco_THumB-1.0.jsonl",
            [
                {"SYS": system, "seg_id": f"s{k + 1}", "set_id": k, "hyp": text, "image": f"{k + 1}.jpg"}
                | {"P": 4.0, "R": 3.0, "Fl": fluency, "Inc": -0.0, "Con": -0.0, "human_score": 3.5 + fluency}
                for system, k, text, fluency in (
                    ("Up-Down", 0, "A dog.", -0.0),
                    ("Up-Down", 1, "A cat.", -0.5),
                    ("Human", 0, "Somebody's dog.", -0.0),
                    ("Human", 1, "Somebody's cat.", -0.25),
                )
            ],
        ),
    ]
    return Made(clone, tuple(files), {"board": "mscoco", "judgments": root / "THumB"})


def billboard_references(root: Path) -> Made:
    """A board with references of OPUS and a paraphrase, each line for line, and one in a folder of texts."""
    made = make_billboard(root)
    opus, paraphrase = root / "clones" / "OPUS-MT-testsets", root / "clones" / "wmt19-paraphrased-references"
    files = [
        write_lines(opus / "testsets" / "zho-eng" / "newstest2020.zho", ["一", "二。", "三"]),
        write_lines(opus / "testsets" / "zho-eng" / "newstest2020.eng", ["one", "two", "three"]),
        write_lines(opus / "testsets" / "zho-eng" / "newstestB2020.eng", ["One", "Two", "Three"]),
        write_lines(paraphrase / "wmt20" / "zhen" / "wmt20-zhen-wmtp.ref", ["1", "2", "3"]),
    ]
    options = {**made.options, "references": (root / "clones",)}
    return Made(made.source, (*files, *made.files[:1]), options)


def esa_campaigns(root: Path) -> Made:
    """One of several campaigns by its name."""
    made = MAKERS["esa"](root)
    return replace(made, options={"campaign": "240315rc5ESA"}, files=made.files[:1])


def flickr8k_experts(root: Path) -> Made:
    return replace(MAKERS["flickr8k"](root), options={"judgments": "expert"})


def flickr8k_crowd(root: Path) -> Made:
    return replace(MAKERS["flickr8k"](root), options={"judgments": "crowd"})


def helm_split(root: Path) -> Made:
    return replace(MAKERS["helm"](root), options={"split": "test", "name": "chosen"})


def hf_table(root: Path) -> Made:
    """A table of one split, with rows numbered and scores of both."""
    path = write_lines(
        root / "data" / "test-00000-of-00001.csv",
        ["question,answer,good,poor,bleu,ter", "capital?,Paris,Paris,London,1,nan", "sum?,4,4,5,0.5,2"],
    )
    other = write_lines(root / "data" / "train.csv", ["question,answer,good,poor,bleu,ter", "a,b,c,d,1,2"])
    options = {
        "output": ("good", "Poor One=poor"),
        "input": "question",
        "references": ("answer",),
        "score": ("good:BLEU=bleu", "Poor One:TER=ter"),
        "split": "test",
        "name": "chosen",
    }
    return Made(root, (path, other), options)


def inspect_archive(root: Path) -> Made:
    """Logs as archives, with several scorers, epochs and messages in parts."""
    samples = [
        {
            "id": k,
            "epoch": epoch,
            "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"text": "One?"}]}],
            "target": ["Paris", "paris"],
            "output": {"choices": [{"message": {"role": "assistant", "content": "Paris"}}]},
            "scores": {"match": {"value": "P"}, "parts": {"value": {"a": 0.5, "b": "I"}}, "said": "N", "why": "?"},
        }
        for k in (10, 9)
        for epoch in (1, 2)
    ]
    head = {"version": 2, "status": "success", "eval": {"task": "facts", "model": "maker/good"}}
    root.mkdir(parents=True, exist_ok=True)
    path = root / "good.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(head))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return Made(path, (path,), {"name": "archived"})


def lm_eval_choices(root: Path) -> Made:
    """Choices by log-likelihood, in either notation, and two filters."""
    item = {"target": "1", "arguments": [["Which?", " a"], ["Which?", " b"]], "metrics": ["acc", "none"]}
    items = [
        {**item, "doc_id": 0, "resps": [[[-3.0, False]], [[-1.0, True]]], "acc": 1.0},
        {**item, "doc_id": 1, "filtered_resps": [[-1.0, False], [-2.0, True]], "acc": 0, "filter": "none"},
        {**item, "doc_id": 1, "filtered_resps": ["b", "c"], "acc": True, "filter": "strict"},
        {**item, "doc_id": 2, "filtered_resps": ["b", "c"], "target": ["x", "y"], "arguments": {}},
    ]
    path = write_json_lines(root / "some__model" / "samples_choice_2026-01-01T10-00-00.jsonl", items)
    return Made(root, (path,), {"task": "choice"})


_MQM_HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
_MQM_LINES = (
    'hyp.A\ttalk.1\t1\t1\tr1\tQuelle "eins\tA said <v>"one</v>\tAccuracy/Mistranslation\tMajor',
    'hyp.A\ttalk.1\t1\t1\tr1\tQuelle "eins\tA <v>said</v> "one\tFluency/Punctuation\tMinor',
    'hyp.A\ttalk.1\t1\t1\tr2\t<v>Quelle</v> "eins\tA said "one\tAccuracy/Omission\tMinor',
    'hyp.A\ttalk.1\t1\t1\tr2\tQuelle "eins\tA said "one\tMissed\tHOTW-test',
    'hyp.A\ttalk.1\t1\t1\tr2\tQuelle "eins\tA said "one\tFound\tHOTW-test',
    "refA\ttalk.1\t1\t1\tr1\tQuelle eins\tOne, she said\tNo-error\tNo-error",
    "hyp.A\ttalk.1\t2\t2\tr1\tQuelle zwei\t<v>A said two</v>\tNon-translation!\tMajor",
    "hyp.A\ttalk.1\t2\t2\tr2\tQuelle zwei\t<v>A</v> said <v>two</v>\tStyle/Awkward\tNeutral",
    "hyp.A\ttalk.1\t2\t2\tr2\tQuelle zwei\tA said two\tSource error\tMajor",
    "hyp.A\ttalk.1\t2\t2\tr3\tQuelle zwei\tA said <v></v>two\tTerminology\tCritical",
    "refA\ttalk.1\t2\t2\tr1\tQuelle zwei\tTwo\tno-error\tno-error",
    "B\ttalk.2\t1\t3\tr1\tQuelle drei\t<v>B drei\tAccuracy\tMajor",
    "B\ttalk.2\t1\t3\tr1\tQuelle drei\tB drei\tReinterpretation/Creative\tMinor",
)


def mqm_raw(root: Path) -> Made:
    """Raw ratings with marked errors of every weight and attention checks, and averages beside them."""
    folder = root / "newstest2021" / "deen"
    path = write_lines(folder / "mqm_newstest2021_deen.tsv", [_MQM_HEAD, *_MQM_LINES])
    averages = write_lines(
        folder / "mqm_newstest2021_deen.avg_seg_scores.tsv",
        ["system mqm_avg_score seg_id", "hyp.A -3.05 1", "hyp.A -12.0 2", "refA 0 1", "B None 3", "C -1 1"],
    )
    return Made(root, (path, averages))


def mqm_named(root: Path) -> Made:
    """The layout of later years, with a note, packed, under a name and languages of its own."""
    head = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
    lines = [
        'S\td\t1\t1\tr1\tein <v>Satz\ta <v>sentence</v>\tAccuracy\tMinor\t{"note": "hm", "source_spans": []}',
        "S\td\t1\t1\tr2\tein Satz\ta sentence\tNo-error\tNo-error\t{}",
        "T\td\t2\t2\tr1\tnoch einer\tanother\tOther\tcritical\t{}",
    ]
    path = root / "mqm_generalMT2023_ende.tsv.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in (head, *lines)).encode(), mtime=0))
    return Made(path, (path,), {"language_pair": "en-de", "name": "later"})


def mqm_added(root: Path) -> Made:
    """Raw ratings laid on a board, told by segments' numbers."""
    into = MAKERS["mqm"](root / "board").options["into"]
    lines = [line.replace("hyp.A", "X.1").replace("refA", "Human-A.0") for line in _MQM_LINES]
    path = write_lines(root / "mqm_newstest2020_zhen.tsv", [_MQM_HEAD, *lines])
    return Made(path, (path,), {"into": into})


def mtme_rated(root: Path) -> Made:
    """Marked errors of raters, two references, other years' scores, and a system whose lines are cut."""
    made = make_mtme(root)
    folder, scores = made.source, made.source / "human-scores"
    mistake = {
        "start": 0,
        "end": 2,
        "category": "Accuracy",
        "severity": "major",
        "score": 1.5,
        "is_source_error": False,
    }
    missing = {**mistake, "start": -1, "severity": None, "score": 3, "is_source_error": True}
    rated = [json.dumps({"errors": errors}) for errors in ([mistake], [], [mistake, missing])]
    files = [
        write_lines(folder / "references" / "en-de.ref-B.txt", ["b1", "[No translation supplied]", "b3"]),
        write_lines(folder / "system-outputs" / "en-de" / "S3.txt", ["s1", "[No translation supplied]", "s3", ""]),
        write_lines(folder / "system-outputs" / "en-de" / "Human-Q.0.txt", ["q1", "q2", "q3"]),
        write_lines(
            scores / "en-de.mqm.merged.seg.rating",
            [f"S1\t{rated[0]}\trater1", "S1\tNone", f"S1\t{rated[1]}\tNone", *(f"S2\t{one}\trater2" for one in rated)],
        ),
        write_lines(scores / "en-de.mqm.rater3.seg.rating", [f"S2\t{one}" for one in ("None", *rated[1:])]),
        write_lines(scores / "en-de.esa.merged.seg.rating", [f"S2\t{one}" for one in rated]),
        write_lines(scores / "en-de.mqm.sys.score", ["S1\t-2"]),
        write_lines(folder / "metric-scores" / "en-de" / "BLEU-refA.ref-B.seg.score", ["S1\t1", "S1\tNone", "S1\t3"]),
        write_lines(folder / "metric-scores" / "en-de" / "C-x-all.seg.score", ["S9\t1", "S9\t2", "S9\t3"]),
        write_lines(folder / "metric-scores" / "en-de" / "D-refC.seg.score", ["S3\t1", "S3\t2", "S3\t3", "S2\t1"]),
        write_lines(folder / "metric-scores" / "en-de" / "SYSTEMLEVEL-refA.sys.score", ["S1\t1"]),
        write_lines(folder / "sources" / "zh-en.txt", ["一"]),
    ]
    return Made(root, tuple(files), {"language_pair": "en-de", "judgments": "da-sqm", "test_set": "wmt99"})


def mtme_bare(root: Path) -> Made:
    """A year without documents and judgments."""
    folder = root / "wmt22 (copy)"
    files = [
        write_lines(folder / "sources" / "sr_Cyrl-de.txt", ["one", "two"]),
        write_lines(folder / "system-outputs" / "sr_Cyrl-de" / "S1.txt", ["eins", "zwei"]),
    ]
    return Made(folder, tuple(files))


def multi_summeval_german(root: Path) -> Made:
    return replace(MAKERS["multi-summeval"](root), options={"language": "DE"})


def muss_plain(root: Path) -> Made:
    """Lists of ratings by place, in no language that is told."""
    examples = {
        f"ex{k}": {"source": f"S {k // 2}.", "hypothesis": f"H {k}.", "references": [f"R {k // 2}."]}
        | {"simplicity": [k % 5, 4], "adequacy": [3, 0], "fluency": [2.5, 1]}
        for k in range(3)
    }
    path = write_json(root / "muss.json", examples)
    return Made(path, (path,))


def openai_metrics(root: Path) -> Made:
    """Events of several kinds, and a run that ended early."""
    lines: list[dict[str, Any]] = [{"spec": {"completion_fns": ["maker/good"], "eval_name": "facts.dev.v0"}}]
    for k, asked in enumerate(("one?", "two?")):
        of_sample = {"run_id": "r", "sample_id": f"facts.dev.{k}"}
        talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": asked}]
        lines += [
            {**of_sample, "event_id": 3 * k, "type": "sampling", "data": {"prompt": talk, "sampled": "yes"}},
            {**of_sample, "event_id": 3 * k + 1, "type": "metrics", "data": {"f1": 0.5 + k / 4, "of": "x", "ok": True}},
            {**of_sample, "event_id": 3 * k + 2, "type": "match", "data": {"correct": False, "expected": ["a", "b"]}},
        ]
    path = write_json_lines(root / "run.jsonl", lines)
    return Made(path, (path,), {"name": "run"})


def pascal_matlab(root: Path) -> Made:
    return Made(pascal_clone(root), ())


def paws_bytes(root: Path) -> Made:
    """Equal pairs, an odd literal, other columns."""
    rows = ["1\tx\tA ?\tA ?\t1", "2\tx\tb'\\xc3\\xa4 ?'\tB ?\t0", "3\tx\tC ?\tD ?\t1"]
    path = write_lines(
        root / "data" / "paws_qqp" / "dev_and_test.tsv", ["id\tmore\tsentence1\tsentence2\tlabel", *rows]
    )
    return Made(root, (path,))


def psqm_crowd(root: Path) -> Made:
    made = MAKERS["psqm"](root)
    return replace(made, source=made.files[0], options={"language_pair": "zh-en", "name": "professionals"})


def pickled(wanted: str) -> Callable[[Path], Made]:
    """A set as its repository pickles it."""

    def make(root: Path) -> Made:
        ((place, value),) = [(place, value) for name, place, value in pickled_sets() if name == wanted]
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(value, protocol=4))
        return Made(root, (path,))

    return make


def darr_scored(root: Path) -> Made:
    """Pairs with scores of metrics written as texts."""
    path = root / "WMT" / "gu-en" / "data.pkl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(darr_pairs(scores=True), protocol=4))
    return Made(path, (path,), {"language_pair": "gu-en"})


def qags_predicted(root: Path) -> Made:
    """Scores of a metric beside people's, and whose articles said by the option."""
    records = [
        {"doc_id": k, "system_id": 0, "source": f"Article {k}.", "reference": f"Ref {k}.", "system_output": "It says."}
        | {"scores": {"consistency": k / 2}, "predict_scores": {"consistency": 0.25 * k, "overall": 0.5}}
        for k in (0, 1, 2)
    ]
    path = write_json(root / "told.json", records)
    return Made(path, (path,), {"articles": "xsum"})


def simplicity_references(root: Path) -> Made:
    """ASSET's references from a folder of their own."""
    made, beside = MAKERS["simplicity-da"](root), MAKERS["asset"](root / "asset")
    return Made(root / "data", (*made.files, *beside.files[:3]), {"references": root / "asset"})


def summeval_articles(root: Path) -> Made:
    """Articles with the systems' summaries and mean ratings; one has no summary of a system."""
    mean = {"coherence": 4.5, "consistency": 5, "fluency": 4.25, "relevance": 1}
    items = [
        {
            "doc_id": f"d{k}",
            "src": f"Article {k}.",
            "ref_summs": [f"R{k}", f"S{k}"],
            "sys_summs": {name: {"sys_summ": f"{name} {k}", "scores": mean} for name in ("M1", "M22")[: 3 - k]},
        }
        for k in (1, 2)
    ]
    path = write_json_lines(root / "summeval.jsonl", items)
    return Made(path, (path,))


_TIDY = (
    "id,system,output,reference,ref_B,src,doc,domain,tags,rating,annotator,BLEU,TER,comment",
    '1,G,hello,hi,hey,hallo,d,news,"a, b",4,A1B2C3D4E5F6G7,10.5,-1,x',
    '1,G,hello,hi,hey,hallo,d,news,"a, b",2,A9B8C7D6E5F4G3,10.5,-1,y',
    '1,Human-H,,hi,hey,hallo,d,news,"a, b",1,A1B2C3D4E5F6G7,nan,,z',
    '2,G,"two, ""quoted""",zwei,,,,,,5,A1B2C3D4E5F6G7,3,0,',
)


def table_tidy(root: Path) -> Made:
    """Usual names found, scores by name, a person's row, workers' ids."""
    path = write_lines(root / "tidy.csv", list(_TIDY))
    return Made(path, (path,), {"score": ["BLEU", "TER"], "range": ["rating=1:5"]})


def table_named(root: Path) -> Made:
    """Every column named, in JSON lines with lists."""
    items = [
        {
            "key": f"k{k}",
            "who": who,
            "said": f"{who} {k}",
            "refs": [f"r{k}", f"s{k}"],
            "question": f"q{k}",
            "picture": f"{k}.png",
            "paper": "p",
            "field": "f",
            "labels": ["x", "y"],
            "adequacy": 1 + k,
            "fluency": 4.5 - k,
            "rater": "ann",
            "METEOR": k / 2,
        }
        for k in range(3)
        for who in ("one", "two")
    ]
    path = write_json_lines(root / "named.jsonl", items)
    options = {
        "instance": "key",
        "generator": "who",
        "output": "said",
        "input": "question",
        "image": "picture",
        "reference": ["refs"],
        "document": "paper",
        "domain": "field",
        "tags": "labels",
        "judgment": ["adequacy", "fluency"],
        "range": ["adequacy=0:5", "fluency=0:5"],
        "annotator": "rater",
        "score": ["METEOR"],
        "name": "chosen",
    }
    return Made(path, (path,), options)


def table_loose(root: Path) -> Made:
    """Outputs of nobody, named by nobody."""
    lines = ["a\tx\t1", "a\ty\t2", "a\tx\t3", "b\tx\t4"]
    path = write_lines(root / "loose.tsv", ["id\ttext\trating", *lines])
    return Made(path, (path,))


def table_loose_named(root: Path) -> Made:
    lines = ["a,a1,x,1", "a,a2,y,2", "b,b1,x,4"]
    path = write_lines(root / "loose named.csv", ["id,output_id,text,rating", *lines])
    return Made(path, (path,))


def table_apart(root: Path) -> Made:
    """Judgments in a table of their own."""
    path = write_lines(root / "texts.csv", ["id,system,output", "a,S,x", "a,T,y", "b,S,z", "b,T,w"])
    judged = [f"{system},{key},{who},{k}" for k, key in enumerate("ab") for system in "ST" for who in ("p", "q")]
    judgments = write_lines(root / "human.csv", ["system,id,annotator,score", *judged])
    options = {"judgments": judgments, "range": ["score=0:5"]}
    return Made(path, (path, judgments), options)


def _texts(root: Path) -> tuple[Path, dict[str, Any]]:
    source = write_lines(root / "source.txt", [f"Satz {k}" for k in (1, 2, 3)])
    references = [
        write_lines(root / f"{name}.txt", [f"{name} {k}" if k != 2 else "" for k in (1, 2, 3)]) for name in "AB"
    ]
    outputs = [write_lines(root / f"{name}.txt", [f"{name} said {k}" for k in (1, 2, 3)]) for name in ("one", "two")]
    ids = write_lines(root / "ids", ["x1", "x2", "x3"])
    documents = write_lines(root / "docs", ["news\td1", "d1", "sport\td2"])
    options = {
        "reference": [f"A={references[0]}", str(references[1])],
        "output": [str(outputs[0]), f"Human-two={outputs[1]}"],
        "ids": ids,
        "documents": documents,
        "name": "chosen",
    }
    return source, options


def text_wide(root: Path) -> Made:
    """A column for each system, and one of them a reference that people judged."""
    source, options = _texts(root)
    lines = [f"{k},{who},{k},{k + 1},5" for k in (0, 1, 2) for who in ("ann", "bob")]
    judgments = write_lines(root / "wide.csv", ["line,rater,one,Human-two,A", *lines])
    options |= {"judgments": judgments, "first": 0, "by": "line"}
    return Made(source, (options["ids"], options["documents"], judgments), options)


def text_named(root: Path) -> Made:
    """Dimensions named in a column, every column by an option, joined by ids."""
    source, options = _texts(root)
    lines = [
        f"{who};x{k};{name};{what};{k}"
        for who in ("one", "Human-two")
        for k in (1, 2)
        for name in ("p", "q")
        for what in ("adequacy", "fluency")
    ]
    judgments = write_lines(root / "long.csv", ["wer;wo;von;was;wie viel", *lines])
    options |= {"judgments": judgments, "system": "wer", "segment": "wo", "annotator": "von", "dimension": "was"}
    options |= {"judgment": ["wie viel"], "range": ["adequacy=1:5", "fluency=0:5"], "by": "id"}
    return Made(source, (judgments,), options)


def text_columns(root: Path) -> Made:
    """A column for each dimension, rows without annotators, some twice, some that say NaN."""
    source, options = _texts(root)
    lines = ["one\tx1\t3\t4", "one\tx1\t2\tnan", "Human-two\tx3\t\t1", "one\tx2\t5\t5"]
    judgments = write_lines(root / "columns.tsv", ["Model\tInstance\tAdequacy\tfluency", *lines])
    return Made(source, (judgments,), options | {"judgments": judgments})


def text_outputs_alone(root: Path) -> Made:
    _, options = _texts(root)
    return Made(root / "source.txt", (root / "one.txt",), {"output": options["output"]})


def thumb_captions(root: Path) -> Made:
    """THumB's captions added to a board of images."""
    made = billboard_captions(root / "clone")
    from billboards.board.writing import write_board
    from billboards.importers import IMPORTERS

    board = IMPORTERS.load("billboard")(made.source, board="mscoco").board
    into = write_board(board, root / "board")
    return Made(made.files[-1], (made.files[-1],), {"into": into})


def webnlg_means(root: Path) -> Made:
    """Means alone, standardised."""
    made = MAKERS["webnlg-2020"](root)
    for path in made.files[1:4]:
        path.unlink()
    items = json.loads(made.files[0].read_text("utf-8"))
    items[0]["Fluency"] = -0.5
    write_json(made.files[0], items)
    return replace(made, files=(made.files[0], made.files[4]))


def webnlg_corpus(root: Path) -> Made:
    made = MAKERS["webnlg-2020"](root)
    options = {"language": "en", "corpus": root / "webnlg-dataset"}
    return replace(made, source=root / "challenge-2020", files=made.files[1:2], options=options)


RICHER: Mapping[str, tuple[str, Callable[[Path], Made]]] = {
    "arena of talks": ("arena", arena_talks),
    "arena with outcomes": ("arena", arena_outcomes),
    "arena without texts": ("arena", arena_bare),
    "asset compared": ("asset", asset_pairs),
    "billboard of captions": ("billboard", billboard_captions),
    "billboard with references": ("billboard", billboard_references),
    "esa of one campaign": ("esa", esa_campaigns),
    "flickr8k by experts": ("flickr8k", flickr8k_experts),
    "flickr8k by the crowd": ("flickr8k", flickr8k_crowd),
    "helm of a split": ("helm", helm_split),
    "hf-dataset as tables": ("hf-dataset", hf_table),
    "inspect-log as an archive": ("inspect-log", inspect_archive),
    "lm-eval with choices": ("lm-eval", lm_eval_choices),
    "mqm raw": ("mqm", mqm_raw),
    "mqm of later years": ("mqm", mqm_named),
    "mqm raw on a board": ("mqm", mqm_added),
    "mtme with marked errors": ("mtme", mtme_rated),
    "mtme bare": ("mtme", mtme_bare),
    "multi-summeval in German": ("multi-summeval", multi_summeval_german),
    "muss with places": ("muss", muss_plain),
    "openai-evals with metrics": ("openai-evals", openai_metrics),
    "pascal-50s in MATLAB": ("pascal-50s", pascal_matlab),
    "paws with more columns": ("paws", paws_bytes),
    "psqm of a file": ("psqm", psqm_crowd),
    **{
        f"{name} pickled": (name, pickled(name))
        for name in ("realsumm", "summeval", "newsroom", "qags", "rank19", "bagel", "sfhot", "wmt19-darr")
    },
    "wmt19-darr scored": ("wmt19-darr", darr_scored),
    "qags with predictions": ("qags", qags_predicted),
    "simplicity-da with references": ("simplicity-da", simplicity_references),
    "summeval by article": ("summeval", summeval_articles),
    "table tidy": ("table", table_tidy),
    "table named": ("table", table_named),
    "table loose": ("table", table_loose),
    "table loose with ids": ("table", table_loose_named),
    "table judged apart": ("table", table_apart),
    "text judged wide": ("text", text_wide),
    "text judged by dimension": ("text", text_named),
    "text judged in columns": ("text", text_columns),
    "text alone": ("text", text_outputs_alone),
    "thumb of captions": ("thumb", thumb_captions),
    "webnlg-2020 of means": ("webnlg-2020", webnlg_means),
    "webnlg-2020 with a corpus": ("webnlg-2020", webnlg_corpus),
}
