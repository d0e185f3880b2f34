"""Slow answers and questions to hold quick ones against: plain loops, one text at a time, nothing padded."""

from __future__ import annotations

import math
from pathlib import Path

from question_models import loaded

from billboards.metrics.neural.qa_answers import Answer


def logits(folder: Path, ids: list[int], context: list[bool]) -> tuple[list[float], list[float]]:
    """Start and end logits of one window, unpadded."""
    import torch

    model, tokenizer = loaded(folder, "AutoModelForQuestionAnswering")
    given = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    if "token_type_ids" in tokenizer.model_input_names:
        first = context.index(True)
        given["token_type_ids"] = torch.tensor([[int(k >= first) for k in range(len(ids))]])
    with torch.no_grad():
        found = model(**given)
    return found.start_logits[0].double().tolist(), found.end_logits[0].double().tolist()


def by_search(folder: Path, question: str, context: str, limit: int, overlap: int, longest: int) -> Answer:
    """Every span of every window, in plain loops; windows are cut here by hand."""
    _, tokenizer = loaded(folder, "AutoModelForQuestionAnswering")
    asked = tokenizer(question, add_special_tokens=False)["input_ids"]
    told = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)
    room, size = limit - len(asked) - 3, len(told["input_ids"])
    starts = [0]
    while starts[-1] + room < size:
        starts.append(starts[-1] + room - overlap)
    windows = [(start, min(start + room, size)) for start in starts]
    shows = {token: max(range(len(windows)), key=lambda w: (_shown(token, windows[w]), -w)) for token in range(size)}
    spans: dict[tuple[int, int], tuple[float, float]] = {}
    none = math.inf
    for number, (start, stop) in enumerate(windows):
        ids = [0, *asked, 2, *told["input_ids"][start:stop], 2]
        before = len(asked) + 2
        context_mask = [before <= k < len(ids) - 1 for k in range(len(ids))]
        first, last = logits(folder, ids, context_mask)
        none = min(none, first[0] + last[0])
        total = [math.log(math.fsum(math.exp(one) for one in side)) for side in (first, last)]
        for i in range(start, stop):
            for j in range(i, min(i + longest, stop)):
                if shows[i] == number:
                    a, b = first[before + i - start], last[before + j - start]
                    spans[i, j] = (a + b, math.exp(a - total[0]) * math.exp(b - total[1]))
    best = max(spans, key=lambda span: spans[span][0])
    every = math.fsum(math.exp(score) for score, _ in spans.values())
    offsets = told["offset_mapping"]
    return Answer(
        context[offsets[best[0]][0] : offsets[best[1]][1]],
        spans[best][1],
        math.exp(none) / (math.exp(none) + every),
        spans[best][0] > none,
    )


def _shown(token: int, window: tuple[int, int]) -> int:
    return min(token - window[0], window[1] - 1 - token) if window[0] <= token < window[1] else -1


def step_by_step(folder: Path, text: str, longest: int) -> str:
    """The likeliest next word, again and again."""
    import torch

    model, tokenizer = loaded(folder, "AutoModelForSeq2SeqLM")
    given, said = torch.tensor([tokenizer(text)["input_ids"]]), [model.config.decoder_start_token_id]
    # BART ends a text that grows too long.
    for _ in range(longest - (model.generation_config.forced_eos_token_id is not None)):
        with torch.no_grad():
            logits = model(input_ids=given, decoder_input_ids=torch.tensor([said])).logits[0, -1]
        said.append(int(logits.argmax()))
        if said[-1] == tokenizer.eos_token_id:
            break
    decoded: str = tokenizer.decode(said, skip_special_tokens=True)
    return decoded.strip()
