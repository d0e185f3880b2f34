"""What endpoints answer, in the shapes of several vendors, as one kind of answer.

OpenAI, Azure, Mistral, DeepSeek, vLLM and llama.cpp share the chat-completions interface and differ in details: content
may be a text or a list of parts, reasoning may lie in a field of its own, a filter may take the answer away. Gateways
to Anthropic's models may answer in Anthropic's own shape. Reasoning in its own field is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billboards.reading import decimal_number, is_number

#: A count of tokens beyond this is no count.
MOST_TOKENS = 1 << 40
#: Why an answer ended, in the words of several vendors: at its bound, by a filter, by a tool that nobody offered.
CUT = frozenset({"length", "max_tokens", "model_length"})
FILTERED = frozenset(
    {"content_filter", "safety", "prohibited_content", "blocklist", "spii", "recitation", "sensitive", "refusal"}
)
#: Codes of errors by which a filter refuses a question.
FILTER_CODES = frozenset(
    {
        "1301",
        "content_filter",
        "content_policy_violation",
        "data_inspection_failed",
        "invalid_prompt",
        "responsibleaipolicyviolation",
    }
)
#: Codes and words of errors that say that a question is too long for the model.
LENGTH_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
LENGTH_WORDS = re.compile(r"(?:maximum |available )context (?:length|size|window)|prompt is too long", re.IGNORECASE)
LONGEST_ERROR = 10_000
#: Kinds of parts that hold what is said to the user.
SPOKEN = frozenset({"text", "output_text"})


@dataclass(frozen=True)
class Answer:
    """What a model said, whether it was cut short, and the tokens read and written, None where they aren't counted.

    `unusable` says why there is nothing to read, where a filter, a refusal or a tool took the answer's place; `numbers`
    holds the log-probabilities of numbers at each place where the model wrote one, where they were asked for.
    """

    text: str
    is_cut: bool
    tokens_in: int | None
    tokens_out: int | None
    unusable: str | None = None
    numbers: tuple[Mapping[str, float], ...] | None = None


@dataclass(frozen=True)
class Trouble:
    """Why there is no answer yet, and for how long everybody must be silent, None where that is not said.

    `is_body`: the endpoint did answer, with what is no completion.
    """

    complaint: str
    silence: float | None = None
    is_body: bool = False


def read_response(text: str) -> Answer | Trouble:
    """The answer in a response's body; a refusal is an answer too, if none that can be scored."""
    try:
        document = json.loads(text)
        if "choices" not in document and isinstance(document.get("content"), list):
            message, reason = document, document.get("stop_reason")
            numbers = None
        else:
            choice = document["choices"][0]
            message, reason = choice["message"], choice.get("finish_reason")
            numbers = _numbers(choice.get("logprobs"))
        content, refusal = _spoken(message.get("content")), message.get("refusal")
        usage = document.get("usage") or {}
        tokens_in, tokens_out = _count(usage, "prompt_", "input_"), _count(usage, "completion_", "output_")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Trouble(f"a body that is no chat completion: {text[:300]!r}", is_body=True)
    if content is None:
        return Trouble(f"a message that is no text: {text[:300]!r}", is_body=True)
    ended = reason.casefold() if isinstance(reason, str) else ""
    unusable = _unusable(ended, content, refusal, message.get("tool_calls"))
    shown = content or (refusal if isinstance(refusal, str) else "")
    return Answer(
        text=shown, is_cut=ended in CUT, tokens_in=tokens_in, tokens_out=tokens_out, unusable=unusable, numbers=numbers
    )


def refused_by_filter(text: str) -> str | None:
    """Why an error's body says that this question alone can't be answered, None where it says nothing of the kind."""
    try:
        document = json.loads(text)
        # Older versions of vLLM have the error's fields at the top.
        error = document.get("error") or document
    except (ValueError, AttributeError, RecursionError):
        return None
    inner = error.get("innererror") if isinstance(error, dict) else None
    told = [table.get(key) for table in (error, inner) if isinstance(table, dict) for key in ("code", "type")]
    codes = {str(code).casefold() for code in told if isinstance(code, str | int)}
    if codes & FILTER_CODES:
        return "a content filter refused the question"
    is_long = codes & LENGTH_CODES or LENGTH_WORDS.search(text[:LONGEST_ERROR])
    return "the question is longer than the model can read" if is_long else None


def _spoken(content: object) -> str | None:
    """The text of a message: one text, or the parts of a list that are spoken; None where it is neither."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part for part in content if isinstance(part, dict) and part.get("type") in SPOKEN]
    texts = [part.get("text") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _unusable(ended: str, content: str, refusal: object, tools: object) -> str | None:
    if ended in FILTERED:
        return "a content filter or a refusal ended it"
    if not content and isinstance(refusal, str) and refusal:
        return "it is a refusal"
    if not content and (tools or ended in ("tool_calls", "function_call", "tool_use")):
        return "it called a tool instead of answering"
    return None


def _count(usage: Mapping[str, Any], *prefixes: str) -> int | None:
    counted = next((usage[f"{prefix}tokens"] for prefix in prefixes if f"{prefix}tokens" in usage), None)
    return counted if type(counted) is int and 0 <= counted < MOST_TOKENS else None


def _numbers(logprobs: object) -> tuple[Mapping[str, float], ...] | None:
    """The log-probabilities of numbers, at each token that is one."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    places = []
    for token in content:
        if isinstance(token, dict) and _is_number(token.get("token")):
            listed = token.get("top_logprobs")
            told = [token, *(listed if isinstance(listed, list) else [])]
            places.append(
                {
                    str(each["token"]).strip(): float(each["logprob"])
                    for each in told
                    if isinstance(each, dict) and _is_number(each.get("token")) and is_number(each.get("logprob"))
                }
            )
    return tuple(places)


def _is_number(token: object) -> bool:
    return isinstance(token, str) and decimal_number(token.strip()) is not None
