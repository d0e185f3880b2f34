"""Answers in the shapes of several vendors, as their documentation and servers show them, with a text put in.

What differs: where reasoning lies, whether content is a text or a list of parts, how filters, refusals and bounds are
said, what is counted. Fields that no reader needs are left in, because they must not disturb one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from judge_server import Reply


def openai(text: str) -> Reply:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {
        "prompt_tokens": 211,
        "completion_tokens": 9,
        "total_tokens": 220,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0},
    }
    return _reply(
        "chatcmpl-B9M", "gpt-4o-2024-08-06", [choice], usage, service_tier="default", system_fingerprint="fp_4"
    )


def azure(text: str) -> Reply:
    safe = {kind: {"filtered": False, "severity": "safe"} for kind in ("hate", "self_harm", "sexual", "violence")}
    choice = {
        "content_filter_results": safe,
        "finish_reason": "stop",
        "index": 0,
        "logprobs": None,
        "message": {"content": text, "role": "assistant"},
    }
    prompt = [{"prompt_index": 0, "content_filter_results": {**safe, "jailbreak": {"filtered": False}}}]
    usage = {"completion_tokens": 9, "prompt_tokens": 211, "total_tokens": 220}
    return _reply("chatcmpl-A1", "gpt-4o-2024-08-06", [choice], usage, prompt_filter_results=prompt)


def anthropic_gateway(text: str) -> Reply:
    """Anthropic's own shape, which some gateways pass on as it is."""
    document = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4",
        "content": [
            {"type": "thinking", "thinking": 'It may be {"score": 1}.', "signature": "Eq"},
            {"type": "text", "text": text},
        ],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 211, "output_tokens": 9, "cache_read_input_tokens": 0},
    }
    return Reply(json.dumps(document).encode())


def deepseek_on_vllm(text: str) -> Reply:
    """With a parser of reasoning."""
    message: dict[str, Any] = {
        "role": "assistant",
        "reasoning_content": 'At first {"score": 3} …',
        "content": f"\n\n{text}",
        "tool_calls": [],
        "function_call": None,
        "refusal": None,
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", "stop_reason": None}
    usage = {"prompt_tokens": 211, "total_tokens": 500, "completion_tokens": 289, "prompt_tokens_details": None}
    return _reply("chatcmpl-8f", "deepseek-ai/DeepSeek-R1", [choice], usage, prompt_logprobs=None)


def qwen_on_vllm(text: str) -> Reply:
    """Without a parser of reasoning; the chat template opened the tag already."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": f'Perhaps {{"score": 3}}? No.\n</think>\n\n{text}',
        "tool_calls": [],
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", "stop_reason": 151645}
    usage = {"prompt_tokens": 211, "total_tokens": 500, "completion_tokens": 289}
    return _reply("chatcmpl-9a", "Qwen/QwQ-32B", [choice], usage)


def llama_cpp(text: str) -> Reply:
    choice = {"finish_reason": "stop", "index": 0, "message": {"role": "assistant", "content": text}}
    timings = {"prompt_n": 211, "prompt_ms": 31.2, "predicted_n": 9, "predicted_per_second": 87.1}
    usage = {"completion_tokens": 9, "prompt_tokens": 211, "total_tokens": 220}
    return _reply("chatcmpl-l", "gpt-3.5-turbo", [choice], usage, system_fingerprint="b4567-1", timings=timings)


def ollama(text: str) -> Reply:
    """Ollama's /v1, with a model that thinks."""
    message = {"role": "assistant", "content": text, "reasoning": 'Hm, {"score": 4}. Rather not.'}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 211, "completion_tokens": 40, "total_tokens": 251}
    return _reply("chatcmpl-397", "qwen3:8b", [choice], usage, system_fingerprint="fp_ollama")


def anthropic_as_openai(text: str) -> Reply:
    """A gateway that turns Anthropic's answers into completions, thoughts beside the content."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "reasoning_content": '{"score": 5} perhaps',
        "thinking_blocks": [{"type": "thinking", "thinking": "…", "signature": "Eq"}],
        "tool_calls": None,
        "function_call": None,
    }
    choice = {"finish_reason": "stop", "index": 0, "message": message}
    usage = {"completion_tokens": 9, "prompt_tokens": 211, "total_tokens": 220, "cache_creation_input_tokens": 0}
    return _reply("chatcmpl-d1", "claude-sonnet-4", [choice], usage)


def transformers_serve(text: str) -> Reply:
    message: dict[str, Any] = {
        "content": text,
        "refusal": None,
        "role": "assistant",
        "annotations": None,
        "audio": None,
    }
    choice = {"finish_reason": "stop", "index": 0, "logprobs": None, "message": {**message, "tool_calls": None}}
    usage = {"completion_tokens": 9, "prompt_tokens": 211, "total_tokens": 220, "completion_tokens_details": None}
    return _reply("req_0", "folder/model@main", [choice], usage, service_tier=None, system_fingerprint="")


def mistral(text: str) -> Reply:
    """Magistral, whose content is a list of parts."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": '{"score": 2}?'}], "closed": True}
    message = {
        "role": "assistant",
        "tool_calls": None,
        "content": [thinking, {"type": "text", "text": text}],
        "prefix": False,
    }
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 211, "total_tokens": 220, "completion_tokens": 9}
    return _reply("cmpl-e5", "magistral-medium-2507", [choice], usage)


VENDORS: dict[str, Callable[[str], Reply]] = {
    "OpenAI": openai,
    "Azure": azure,
    "Anthropic through a gateway": anthropic_gateway,
    "DeepSeek on vLLM": deepseek_on_vllm,
    "Qwen on vLLM": qwen_on_vllm,
    "llama.cpp": llama_cpp,
    "Ollama": ollama,
    "Anthropic as completions": anthropic_as_openai,
    "transformers serve": transformers_serve,
    "Mistral": mistral,
}


def azure_filter() -> Reply:
    """Azure's refusal of a question."""
    inner = {
        "code": "ResponsibleAIPolicyViolation",
        "content_filter_result": {"violence": {"filtered": True, "severity": "high"}},
    }
    error = {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": inner,
    }
    return Reply(json.dumps({"error": error}).encode(), 400)


def vllm_too_long() -> Reply:
    words = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."
    error = {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": 400}
    return Reply(json.dumps(error).encode(), 400)


def without_text(finish: str, **message: Any) -> Reply:
    """An answer in which there is nothing to read."""
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return _reply("chatcmpl-0", "m", [choice], {"prompt_tokens": 211, "completion_tokens": 1})


def hostile_text(seed: int) -> str:
    """A text that no judge should give, and from which nothing can be read."""
    draw = random.Random(seed)
    number = draw.choice(["NaN", "null", "true", "-3", "1e9", '"many"', "[80]", "{}", "9" * draw.choice([40, 5000])])
    pieces = [
        "I'm sorry, but I can't help with that.",
        "80/100",
        "Score: 80.",
        f'{{"score": {number}}}',
        f'{{"result": {{"score": {draw.randrange(100)}}}}}',
        f'[{{"score": {draw.randrange(100)}}}]',
        f'<think>{{"score": {draw.randrange(100)}}}',
        f'{{"score": {draw.randrange(10)}, "score": {draw.randrange(10)}}}',
        f'{{"score": {draw.randrange(100)}',
        "{" * draw.choice([10, 500]),
        '{"a":' * draw.choice([10, 500]),
        "[" * draw.choice([10, 500]),
        "\u202e\x00\ufeff\ud800" * draw.randrange(1, 5),
        "```json\n```",
        "{'score': 80}",
        "<score>80</score>",
        "",
    ]
    return draw.choice(pieces)


def odd_text(number: float, seed: int) -> str:
    """A text that says a score in one of the many ways that can be read."""
    draw = random.Random(seed)
    said = draw.choice([f'{{"score": {number}}}', f'{{"score": "{number}", "why": "it {{is}} so"}}'])
    wrapped = [
        said,
        f"<think>Hm. {hostile_text(seed).replace('think', 'thonk')}</think>\n{said}",
        f'or {{"score": 1}}?</think>{said}',
        f"Here it is:\n```json\n{said}\n```\nI hope that helps {{really}}!",
        f'First I thought {{"score": 99}}. Now: {said}',
        f"[1-100] {said} :-{{",
        f"{{{said}}}",
    ]
    return draw.choice(wrapped)


def hostile_reply(seed: int) -> Reply:
    """One of the ways to say nothing: by text, in the shape of any vendor, or by the shape itself."""
    draw = random.Random(-seed)
    if draw.random() < 0.6:
        return draw.choice(list(VENDORS.values()))(hostile_text(seed))
    tools = [{"id": "c1", "type": "function", "function": {"name": "score", "arguments": '{"score": 80}'}}]
    return draw.choice(
        [
            azure_filter(),
            vllm_too_long(),
            without_text("content_filter"),
            without_text("length", content='{"score": 80}'),
            without_text("tool_calls", tool_calls=tools),
            without_text("stop", refusal="I can't judge this."),
            without_text("stop"),
            Reply(b'{"choices": []}'),
            Reply(b"<html>"),
        ]
    )


def _reply(number: str, model: str, choices: list[Any], usage: dict[str, Any], **more: Any) -> Reply:
    document = {"id": number, "object": "chat.completion", "created": 1741570283, "model": model}
    return Reply(json.dumps({**document, "choices": choices, "usage": usage, **more}).encode())
