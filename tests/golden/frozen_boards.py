"""The boards that a version is frozen with: invented texts, judgments drawn by a seed, everything a folder can hold.

`harbour` has three references, people and machines, two campaigns of judgments, scores that came with the data, and
slices of every kind; on `versus` people only compared outputs; `captions` has outputs without generators and levels; on
`quiet` nobody judged; the inputs of `articles` are longer. Files are written as the board folder's description has
them, by no code of the package.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import billboards as bb

SHIPS = ("Petrel", "Swift", "Osprey", "Curlew", "Tern", "Avocet", "Dunlin", "Plover")
PIERS = ("pier one", "pier two", "the north quay", "the old harbour", "the stone jetty", "the east basin")
ISLANDS = ("Skerry", "Holm", "Farness", "Gull Rock", "Lind", "Brae")
HOURS = ("six", "seven", "half past eight", "nine", "noon", "two", "a quarter past four", "eight")
SKIES = ("fog", "strong wind", "high waves", "rain", "clear skies", "thunder")
DOMAINS = ("ferry", "weather", "market")

#: How far from the record each machine's notices are, from 0 to 1.
MACHINES = {"Atlas": 0.05, "Brisk": 0.3, "Chant": 0.4, "Drift": 0.7, "Echo": 0.55}

HARBOUR = """schema = 1
name = "harbour"
ranks = "overall"
metrics = ["BLEU", "chrF", "TER", "ROUGE-L", "CIDEr-D", "length"]

[languages]
input = "en"
output = "en"

[dimensions.adequacy]
range = [1, 5]
definition = "Does the notice say what the record says?"

[dimensions.fluency]
range = [1, 5]
to_100 = [20, 0]
definition = "Does the notice read well?"

[dimensions.appeal]
range = [0, 100]
definition = "How gladly would one read it?"

[dimensions.slips]
range = [0, 10]
higher_is_better = false
definition = "How many slips were counted?"

[aggregates.overall]
dimensions = ["adequacy", "fluency"]
campaigns = ["experts"]

[aggregates.crowd]
dimensions = ["appeal"]
campaigns = ["crowd"]

[generators.Mara]
kind = "human"
description = "Writes freely from the record."

[generators.Ben]
kind = "human"
description = "Wrote the second reference, too."

[generators.Atlas]
description = "Templates with every fact."
paper = "None, it is invented"
url = "https://example.org/atlas"

[scores.QE]
needs = ["input"]

[scores.Rate]
higher_is_better = false
references = ["Ada", "Ben"]

[scores.mix]
is_ensemble = true

[scores.sentBLEU]
name = "BLEU"

[card]
title = "Notices of a harbour"
task = "Write a notice from a small record."
source = "Invented."
licence = "Apache-2.0"
citation = "None"
protocol = "Ratings drawn by a seed: two experts on every output, a crowd on some."
annotators = "Nobody; names stand for streams of random numbers."
"""

VERSUS = """schema = 1
name = "versus"
ranks = "better"
metrics = ["BLEU", "chrF", "ROUGE-1", "length"]

[languages]
output = "en"

[dimensions.better]
kind = "preference"
definition = "Which notice is better?"

[generators.Mara]
kind = "human"

[card]
title = "Notices, compared"
task = "Write a notice from a small record."
source = "Invented."
licence = "Apache-2.0"
citation = "None"
protocol = "Two or three notices side by side."
annotators = "Nobody; names stand for streams of random numbers."
"""

CAPTIONS = """schema = 1
name = "captions"
ranks = "fits"
metrics = ["chrF", "ROUGE-1", "CIDEr", "length"]
lead = "own"
reference_free = "ranks"

[languages]
output = "en"

[dimensions.level]
range = [1, 4]
definition = "How well does the caption fit the picture?"

[dimensions.right]
levels_of = "level"
at_least = 3
definition = "The caption is right."

[aggregates.fits]
dimensions = ["level"]

[scores.chrF]

[scores.vision]
needs = []

[card]
title = "Captions of pictures that are not there"
comments = "Outputs that belong to no generator, and facts that nobody stated."
"""

QUIET = """schema = 1
name = "quiet"
metrics = ["chrF", "TER", "SARI", "abstractness-2", "repetition-2", "ngram-perplexity"]
references = ["Ada"]

[languages]
input = "en"
output = "en"

[card]
title = "Notices that nobody judged"
"""

ARTICLES = """schema = 1
name = "articles"
ranks = "gist"
metrics = ["chrF", "ROUGE-2", "length", "abstractness-1"]

[languages]
input = "en"
output = "en"

[dimensions.gist]
range = [1, 5]
definition = "Does the summary give the gist?"

[generators.Nora]
kind = "human"

[card]
title = "News of a harbour"
task = "Summarise a report in a sentence or two."
"""

SUITE = """name = "coast"
title = "Two boards of one coast"
metrics = ["BLEU", "chrF", "ROUGE-L", "length"]

[families]
n-gram = ["BLEU", "ROUGE-L"]
characters = ["chrF"]

[[boards]]
folder = "harbour"
label = "Harb"
task = "notices"
correctness = "adequacy"
others = ["fluency", "crowd"]
difficulty = 2
weight = 2

[[boards]]
folder = "versus"
label = "Vs"
task = "notices"
correctness = "better"
difficulty = 1
"""

SHARED_WORDS = '''"""The share of a reference's words that the output has."""

NAME = "shared-words"
NEEDS = ["references"]


def score(outputs, references, inputs):
    return [max(recall(output, text) for text in texts) for output, texts in zip(outputs, references, strict=True)]


def recall(output, reference):
    words = set(reference.lower().split())
    return len(words & set(output.lower().split())) / max(len(words), 1)
'''


def write_boards(folder: Path) -> None:
    """All five boards and the suite's file, in a folder."""
    write_harbour(folder / "harbour")
    write_versus(folder / "versus")
    write_captions(folder / "captions")
    write_quiet(folder / "quiet")
    write_articles(folder / "articles")
    (folder / "suite.toml").write_text(SUITE, "utf-8")
    (folder / "shared_words.py").write_text(SHARED_WORDS, "utf-8")


def write_harbour(folder: Path, instances: int = 24) -> None:
    """The board with everything but comparisons."""
    chance = random.Random(11)
    records = [_record(k, chance) for k in range(instances)]
    _write(folder / "board.toml", HARBOUR)
    _lines(folder / "instances.jsonl", (_instance(record, "Ada", "Ben", "Eve") for record in records))
    outputs = _outputs(records, chance)
    for name, texts in outputs.items():
        _lines(folder / "generators" / f"{name}.jsonl", _texts(texts))
    _lines(folder / "judgments" / "experts.jsonl", _expert_lines(records, outputs, chance))
    _lines(folder / "judgments" / "crowd.jsonl", _crowd_lines(records, outputs, chance))
    for metric, noise in (("Vessel", 0.2), ("QE", 0.35), ("Rate", 0.3), ("mix", 0.15)):
        _scores(folder / "scores" / f"{metric}.tsv", records, outputs, chance, noise, -1 if metric == "Rate" else 1)
    _write(folder / "scores" / "sentBLEU.tsv", _released_bleu(records, outputs))


def write_versus(folder: Path, instances: int = 16) -> None:
    """The board where outputs were only compared."""
    chance = random.Random(12)
    records = [_record(k, chance) for k in range(instances)]
    _write(folder / "board.toml", VERSUS)
    _lines(folder / "instances.jsonl", (_instance(record, "Ada", "Ben") for record in records))
    outputs = {name: texts for name, texts in _outputs(records, chance).items() if name not in ("Ben", "Echo")}
    for name, texts in outputs.items():
        _lines(folder / "generators" / f"{name}.jsonl", _texts(texts))
    _lines(folder / "judgments" / "pairs.jsonl", _pair_lines(records, outputs, chance))


def write_captions(folder: Path, instances: int = 10) -> None:
    """The board of outputs without generators, some references missing, and levels."""
    chance = random.Random(13)
    records = [_record(k, chance) for k in range(instances)]
    _write(folder / "board.toml", CAPTIONS)
    pictures = []
    for k, record in enumerate(records):
        names = ("Ada", "Ben") if k % 3 else ("Ada",)
        texts = [_reference(record, name) for name in names]
        pictures.append({"id": record["id"], "image": f"pictures/{k}.jpg", "references": texts})
    _lines(folder / "instances.jsonl", pictures)
    outputs, judged = [], []
    for k, record in enumerate(records):
        for place, (name, off) in enumerate(list(MACHINES.items())[: 2 + k % 3]):
            output = f"caption-{k}-{place}"
            outputs.append({"instance": record["id"], "id": output, "text": _machine(name, record, off, chance)})
            for annotator in ("p1", "p2"):
                level = min(4, max(1, round(4 - 3 * off + chance.gauss(0, 0.6))))
                judged.append(
                    {"instance": record["id"], "output": output, "values": {"level": level}, "annotator": annotator}
                )
    _lines(folder / "outputs.jsonl", outputs)
    _lines(folder / "judgments" / "people.jsonl", judged)
    rows = [f"#{place}" for place in range(1, 5)]
    lines = ["\t".join(["instance", *rows])]
    for k, record in enumerate(records):
        cells = [f"{chance.uniform(0.2, 0.9):.4f}" if place < 2 + k % 3 else "" for place in range(4)]
        lines.append("\t".join([str(record["id"]), *cells]))
    _write(folder / "scores" / "vision.tsv", "\n".join(lines) + "\n")
    _write(folder / "scores" / "chrF.tsv", "\n".join(lines) + "\n")


def write_quiet(folder: Path, instances: int = 8) -> None:
    """The board without judgments."""
    chance = random.Random(14)
    records = [_record(k, chance) for k in range(instances)]
    _write(folder / "board.toml", QUIET)
    _lines(folder / "instances.jsonl", (_instance(record, "Ada", "Ben") for record in records))
    for name, texts in list(_outputs(records, chance).items())[:3]:
        _lines(folder / "generators" / f"{name}.jsonl", _texts(texts))


def write_articles(folder: Path, instances: int = 6) -> None:
    """The board of longer inputs, of which sentences can be taken."""
    chance = random.Random(15)
    records = [_record(k, chance) for k in range(instances)]
    _write(folder / "board.toml", ARTICLES)
    lines, judged = [], []
    outputs: dict[str, dict[str, str]] = {name: {} for name in ("Lead", "Last", "Both", "Nora")}
    for record in records:
        instance, report = str(record["id"]), _report(record)
        references = [_reference(record, name) for name in ("Ada", "Ben")]
        lines.append({"id": instance, "input": " ".join(report), "references": references})
        outputs["Lead"][instance], outputs["Last"][instance] = report[0], report[-1]
        outputs["Both"][instance] = f"{report[0]} {report[-1]}"
        outputs["Nora"][instance] = _free(record, chance)
        for name in outputs:
            for annotator in ("r1", "r2"):
                mean = {"Lead": 3.2, "Last": 1.8, "Both": 3.8, "Nora": 4.6}[name]
                values = {"gist": min(5, max(1, round(mean + chance.gauss(0, 0.7))))}
                judged.append({"instance": instance, "generator": name, "values": values, "annotator": annotator})
    _lines(folder / "instances.jsonl", lines)
    for name, texts in outputs.items():
        _lines(folder / "generators" / f"{name}.jsonl", _texts(texts))
    _lines(folder / "judgments" / "readers.jsonl", judged)


def _report(record: Mapping[str, Any]) -> list[str]:
    sentences = (
        "The {ship} is to leave {pier} for {island} at {hour}.",
        "The harbour master, who has seen many a year of {sky}, does not expect any delay.",
        "{seats} seats are on sale at the window until an hour before.",
        "Nobody was hurt when a crate fell into the water last week.",
        "On {island} a band will play.",
    )
    return [sentence.format(**record) for sentence in sentences]


def _record(k: int, chance: random.Random) -> dict[str, Any]:
    return {
        "id": f"n{k + 1:02}",
        "ship": chance.choice(SHIPS),
        "pier": chance.choice(PIERS),
        "island": chance.choice(ISLANDS),
        "hour": chance.choice(HOURS),
        "sky": chance.choice(SKIES),
        "seats": chance.randrange(12, 90),
        "document": f"day-{k // 4 + 1}",
        "domain": DOMAINS[k % 3],
    }


def _instance(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    tags = ["warning"] if record["sky"] in ("fog", "thunder", "high waves") else []
    tags += ["large"] if record["seats"] > 50 else []
    line = {
        "id": record["id"],
        "input": f"ship: {record['ship']}; to: {record['island']}; from: {record['pier']}; at: {record['hour']}; "
        f"sky: {record['sky']}; seats: {record['seats']}",
        "references": [_reference(record, name) for name in names],
        "document": record["document"],
        "domain": record["domain"],
    }
    return line | ({"tags": tags} if tags else {})


def _reference(record: Mapping[str, Any], name: str) -> dict[str, str]:
    wordings = {
        "Ada": "The {ship} leaves {pier} for {island} at {hour}. Expect {sky}; there are {seats} seats.",
        "Ben": "At {hour} the {ship} sails from {pier} to {island} with {seats} seats, and {sky} is expected.",
        "Eve": "{seats} seats are free on the {ship}, which goes to {island} from {pier} at {hour}. "
        "Look out for {sky}.",
    }
    return {"name": name, "text": wordings[name].format(**record)}


def _outputs(records: list[dict[str, Any]], chance: random.Random) -> dict[str, dict[str, str]]:
    """Every generator's text by instance; Echo lacks the last two."""
    outputs: dict[str, dict[str, str]] = {}
    for name, off in MACHINES.items():
        told = records[:-2] if name == "Echo" else records
        outputs[name] = {str(record["id"]): _machine(name, record, off, chance) for record in told}
    outputs["Mara"] = {str(record["id"]): _free(record, chance) for record in records}
    outputs["Ben"] = {str(record["id"]): _reference(record, "Ben")["text"] for record in records}
    return outputs


def _machine(name: str, record: Mapping[str, Any], off: float, chance: random.Random) -> str:
    told = dict(record)
    if chance.random() < off:
        told["hour"] = chance.choice(HOURS)
    if chance.random() < off:
        told["island"] = chance.choice(ISLANDS)
    if chance.random() < off:
        told["seats"] = chance.randrange(12, 90)
    wordings = {
        "Atlas": "The {ship} leaves {pier} for {island} at {hour}. Expect {sky}. There are {seats} seats.",
        "Brisk": "{ship} to {island} at {hour}, {seats} seats.",
        "Chant": "Dear passengers, dear passengers: the {ship} leaves at {hour}, the {ship} leaves for {island}, "
        "with {seats} seats for all who come to {pier}.",
        "Drift": "The {ship} leave of {island} at {hour} and seats is {seats} with {sky}.",
        "Echo": "At {hour} the {ship} sails to {island}, and {sky} is expected.",
    }
    text = wordings[name].format(**told)
    if chance.random() < off / 2:
        words = text.split()
        del words[chance.randrange(len(words))]
        text = " ".join(words)
    return text


def _free(record: Mapping[str, Any], chance: random.Random) -> str:
    wordings = (
        "Anyone bound for {island} should be at {pier} before {hour}: the {ship} takes {seats} people. Mind the {sky}.",
        "With {sky} about, the {ship} will still try for {island}. {seats} may come along; she casts off from {pier} "
        "at {hour}.",
        "{island}, {hour}: that is the {ship}'s plan today, {seats} seats and {sky} included, starting at {pier}.",
    )
    return chance.choice(wordings).format(**record)


def _texts(texts: Mapping[str, str]) -> Iterable[dict[str, str]]:
    return ({"instance": instance, "text": text} for instance, text in texts.items())


def _quality(name: str, instance: str) -> float:
    """How good an output is in truth, from 0 to 1: the same for everyone who judges it."""
    off = MACHINES.get(name, 0.1 if name == "Mara" else 0.02)
    return min(1.0, max(0.0, 1 - off + random.Random(f"{name}/{instance}").gauss(0, 0.15)))


def _expert_lines(
    records: list[dict[str, Any]], outputs: Mapping[str, Mapping[str, str]], chance: random.Random
) -> Iterable[dict[str, Any]]:
    """Two experts rate every output on two dimensions; the first counts slips, too, and answers test questions."""
    for k, record in enumerate(records):
        for name, texts in outputs.items():
            if record["id"] not in texts:
                continue
            for place, annotator in enumerate(("exp-1", "exp-2")):
                quality = _quality(name, str(record["id"])) - 0.08 * place
                values = {
                    "adequacy": min(5, max(1, round(1 + 4 * quality + chance.gauss(0, 0.5)))),
                    "fluency": min(5, max(1, round(2 + 3 * quality + chance.gauss(0, 0.7)))),
                }
                line = {"instance": record["id"], "generator": name, "values": values, "annotator": annotator}
                if place == 0 and k % 2:
                    values["slips"] = max(0, round(6 * (1 - quality) + chance.gauss(0, 0.5)))
                if place == 0 and k % 4 == 1:
                    line["spans"] = [{"start": 0, "end": 3, "severity": "minor", "category": "style"}]
                yield line | {"campaign": "experts"}
    for record in records[:6]:
        values = {"adequacy": 5, "fluency": 5}
        line = {"instance": record["id"], "generator": "Ben", "values": values, "annotator": "exp-1"}
        yield line | {"campaign": "experts", "test": "positive"}


def _crowd_lines(
    records: list[dict[str, Any]], outputs: Mapping[str, Mapping[str, str]], chance: random.Random
) -> Iterable[dict[str, Any]]:
    """Four of a crowd rate most outputs, and all of Drift's, on one dimension, on three days; one of them is severe."""
    severity = {"c1": 0, "c2": 5, "c3": -4, "c4": -20}
    for k, record in enumerate(records):
        for name, texts in outputs.items():
            if record["id"] not in texts or name == "Ben" or (k % 3 == 2 and name != "Drift"):
                continue
            for annotator in chance.sample(sorted(severity), 2):
                value = 90 * _quality(name, str(record["id"])) + severity[annotator] + chance.gauss(0, 10)
                yield {
                    "instance": record["id"],
                    "generator": name,
                    "values": {"appeal": min(100, max(0, round(value)))},
                    "annotator": annotator,
                    "campaign": "crowd",
                    "time": f"2026-03-{k // 8 + 1:02}T{8 + k % 8:02}:{chance.randrange(60):02}:00Z",
                }


def _pair_lines(
    records: list[dict[str, Any]], outputs: Mapping[str, Mapping[str, str]], chance: random.Random
) -> Iterable[dict[str, Any]]:
    """Pairs with ties, and orders of three."""
    names = sorted(outputs)
    for k, record in enumerate(records):
        instance = str(record["id"])

        def seen(name: str, instance: str = instance) -> float:
            return _quality(name, instance) + chance.gauss(0, 0.12)

        for annotator in ("p1", "p2", "p3"):
            first, second = chance.sample(names, 2)
            gap = seen(first) - seen(second)
            prefers: str | list[str] = [] if abs(gap) < 0.05 else first if gap > 0 else second
            line = {"instance": instance, "generators": [first, second], "prefers": prefers, "dimension": "better"}
            yield line | {"annotator": annotator}
        three = chance.sample(names, 3)
        order: list[Any] = sorted(three, key=seen, reverse=True)
        if k % 4 == 0:
            order = [order[0], sorted(order[1:])]
        yield {"instance": instance, "generators": three, "order": order, "dimension": "better", "annotator": "p4"}


def _scores(
    path: Path,
    records: list[dict[str, Any]],
    outputs: Mapping[str, Mapping[str, str]],
    chance: random.Random,
    noise: float,
    sign: int,
) -> None:
    """Released scores that follow the truth with noise; one cell is missing."""
    lines = ["\t".join(["instance", *outputs])]
    for k, record in enumerate(records):
        cells = []
        for name, texts in outputs.items():
            value = sign * (_quality(name, str(record["id"])) + chance.gauss(0, noise))
            absent = record["id"] not in texts or (path.stem == "Vessel" and name == "Drift" and k == 3)
            cells.append("" if absent else f"{value:.4f}")
        lines.append("\t".join([str(record["id"]), *cells]))
    _write(path, "\n".join(lines) + "\n")


def _released_bleu(records: list[dict[str, Any]], outputs: Mapping[str, Mapping[str, str]]) -> str:
    """The package's own BLEU, rounded, but for Chant, whose column holds something else."""
    bleu = bb.metric("BLEU")
    columns = {}
    for name, texts in outputs.items():
        told = [record for record in records if record["id"] in texts]
        references = [[_reference(record, who)["text"] for who in ("Ada", "Ben", "Eve")] for record in told]
        scores = bleu.score_batch(bb.Batch([texts[str(record["id"])] for record in told], references))
        sign = -1 if name == "Chant" else 1
        columns[name] = {record["id"]: f"{sign * score:.3f}" for record, score in zip(told, scores, strict=True)}
    lines = [["instance", *outputs]]
    lines += [[str(record["id"]), *(columns[name].get(record["id"], "") for name in outputs)] for record in records]
    return "".join("\t".join(line) + "\n" for line in lines)


def _lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    _write(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
