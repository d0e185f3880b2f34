"""A thousand questions to a real chat-completions server whose model talks at random: no column is lost.

    pip install openai accelerate      # what `transformers serve` needs beside billboards[test]
    python benchmarks/judge_serving.py

`transformers serve` of Hugging Face's transformers is started on loopback with a tiny Llama of random weights, made
here, whose few tokens are pieces of answers: objects, numbers on and off the scale, reasoning that ends or doesn't, a
refusal, prose. Sampled, it says something else each time, readable or not. A judge asks it about 1,000 outputs, then
once more: the column must have a score or nothing for each output, abstentions must be counted and never be 0, and the
second time nothing may be asked.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

#: What the model may say at each step; the last word ends an answer.
PIECES = (
    *(f'{{"score": {number}}}' for number in (7, 42, 73.5, 100)),
    *(f'{{"score": {number}}}' for number in (900, "null", '"eighty"')),
    '{"score":', "{", "}", "<think>", "</think>", "Score: 80", "I can't help with that.", "\n", "well,", "</s>",
)  # fmt: skip
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def write_model(folder: Path) -> None:
    """A Llama of one layer with random weights, and a tokenizer of whole pieces."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {word: number for number, word in enumerate((*PIECES, "<unk>"))}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>", pad_token="</s>", model_max_length=100_000
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=8192, eos_token_id=words["</s>"], bos_token_id=words["<unk>"],
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    ends = words["</s>"]
    settings = GenerationConfig(do_sample=True, max_new_tokens=8, eos_token_id=ends, pad_token_id=ends, top_k=0)
    settings.suppress_tokens = [words["<unk>"]]
    model.generation_config = settings
    model.save_pretrained(folder)


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def wait_for(server: subprocess.Popen[bytes], address: str, seconds: float) -> None:
    """Return when the server answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.poll() is not None:
            raise SystemExit(f"the server ended with code {server.returncode}")
        try:
            with urllib.request.urlopen(f"{address}/v1/models", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"the server did not answer within {seconds:.0f} s")


def ask(outputs: int, address: str, model: str, cache: Path) -> dict[str, object]:
    """Score outputs twice, and say what came of it."""
    import numpy as np

    from billboards.metrics.base import Batch, score_checked
    from billboards.metrics.discovery import metric
    from billboards.metrics.judges.answers import Answers

    os.environ |= {"BILLBOARDS_JUDGE_URL": f"{address}/v1", "BILLBOARDS_JUDGE_MODEL": model}
    os.environ |= {"BILLBOARDS_JUDGE_CACHE": str(cache), "BILLBOARDS_JUDGE_AT_ONCE": "2"}
    judge = metric("judge-DA(input=False,references=False,temperature=1.0,max_tokens=8,abstain=0.9)")
    batch = Batch([f"output {number}" for number in range(outputs)])
    started = time.perf_counter()
    (scores,) = score_checked(judge, batch).values()
    seconds = time.perf_counter() - started
    (spent,) = Answers(cache).spent()
    (again,) = score_checked(judge, batch).values()
    (after,) = Answers(cache).spent()
    missing = int(np.isnan(scores).sum())
    checks = {
        "a score or nothing for every output": scores.shape == (outputs,),
        "every score is on the scale": bool(((scores >= 0) & (scores <= 100) | np.isnan(scores)).all()),
        "scores are what the model may say": set(scores[~np.isnan(scores)]) <= {7.0, 42.0, 73.5, 100.0},
        "some were read and some abstained from": 0 < missing < outputs,
        "abstentions are counted": spent.abstained == missing,
        "nothing is asked twice": after == spent and np.array_equal(scores, again, equal_nan=True),
    }
    return {
        "outputs": outputs,
        "scores": outputs - missing,
        "abstained": missing,
        "answers": spent.answers,
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "seconds": round(seconds, 1),
        "checks": checks,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--outputs", type=int, default=1000, help="outputs to ask about (default 1000)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder, port = Path(made) / "random-llama", free_port()
        write_model(folder)
        address = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder), "--device", "cpu"]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        with (Path(made) / "server.log").open("wb") as log:
            server = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=log, stderr=log, env=environment
            )
        try:
            wait_for(server, address, 180)
            told = ask(arguments.outputs, address, str(folder), Path(made) / "answers.sqlite")
        except SystemExit:
            print((Path(made) / "server.log").read_text()[-2000:], file=sys.stderr)
            raise
        finally:
            server.terminate()
            server.wait(30)
    print(json.dumps(told, indent=1))
    checks = told["checks"]
    return 0 if isinstance(checks, dict) and all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
