"""Scores a few texts and compares with the numbers that every machine must give: the same on all systems, bit for bit.

    python tools/portable_numbers.py

The wheel that was just built is tried so on each system that it is built for; nothing but the package is needed.
"""

from __future__ import annotations

import sys

import billboards as bb

OUTPUTS = ["The cat sat on the mat .", "He did n't buy a red car yesterday , she says .", "It rains in Berlin ."]
REFERENCES = [
    "A cat was sitting on the mat .",
    "She says he did not buy the red car yesterday .",
    "It is raining in Berlin .",
]
#: From Linux on x86-64, as `repr` writes them.
EXPECTED: dict[str, float] = {
    "BLEU": 22.976047739396787,
    "chrF": 51.971885150484056,
    "chrF++": 51.07171386843936,
    "TER": 36.0,
    "ROUGE-1": 0.6813186813186812,
    "ROUGE-L": 0.6178266178266177,
    "WER": 52.0,
    "CER": 42.15686274509804,
}


def measured() -> dict[str, float]:
    return {name: float(bb.metric(name).score(OUTPUTS, REFERENCES).corpus) for name in EXPECTED}


def main() -> int:
    wrong = {name: value for name, value in measured().items() if value != EXPECTED[name]}
    for name, value in wrong.items():
        print(f"{name}: {value!r}, and not {EXPECTED[name]!r}")
    print(f"{len(EXPECTED) - len(wrong)} of {len(EXPECTED)} metrics give the expected numbers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
