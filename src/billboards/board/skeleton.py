"""`billboards new`: a small complete board to change into one's own, with every setting explained where it stands.

The skeleton is a working board of two instances, so that opening, checking and ranking it shows what a board does
before any real data are there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from billboards.board._parts import INSTANCES
from billboards.board.names import board_name_mistake
from billboards.board.settings import FILE
from billboards.board.writing import IGNORED, new_folder, write_lines, write_text
from billboards.errors import InvalidInput
from billboards.reading import shown


def write_skeleton(target: Path, name: str) -> Path:
    """Write an example board of that name into a new folder and return its path."""
    if wrong := board_name_mistake(name):
        raise InvalidInput(f"the board name {shown(name)} {wrong}; choose another one with --name")
    with new_folder(target) as root:
        write_text(root / FILE, _BOARD.replace("MY-BOARD", name))
        write_text(root / ".gitignore", IGNORED)
        for path, items in _FILES.items():
            write_lines(root / path, (json.dumps(item, ensure_ascii=False) for item in items))
    return target


_FILES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    INSTANCES: [
        {
            "id": "1",
            "input": "Der Bus kommt um acht.",
            "references": [
                {"name": "A", "text": "The bus comes at eight."},
                {"name": "B", "text": "The bus will be here at eight o'clock."},
            ],
            "document": "timetable",
            "domain": "travel",
            "tags": ["short"],
        },
        {
            "id": "2",
            "input": "Bitte schließen Sie das Fenster, bevor Sie gehen.",
            "references": [
                {"name": "A", "text": "Please close the window before you leave."},
                {"name": "B", "text": "Shut the window before leaving, please."},
            ],
            "document": "notice",
            "domain": "office",
            "tags": [],
        },
    ],
    "generators/example-machine.jsonl": [
        {"instance": "1", "text": "The bus is coming at eight."},
        {"instance": "2", "text": "Please shut the windows before you are going."},
    ],
    "generators/example-human.jsonl": [
        {"instance": "1", "text": "The bus arrives at eight."},
        {"instance": "2", "text": "Please shut the window before you go."},
    ],
    "judgments/example.jsonl": [
        {
            "instance": "1",
            "generator": "example-machine",
            "values": {"adequacy": 5, "fluency": 4},
            "annotator": "ann",
            "campaign": "example",
        },
        {
            "instance": "2",
            "generator": "example-machine",
            "values": {"adequacy": 3, "fluency": 2},
            "annotator": "ann",
            "campaign": "example",
        },
        {
            "instance": "1",
            "generator": "example-human",
            "values": {"adequacy": 5, "fluency": 5},
            "annotator": "ann",
            "campaign": "example",
        },
        {
            "instance": "2",
            "generator": "example-human",
            "values": {"adequacy": 5, "fluency": 5},
            "annotator": "ann",
            "campaign": "example",
        },
    ],
}

_BOARD = """\
# A board: one task, its test set, and who does it how well.
# The test set lies in instances.jsonl, outputs in generators/NAME.jsonl, what people said in judgments/*.jsonl.
# Lines that begin with # are explanations or settings switched off. `billboards check` finds mistakes.

# The version of this format.
schema = 1

# The board's name, as it stands in signatures: letters, digits, dots, dashes and underscores.
name = "MY-BOARD"

# Which judgments rank the metrics: an aggregate or a dimension declared below.
ranks = "quality"

# The metrics that `billboards score` computes when none are named; `billboards metrics` lists those there are.
metrics = ["BLEU", "chrF", "ROUGE-L"]

# Where a metric has scores that came with the data and scores computed here: which of the two leads,
# "imported" or "own".
lead = "imported"

# The references that metrics see, by name. Left out, they see all of them.
# references = ["A"]

# Whether a metric that uses no references may rank generators alone where there are references: "ranks", or
# "diagnostic" when left out.
# reference_free = "diagnostic"

# In which order the board has its generators. Left out, as their files are named.
# order = ["example-machine", "example-human"]

# What ranks the generators: "people", "ensemble" or a metric. Left out, it is what agrees best with people.
# by = "people"

# Judgments that ranked before: agreement with them stands beside, with the drop.
# before = "adequacy"

# Campaigns whose annotators are places in a list, not persons.
# anonymous = ["crowd"]

# What the texts are written in (ISO 639 codes); metrics tokenise accordingly.
[languages]
input = "de"
output = "en"

# A dimension is a quality people judged. [dimensions.NAME] declares one, with
#   range             the lowest and the highest value there can be; judgments outside are mistakes
#   higher_is_better  false where a high value is bad (counts of errors, say); true when left out
#   to_100            slope and intercept of the map to 0-100: value * slope + intercept;
#                     left out, the range is stretched to 0-100
#   definition        what annotators were told it means
#   kind              "preference" where people said which of several outputs is better; "rating" when left out
#   levels_of         another dimension, off whose levels this one is read: 1 where a judgment there is
#   at_least          this high or higher, else 0
[dimensions.adequacy]
range = [1, 5]
higher_is_better = true
to_100 = [20, 0]
definition = "How much of the meaning of the input the output conveys."

[dimensions.fluency]
range = [1, 5]
to_100 = [20, 0]
definition = "How natural and correct the language of the output is."

# An aggregate makes one number per output of several dimensions: the mean over annotators, then over the dimensions,
# on 0-100. An output that lacks one of them has no aggregate. Left out, campaigns are all there are.
# Standardised by annotator, each annotator's ratings become z-scores first; their deviation divides by n - ddof.
[aggregates.quality]
dimensions = ["adequacy", "fluency"]
campaigns = ["example"]
# standardise = "annotator"
# ddof = 1

# Generators are found by their files; one needs an entry here only where there is something to say of it.
# kind is "machine" or "human"; "machine" when left out. `billboards audit` enters what it makes as "optimised", with
# the metric it was made for as optimised_by.
[generators.example-human]
kind = "human"
description = "A person who saw only the input."

[generators.example-machine]
kind = "machine"
description = "An imaginary system."
# What it costs, for `billboards efficiency`: latency in seconds and energy in watt-hours for one output, price in US
# dollars for 1,000 outputs.
# latency = 0.4
# price = 0.12
# energy = 0.03
# parameters = 7_000_000_000
# training_tokens = 2_000_000_000_000
# paper = "Who (year)"
# url = "where it can be found"

# Scores that came with the data lie in scores/NAME.tsv: a line per instance, a column per generator, tabs between.
# Each may have an entry, with
#   name              the metric's usual name, where NAME is another one
#   needs             what the metric looked at beside the output: "references", "input", both or neither
#   references        the references it saw; left out, all of them
#   higher_is_better  false where lower was better: the scores are turned round when read
#   is_ensemble       true for a combination of other metrics, which never enters a new ensemble
#   is_statistic      true for what describes a text without judging it, such as its length: it never leads or joins
#   scores_only       true for scores that somebody sent without what computes them: they never lead or join
#   computed_by       the metric that computes such scores here for generators the file doesn't know: "COMET(model=…)"
# [scores.sentBLEU]
# name = "BLEU"
# needs = ["references"]
# references = ["A"]
# higher_is_better = true
# is_ensemble = false
# is_statistic = false
# scores_only = false
# computed_by = "BLEU"

# What may count. A generator with one of these doubts about at least this share of its outputs gets no rank, and a
# metric that something speaks against (it agrees better with people than they do among themselves, or better with the
# judgments it could see) neither leads nor joins an ensemble, unless flagged is "count" or its name is among admits.
# With a private share, metrics are measured on that part of the documents, chosen by the seed; keep both to yourself.
# [trust]
# bars = ["copies references"]
# bars_from = 0.5
# private_share = 0.3
# private_seed = 20260501
# flagged = "out"
# admits = ["my-metric"]
# barred = { "sent-twice" = "the same system as example-machine" }

# The data card: what a reader must know before trusting the board.
[card]
title = "An example of a board"
task = "Translation from German into English"
source = "Written for this example; replace it by your own data."
licence = "CC0-1.0"
citation = "None; say here how the data want to be cited."
protocol = "Each output was judged on two dimensions from 1 to 5."
annotators = "One imaginary annotator."
comments = "The numbers mean nothing."
# Where outputs are in several languages, say so in words; one language is stated under [languages].
# languages = "English, French"
"""
