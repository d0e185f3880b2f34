"""Public data sets as made-up files of the same shape: two or three instances each, written into a folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from billboards.board.judgment_sources import Imported
from billboards.importers import IMPORTERS


@dataclass(frozen=True)
class Made:
    """A small source on disk: how to import it, and its text files, which tests may damage."""

    source: Path
    files: tuple[Path, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def load(self, name: str) -> Imported:
        return IMPORTERS.load(name)(self.source, **self.options)


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def write_json_lines(path: Path, items: Sequence[Mapping[str, Any]]) -> Path:
    return write_lines(path, [json.dumps(item, ensure_ascii=False) for item in items])


def write_json(path: Path, value: Any) -> Path:
    return write_lines(path, json.dumps(value, ensure_ascii=False, indent=1).split("\n"))


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def make_summeval(root: Path) -> Made:
    """The authors' layout: a line per summary with every rating."""
    rating = {"coherence": 5, "consistency": 4, "fluency": 3, "relevance": 2}
    items = [
        {
            "id": f"dm-test-{k}",
            "model_id": model,
            "decoded": f"{model} sums up {k}.",
            "text": f"A long article é {k}.",
            "references": [f"Highlights {k}.", f"A worker's {k}."],
            "expert_annotations": [rating, {**rating, "coherence": k}],
            "turker_annotations": [rating],
        }
        for k in (1, 2)
        for model in ("M0", "M17", "M99")
    ]
    path = write_json_lines(root / "model_annotations.aligned.jsonl", items)
    return Made(path, (path,))


def make_realsumm(root: Path) -> Made:
    def scored(kind: str) -> list[dict[str, Any]]:
        return [
            {
                "doc_id": str(k),
                "ref_summ": f"<t> reference {k} </t> <t> ends ü </t>",
                "system_summaries": {
                    f"{kind}1": {"system_summary": f"<t> {kind} {k} </t>", "scores": {"litepyramid_recall": k / 4}}
                },
            }
            for k in (1, 2, 3)
        ]

    articles = [{"doc_id": str(k), "src": f"article {k}"} for k in (1, 2, 3)]
    files = [write_json_lines(root / f"realsumm_{kind}.jsonl", scored(kind)) for kind in ("abs", "ext")]
    return Made(root, (*files, write_json_lines(root / "realsumm_src.jsonl", articles)))


def make_multi_summeval(root: Path) -> Made:
    """German with two workers' own scores, English with means alone."""
    results, files = root / "annotation_result", list[Path]()
    shifts = {"focus": 0.0, "coverage": 0.5}
    for language in ("DE", "EN"):
        for dimension, shift in shifts.items():
            rows = [{"id": k, "model": model, "score": k + shift} for k in (1, 2) for model in ("BERT", "PG")]
            files.append(write_csv(results / language / f"human_{dimension}_final.csv", rows))
    ways = {"REFERENCE-SYSTEM": shifts["focus"], "SYSTEM-REFERENCE": shifts["coverage"]}
    workers = [
        {
            "worker_id": worker,
            "assignment_id": f"A-{worker}",
            "annotation_res": {
                f"DE-{k}-{way}-{model}": k + shift + change
                for k in (1, 2)
                for model in ("BERT", "PG")
                for way, shift in ways.items()
            },
        }
        for worker, change in (("W1", 0.25), ("W2", -0.25))
    ]
    texts = [
        {"lang": language, "doc_id": f"{k}", "gold": f"Gold {k}.", "pred_BERT": "B ä\n", "pred_PG": "P"}
        for language in ("DE", "EN")
        for k in (1, 2)
    ]
    files.append(write_csv(results / "DE" / "analysis_clean.csv", workers))
    files.append(write_json_lines(root / "texts.jsonl", texts))
    return Made(root, tuple(files))


def make_webnlg_2017(root: Path) -> Made:
    inputs = ["A | is | B", "C | has | D<br>C | is | E"]
    rows = [
        {
            "": n,
            "X_worker_id": worker,
            "fluency": 1 + n % 3,
            "grammaticality": 2,
            "semantic_adequacy": 3,
            "mr": inputs[k],
            "team": team,
            "text": f"{team} says {k}" if team != "webnlg" else f"reference {k} .",
            "category": "Airport",
            "type": "seen",
            "systemtype": "neural",
            "triplesize": f"{k + 1}triple",
        }
        for n, (k, team, worker) in enumerate(
            (k, team, worker) for k in (0, 1) for team in ("adapt", "webnlg") for worker in ("w1", "w2")
        )
    ]
    files = [
        write_csv(root / "all_data_final_scores_anonymised.csv", rows),
        write_lines(root / "MRs.txt", inputs),
        write_lines(root / "sample-ids.txt", ["18", "27"]),
        write_lines(root / "gold-sample-reference0.lex", ["reference 0 .", "reference 1 ."]),
        write_lines(root / "gold-sample-reference1.lex", ["another 0 ä .", ""]),
    ]
    return Made(root, tuple(files))


WEBNLG_DIMENSIONS = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")


def make_webnlg_2020(root: Path) -> Made:
    """Both repositories below one folder: two teams' texts and a reference, each rated by two workers."""
    teams = ("Some_Team", "Other", "WebNLG-2020-reference")
    workers = {
        team: {
            sample: {
                f"en_worker_{worker}": {name: 10 * int(sample) + k + worker for k, name in enumerate(WEBNLG_DIMENSIONS)}
                for worker in (1, 3)
            }
            for sample in ("1", "3")
        }
        for team in teams
    }
    ratings = [
        {"submission_id": team, "size": "1", "sample_id": sample, "category": "Film"}
        | {name: 10 * int(sample) + k + 2.0 for k, name in enumerate(WEBNLG_DIMENSIONS)}
        for team in teams
        for sample in ("1", "3")
    ]
    entries = [
        f'<entry category="Film" eid="Id{k}" size="1"><modifiedtripleset><mtriple>F{k} | by | G</mtriple>'
        f'</modifiedtripleset><lex lid="Id1">F{k} is by G.</lex>{second}</entry>'
        for k, second in ((1, '<lex lid="Id2">G made F1 é.</lex>'), (2, ""), (3, ""))
    ]
    challenge, corpus = root / "challenge-2020", root / "webnlg-dataset" / "release_v3.0"
    results = challenge / "evaluation" / "human-evaluation" / "results" / "en"
    files = [
        write_json(results / "english_humeval_data_all_teams.json", ratings),
        *(write_json(results / team / "primary.json", workers[team]) for team in teams),
        write_lines(
            corpus / "en" / "test" / "rdf-to-text-generation-test-data-with-refs-en.xml",
            ["<?xml version='1.0' encoding='utf-8'?>", "<benchmark><entries>", *entries, "</entries></benchmark>"],
        ),
        *(
            write_lines(
                challenge / "submissions" / "rdf2text" / "en" / team / "primary.en", [f"{team} {k}" for k in (1, 2, 3)]
            )
            for team in ("Some Team", "Other")
        ),
    ]
    return Made(root, tuple(files))


def make_asset(root: Path) -> Made:
    originals = ["The Recipient of the medal, was presented.", "It is derived from Voices.", "Third é."]
    rows = [
        {
            "original": originals[k].lower(),
            "simplification": f"Simple {k}.",
            "original_sentence_id": k,
            "aspect": aspect,
            "worker_id": worker,
            "rating": 10 * k + worker,
        }
        for k in (0, 2)
        for aspect in ("meaning", "fluency", "simplicity")
        for worker in (1, 2)
    ]
    files = [
        write_lines(root / "asset.test.orig", originals),
        *(write_lines(root / f"asset.test.simp.{n}", [f"ref {n} {k}" for k in range(3)]) for n in range(2)),
        write_csv(root / "human_ratings.csv", rows),
    ]
    return Made(root, tuple(files))


def make_simplicity_da(root: Path) -> Made:
    rows = [
        {
            "sent_id": k,
            "sys_name": system,
            "orig_sent": f"Complicated {k}.",
            "simp_sent": f"{system} {k} ä.",
            "rater_id": rater,
            "simplicity": 20 * k + rater,
        }
        for k in (1, 3)
        for system in ("ACCESS", "Hybrid")
        for rater in (4, 8)
    ]
    outputs = {(row["sent_id"], row["sys_name"]): dict(list(row.items())[:4]) for row in rows}
    means = [
        output | {"sys_type": "SBMT", "fluency": 50 + k, "fluency_zscore": k / 8, "meaning": 40, "meaning_zscore": 0.5}
        for k, output in enumerate(outputs.values())
    ]
    metrics = [
        {"sent_id": key, "sys_name": system, "test_set": references, "bleu": 10 * k + len(references), "fkgl": k}
        for k, (key, system) in enumerate(outputs)
        for references in ("asset", "all")
    ]
    files = [
        write_csv(root / "data" / "ratings_per_annotator" / "simplicity_DA_ratings.csv", rows),
        write_csv(root / "data" / "simplicity_DA.csv", means),
        write_csv(root / "data" / "metrics_per_sentence" / "metrics_simplicity_DA.csv", metrics),
    ]
    return Made(root, tuple(files))


def make_muss(root: Path) -> Made:
    examples = {
        f"ex{k}": {
            "source": f"A sentence {k // 2}.",
            "hypothesis": f"Shorter {k} é.",
            "references": [f"A reference {k // 2}."],
            "simplicity": k % 5,
            "adequacy": 3,
            "fluency": 2.5,
        }
        for k in range(4)
    }
    path = write_json(root / "muss.json", examples)
    return Made(path, (path,), {"language": "en"})


def make_okvqa_eval(root: Path) -> Made:
    examples = {
        str(k): {
            "source_question": f"What is {k}?",
            "hypothesis": f"A cat {k} é.",
            "references": ["cat", "kitten"],
            "possibility": [0, 1],
            "obviousness": [10 * k, 20],
            "correctness": [0, 2],
        }
        for k in (1, 2)
    }
    path = write_json(root / "OkVQA.json", examples)
    return Made(path, (path,))


def make_pascal_50s(root: Path) -> Made:
    captions = [[f"A dog {k} ran.", "Ein Hündchen."] for k in (1, 1, 2, 2)]
    value = {
        "pascal50s": {"reference": captions, "candidate": ["dog", "cat", "sun", "moon"], "score": [1, 0, 0.5, 0.5]}
    }
    path = write_json(root / "pascal50s.json", value)
    return Made(path, (path,))


def make_paws(root: Path) -> Made:
    pairs = [
        ("b'Who is Ann ?'", 'b"Is it Ann who \'s here ?"', 1),
        ("b'A\\xc3\\xa4 ?'", "Plain é ?", 0),
        ("C ?", "D ?", 0),
    ]
    rows = [f"{k}\t{first}\t{second}\t{label}" for k, (first, second, label) in enumerate(pairs, 1)]
    path = write_lines(root / "dev_and_test.tsv", ["id\tsentence1\tsentence2\tlabel", *rows])
    return Made(path, (path,))


def make_esa(root: Path) -> Made:
    """Two systems and a reference on two segments: one item of a tutorial, one that was spoiled, and spans."""
    systems = ("refA", "ONLINE-B", "AIRC")
    items: list[dict[str, Any]] = [
        {"documentID": "tutorial", "itemID": 1, "itemType": "TGT", "sourceText": "Der Hund.", "targetText": "The dog."}
    ]
    for n, (segment, system) in enumerate(((segment, system) for segment in (11, 12) for system in systems), 2):
        item = {"documentID": f"doc#{system}", "itemID": n, "itemType": "TGT", "sourceText": f"Source {segment} é"}
        items.append(item | {"targetText": f"{system} {segment}", "_item": f"{system} | {segment} | doc"})
    spoiled = {**items[-1], "documentID": "doc#AIRC#bad1", "itemID": 8, "itemType": "BAD", "targetText": "Spoiled."}
    items.append(spoiled)
    spans = [{"start_i": 0, "end_i": 3, "severity": "major", "error_type": None}]
    lines = [
        f"engdeu6901,wmt23.{item['documentID'].split('#')[-1] if '#bad' not in item['documentID'] else 'AIRC'},"
        f"{item['itemID']},{item['itemType']},eng,deu,{90 - 7 * k},{item['documentID']},False,"
        + ("[]" if k % 2 else '"' + json.dumps(spans).replace('"', '""') + '"')
        + f",17113173{k}.5,17113173{k}.75"
        for k, item in enumerate(items)
    ]
    folder = root / "data" / "campaign-ruction-rc5"
    files = [
        write_lines(folder / "240315rc5ESA.scores.csv", lines),
        write_json(folder / "data" / "batches_wmt23_en-de_esa.json", [{"task": {"batchNo": 1}, "items": items}]),
        write_lines(
            root / "data" / "Annotators_mapping.csv", ["AnnotatorID,protocol,login,,", "1195751,ESA,engdeu6901,,"]
        ),
    ]
    return Made(root, tuple(files))


def make_flickr8k(root: Path) -> Made:
    images = ("a.jpg", "b.jpg", "c.jpg")
    captions = [f"{image}#{n}\tCaption {n} of {image} ä ." for image in images for n in range(2)]
    expert = [
        "a.jpg\tb.jpg#0\t1\t2\t1",
        "a.jpg\tc.jpg#1\t4\t4\t3",
        "b.jpg\tb.jpg#1\t4\t4\t4",
        "b.jpg\ta.jpg#0\t1\t1\t1",
    ]
    crowd = ["a.jpg\tb.jpg#0\t0.333333333333333\t1\t2", "c.jpg\ta.jpg#1\t1\t3\t0"]
    files = [
        write_lines(root / "Flickr8k.token.txt", captions),
        write_lines(root / "ExpertAnnotations.txt", expert),
        write_lines(root / "CrowdFlowerAnnotations.txt", crowd),
    ]
    return Made(root, tuple(files), {"judgments": "all"})


def make_efficientqa(root: Path) -> Made:
    items = [
        {
            "question": f"who wrote {k}",
            "answer": ["Änne", "Anna"][: k + 1],
            "def_correct_predictions": [f"anna {k}"],
            "poss_correct_predictions": ["a woman"] * k,
            "def_incorrect_predictions": ["nobody", "a cat"],
        }
        for k in (0, 1)
    ]
    path = write_json_lines(root / "NQ-open.efficientqa.test.1.1.jsonl", items)
    return Made(path, (path,))


def make_wmt19_darr(root: Path) -> Made:
    items = [
        {
            "lp": "gu-en",
            "src": f"ગુજ {k}",
            "ref": f"The reference {k}.",
            "better_sys": better,
            "better": f"{better} says {k}.",
            "worse_sys": worse,
            "worse": f"{worse} says {k}.",
        }
        for k in (1, 2)
        for better, worse in (("NEU.1", "UEDIN.2"), ("NEU.1", "online.0"))
    ]
    path = write_json_lines(root / "gu-en.jsonl", items)
    return Made(path, (path,))


def rated_documents(systems: Sequence[str], scores: Mapping[str, float]) -> dict[str, Any]:
    """Three documents as BARTScore has them, with a text and scores of each system."""
    return {
        f"d{k}": {
            "src": f"A long source é {k}.",
            "ref_summ": f"Reference {k}.",
            "sys_summs": {
                system: {
                    "sys_summ": f"{system} says {k}.",
                    "scores": {name: low + k / 2 for name, low in scores.items()},
                }
                for system in systems
            },
        }
        for k in (0, 1, 2)
    }


def make_newsroom(root: Path) -> Made:
    dimensions = dict.fromkeys(("coherence", "fluency", "informativeness", "relevance"), 2.0)
    path = write_json(root / "newsroom.json", rated_documents(("lede3", "textrank"), {**dimensions, "rouge1_f": 0.1}))
    return Made(path, (path,))


def make_qags(root: Path) -> Made:
    """UniEval's layout: a list of records."""
    records = [
        {
            "doc_id": k,
            "system_id": 0,
            "source": f"An article é {k}.",
            "reference": f"An article é {k}.",
            "system_output": f"It says {k}.",
            "scores": {"consistency": k / 2},
        }
        for k in (0, 1, 2)
    ]
    path = write_json(root / "qags_cnndm.json", records)
    return Made(path, (path,))


def make_rank19(root: Path) -> Made:
    documents = rated_documents(("correct", "incorrect"), {"fact": 0.0})
    path = write_json(root / "rank19.json", documents)
    return Made(path, (path,))


def make_dialogue_acts(name: str) -> Callable[[Path], Made]:
    def make(root: Path) -> Made:
        documents = {
            str(k): {
                "src": f"inform(area='x{k // 2}')",
                "sys_summ": f"It is in é {k}.",
                "ref_summs": [f"Reference {k // 2}.", f"Another {k // 2}.", f"Reference {k // 2}."],
                "scores": {"informativeness": 1.0 + k, "naturalness": 2.5, "quality": 6.0 - k},
            }
            for k in range(4)
        }
        path = write_json(root / f"{name}.json", documents)
        return Made(path, (path,))

    return make


def make_psqm(root: Path) -> Made:
    lines = ["system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tscore"]
    for k in (1, 2):
        for system in ("Human-A.0", "Online-B.1605"):
            said = f'{system} says "{k} ä'
            lines += [f"{system}\ttalk.{k}\t1\t{k}\trater{r}\tQuelle {k}\t{said}\t{(k + r) % 7}" for r in (1, 2)]
    path = write_lines(root / "newstest2020" / "zhen" / "psqm_newstest2020_zhen.tsv", lines)
    return Made(root, (path,))


MAKERS: Mapping[str, Callable[[Path], Made]] = {
    "asset": make_asset,
    "bagel": make_dialogue_acts("bagel"),
    "efficientqa": make_efficientqa,
    "esa": make_esa,
    "flickr8k": make_flickr8k,
    "multi-summeval": make_multi_summeval,
    "muss": make_muss,
    "newsroom": make_newsroom,
    "okvqa-eval": make_okvqa_eval,
    "pascal-50s": make_pascal_50s,
    "psqm": make_psqm,
    "paws": make_paws,
    "qags": make_qags,
    "rank19": make_rank19,
    "realsumm": make_realsumm,
    "sfhot": make_dialogue_acts("sfhot"),
    "sfres": make_dialogue_acts("sfres"),
    "simplicity-da": make_simplicity_da,
    "summeval": make_summeval,
    "webnlg-2017": make_webnlg_2017,
    "webnlg-2020": make_webnlg_2020,
    "wmt19-darr": make_wmt19_darr,
}
