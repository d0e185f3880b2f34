"""Files that command lines read: tables of ratings and of answers, judgments of other tools, new outputs, mistakes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

COUNTS = """annotator,right,wrong,kind
ann,19,1,positive
ann,18,1,negative
bob,20,0,positive
bob,0,16,negative
cid,2,0,positive
dee,9,3,negative
eli,30,2,positive
eli,14,0,negative
fay,1,1,positive
"""

NOTICES = """id,system,text,reference,adequacy
1,keywords,Museum Friday.,The museum opens again on Friday.,2
1,neural,The museum opens on Friday again.,The museum opens again on Friday.,5
1,Human-Kim,From Friday you can visit the museum again.,The museum opens again on Friday.,5
2,keywords,"Bus 7, bridge.",Bus 7 does not stop at the bridge today.,2
2,neural,Bus 7 does stop at the bridge today.,Bus 7 does not stop at the bridge today.,1
2,Human-Kim,Today bus 7 skips the bridge.,Bus 7 does not stop at the bridge today.,5
"""

FACTS = """task = "Write a notice"
licence = "CC0-1.0"
citation = "None"
protocol = "Each notice was rated once, from 1 to 5"
annotators = "One person"
[languages]
output = "en"
[definition]
adequacy = "Does the notice say what happened?"
"""

LOOSE = """\
{"id": "1", "key": "a", "output": "A dog runs.", "reference": "A dog is running.", "good": 1, "labels": "dog"}
{"id": "1", "key": "b", "output": "A cat sits.", "reference": "A dog is running.", "good": 0, "labels": "dog"}
{"id": "2", "key": "c", "output": "Two boats at sea.", "reference": "Boats at sea.", "good": 1, "labels": "boat,sea"}
"""

LOOSE_FACTS = """licence = "CC0-1.0"
task = "Say what there is"
citation = "None"
protocol = "Good or bad"
annotators = "One person"
source = "Invented"
[languages]
input = "en"
output = "en"
[definition]
good = "Is it right?"
"""

BROKEN = """schema = 1
name = "broken"
ranks = "beauty"
metrics = ["chrF"]
colour = "blue"
"""


def write_inputs(folder: Path, harbour: Path) -> None:
    """Everything in a folder, about the board `harbour`."""
    folder.mkdir()
    outputs = {name: _texts(harbour / "generators" / f"{name}.jsonl") for name in ("Atlas", "Chant")}
    instances = [json.loads(line) for line in (harbour / "instances.jsonl").read_text("utf-8").splitlines()]
    for name, text in (("counts.csv", COUNTS), ("notices.csv", NOTICES), ("facts.toml", FACTS)):
        (folder / name).write_text(text, "utf-8")
    for name, text in (
        ("loose.jsonl", LOOSE),
        ("loose.toml", LOOSE_FACTS),
        ("mtme.toml", LOOSE_FACTS.partition("[definition]")[0]),
    ):
        (folder / name).write_text(text, "utf-8")
    _write_new_outputs(folder, outputs["Atlas"])
    _write_ratings(folder / "ratings.csv")
    _write_appraise(folder / "appraise.csv")
    _write_judgments(folder, instances, outputs)
    broken = folder / "broken"
    (broken / "generators").mkdir(parents=True)
    (broken / "board.toml").write_text(BROKEN, "utf-8")
    (broken / "instances.jsonl").write_text('{"id": "a", "input": "x"}\n{"id": "a"}\n{"id": 3}\n{"id"\n', "utf-8")
    (broken / "generators" / "M.jsonl").write_text('{"instance": "z", "text": "y"}\n', "utf-8")


def _texts(path: Path) -> dict[str, str]:
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return {line["instance"]: line["text"] for line in lines}


def _write_new_outputs(folder: Path, texts: Mapping[str, str]) -> None:
    """Outputs for an ensemble, scores of its metrics that can't run, and candidates for an audit."""
    some = list(texts.items())[:6]
    shorter = [{"instance": instance, "text": " ".join(text.split()[:-2])} for instance, text in some]
    (folder / "new.jsonl").write_text("".join(json.dumps(line) + "\n" for line in shorter), "utf-8")
    rows = [["instance", "Vessel", "Rate"]]
    rows += [[instance, f"0.{7 - k % 3}1", f"-0.{k}2"] for k, (instance, _) in enumerate(some)]
    (folder / "new_scores.tsv").write_text(_joined(rows, "\t"), "utf-8")
    rows = [["instance", "QE"], *([instance, f"0.{k}5"] for k, (instance, _) in enumerate(some))]
    (folder / "new_qe.tsv").write_text(_joined(rows, "\t"), "utf-8")
    candidates: list[dict[str, Any]] = []
    for instance, text in texts.items():
        words = text.split()
        candidates.append({"instance": instance, "texts": [text, " ".join(words[::-1]), " ".join(words + words[:4])]})
    (folder / "candidates.jsonl").write_text("".join(json.dumps(line) + "\n" for line in candidates), "utf-8")


def _write_ratings(path: Path) -> None:
    """A table with a rating a row: five annotators, one severe, over three days."""
    chance = random.Random(21)
    severity = {"u": 0.0, "v": 0.3, "w": -0.2, "x": -1.0, "y": 0.1}
    rows = [["item", "system", "who", "rating", "when"]]
    for item in range(12):
        for system, mean in (("s1", 4.2), ("s2", 3.1)):
            for who in chance.sample(sorted(severity), 3):
                rating = min(5, max(1, round(mean + severity[who] + chance.gauss(0, 0.6))))
                rows.append([f"i{item}", system, who, str(rating), f"2026-04-0{1 + item // 4}T1{item % 4}:00:00Z"])
    path.write_text("".join(",".join(row) + "\n" for row in rows), "utf-8")


def _write_appraise(path: Path) -> None:
    """Four annotators with 15 controls each; the last one doesn't see a fault."""
    lines = []
    for annotator in "abcd":
        for item in range(15):
            bad = 90 if annotator == "d" else 20 + item
            lines.append(f"{annotator},s,{item},TGT,eng,deu,{60 + item},doc{item}#s,False,[],1,2\n")
            lines.append(f"{annotator},s,{item + 50},BAD,eng,deu,{bad},doc{item}#s#bad1,False,[],1,2\n")
    path.write_text("".join(lines), "utf-8")


def _write_judgments(
    folder: Path, instances: Sequence[Mapping[str, Any]], outputs: Mapping[str, Mapping[str, str]]
) -> None:
    """New judgments of two generators in every format that is read."""
    first = instances[:5]
    plain = [["instance", "generator", "annotator", "dimension", "value"]]
    mqm = [["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]]
    appraise: list[str] = []
    tasks: list[dict[str, Any]] = []
    for k, instance in enumerate(first):
        for name, texts in outputs.items():
            key = str(instance["id"])
            plain.append([key, name, "zoe", "warmth", str(1 + (k + len(name)) % 5)])
            marked = texts[key].replace("seats", "<v>seats</v>", 1) if k % 2 else texts[key]
            severity = ("Accuracy/Mistranslation", "major") if "<v>" in marked else ("No-error", "no-error")
            document = str(instance["document"])
            mqm.append([name, document, "1", key, "rater1", str(instance["input"]), marked, *severity])
            span = '"[{""start_i"":0,""end_i"":3,""severity"":""minor"",""error_type"":null}]"' if k == 1 else "[]"
            appraise.append(f"zed,{name},{k + 1},TGT,eng,eng,{70 + k},{document}#{name},False,{span},10.5,17.25\n")
            tasks.append(_task(key, name, k))
    (folder / "judgments.csv").write_text(_joined(plain, ","), "utf-8")
    (folder / "mqm.tsv").write_text(_joined(mqm, "\t"), "utf-8")
    (folder / "appraise_harbour.csv").write_text("".join(appraise), "utf-8")
    (folder / "label_studio.json").write_text(json.dumps(tasks), "utf-8")


def _task(instance: str, generator: str, k: int) -> dict[str, Any]:
    result = {"from_name": "warmth", "to_name": "text", "type": "rating", "value": {"rating": 1 + k % 5}}
    annotation = {"id": k, "completed_by": 7, "result": [result], "created_at": "2026-05-01T12:00:00Z"}
    return {"id": k, "data": {"instance": instance, "generator": generator}, "annotations": [annotation]}


def _joined(rows: Iterable[Sequence[str]], separator: str) -> str:
    return "".join(separator.join(row) + "\n" for row in rows)
