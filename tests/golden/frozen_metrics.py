"""A few texts in three languages, and what every metric that runs without a network makes of them.

Specs are as people write them, with options. Metrics on the embedded sentence model are kept with fewer digits, since
their numbers hang on the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import billboards as bb
from billboards.metrics.summed import SummedMetric

OUTPUTS = (
    "The ferry leaves at noon from pier two.",
    "the ferry ferry leaves leaves the pier",
    "Nobody knows when, or whether, the boats will come back to the old harbour.",
    "",
    "It is 12:30 and 3.5 metres deep, isn't it?",
    "Seats: 42! (forty-two)",
)
REFERENCES = (
    ("The ferry departs from pier two at noon.", "At noon the ferry leaves pier two."),
    ("The ferry leaves the pier.", "A ferry is leaving its pier."),
    ("Nobody knows when the boats come back.", "It isn't known when the boats will be back in the old harbour."),
    ("Nothing is said.", "Silence."),
    ("It's half past twelve and 3.5 m deep, isn't it?", "At 12:30 the depth is 3.5 metres."),
    ("There are 42 seats.", "Forty-two seats: 42!"),
)
INPUTS = (
    "ferry: noon; pier two",
    "the ferry leaves the pier now",
    "boats; old harbour; when nobody knows",
    "nothing",
    "12:30; depth 3.5 metres",
    "seats: 42",
)
CHINESE = (("渡轮中午从二号码头出发。", "没有人知道。"), (("渡轮中午离开二号码头。",), ("谁也不知道答案。",)))
GERMAN = (
    ("Die Fähre fährt um zwölf ab.", "Größe: 3,5 m"),
    (("Um zwölf legt die Fähre ab.",), ("Die Größe ist 3,5 m.",)),
)

SPECS = (
    "BLEU", "BLEU(lowercase=True)", "BLEU(tokenize=intl)", "BLEU(smooth=floor)",
    "BLEU(max_ngram_order=2)", "chrF", "chrF(beta=1)", "chrF(char_order=4)", "chrF(whitespace=True)", "chrF++",
    "chrF(word_order=1)", "TER", "TER(normalized=True)", "TER(case_sensitive=True)", "CharacTER", "EED",
    "EED(rho=0.5)", "WER", "CER", "ROUGE-1", "ROUGE-1(stemmer=True)",
    "ROUGE-1(tokenizer=unicode)", "ROUGE-2", "ROUGE-2(references=mean)", "ROUGE-3", "ROUGE-4", "ROUGE-5", "ROUGE-6",
    "ROUGE-7", "ROUGE-8", "ROUGE-9", "ROUGE-L", "ROUGE-Lsum", "CIDEr", "CIDEr-D", "SARI", "length", "ngram-perplexity",
    "ngram-perplexity(n=2)", "repetition-1", "repetition-2", "repetition-3", "abstractness-1", "abstractness-2",
    "abstractness-3",
)  # fmt: skip
FOREIGN = {
    "zh": ("BLEU(tokenize=zh)", "BLEU(tokenize=char)", "chrF", "TER(asian_support=True)", "ROUGE-1(tokenizer=unicode)"),
    "de": ("BLEU", "chrF", "TER", "ROUGE-L(tokenizer=unicode)", "length"),
}
LEARNED = ("BERTScore", "BERTScore(idf=True)", "MoverScore", "sentence-cosine", "source-cosine")


def metric_numbers() -> list[dict[str, Any]]:
    """Scores of every text and, where a metric has one, of all texts together."""
    english = bb.Batch(OUTPUTS, REFERENCES, INPUTS, "en")
    numbers = [_numbers(spec, english, "en") for spec in SPECS]
    for language, (outputs, references) in (("zh", CHINESE), ("de", GERMAN)):
        batch = bb.Batch(outputs, references, ("", ""), language)
        numbers += [_numbers(spec, batch, language) for spec in FOREIGN[language]]
    return numbers


def learned_numbers() -> list[dict[str, Any]]:
    """Scores under the metrics on the embedded sentence model."""
    told = [0, 1, 2, 4, 5]
    batch = bb.Batch([OUTPUTS[k] for k in told], [REFERENCES[k] for k in told], [INPUTS[k] for k in told], "en")
    return [{"spec": spec, "scores": _scores(bb.metric(spec).score_batch(batch))} for spec in LEARNED]


def _numbers(spec: str, batch: bb.Batch, language: str) -> dict[str, Any]:
    metric = bb.metric(spec)
    document: dict[str, Any] = {"spec": spec, "language": language, "signature": metric.signature}
    document["scores"] = _scores(metric.score_batch(batch))
    if isinstance(metric, SummedMetric):
        document["corpus"] = metric.corpus_score(batch)
    return document


def _scores(scores: Any) -> Any:
    """One number a text, or such a list for every part that a metric has; None where there is no score."""
    if isinstance(scores, Mapping):
        return {part: _scores(values) for part, values in scores.items()}
    return [float(score) if score == score else None for score in scores]
