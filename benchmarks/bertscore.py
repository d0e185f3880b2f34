"""BERTScore of a whole board, texts in and scores out, beside bert_score on the same weights in the same run.

The board is wmt20-zh-en: 19 generators, 38,000 outputs, two references. bert_score is called the way it is used, once
per generator; a few generators are enough to know its rate, since all cost the same. Its scores must be ours. Models:
`minilm`, the real one that comes as a package; `roberta-large`, the shape of RoBERTa-large to layer 17 with random
weights and a tokenizer trained on the board to give 41 tokens an output, because no model hub is at hand where this
runs. On a GPU the card's own matrix rate is measured first, and the rate of encoding is given as a share of it.

    python benchmarks/bertscore.py [--model roberta-large --precision bf16] [--instances N] [--texts FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from measuring import shared_data

#: Pieces in the tokenizer of the made-up RoBERTa, so that an output has 41 tokens as with the real one.
PIECES = 10_500
LAYERS = {"minilm": 6, "roberta-large": 17}
#: The largest difference between two computations of the same scores.
EQUAL = {"fp32": 1e-5, "bf16": 2e-3, "fp16": 2e-3}


@dataclass(frozen=True)
class Texts:
    """A board as plain texts: each generator's outputs, and the references of each instance."""

    rows: dict[str, list[str]]
    references: list[list[str]]

    def flat(self) -> tuple[list[str], list[list[str]]]:
        outputs = [text for row in self.rows.values() for text in row]
        return outputs, self.references * len(self.rows)

    def first(self, instances: int | None) -> Texts:
        rows = {name: row[:instances] for name, row in self.rows.items()}
        return Texts(rows, self.references[:instances])


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock and of the processor."""

    seconds: float
    processor: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=tuple(LAYERS), default="minilm")
    parser.add_argument("--precision", choices=tuple(EQUAL), default="fp32")
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: a GPU where there is one)")
    parser.add_argument("--instances", type=int, help="only the first N instances of each generator")
    parser.add_argument("--peer-rows", type=int, default=2, metavar="N", help="generators that bert_score scores")
    parser.add_argument("--texts", type=Path, help="the board as JSON, where its data are absent; see --write-texts")
    parser.add_argument("--write-texts", type=Path, metavar="FILE", help="write that JSON and end")
    parser.add_argument("--runs", type=int, default=3, help="runs of ours; the median counts")
    arguments = parser.parse_args()
    texts = read_texts(arguments.texts)
    if texts is None:
        print("wmt20-zh-en: not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
    elif arguments.write_texts:
        arguments.write_texts.write_text(json.dumps({"rows": texts.rows, "references": texts.references}), "utf-8")
    else:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        compare(texts.first(arguments.instances), arguments)


def read_texts(path: Path | None) -> Texts | None:
    """The machine generators of wmt20-zh-en, from a file made before or from the public data."""
    if path is not None:
        return Texts(**json.loads(path.read_text("utf-8")))
    data = shared_data()
    if data is None:
        return None
    import billboards as bb

    judgments, references = data / "wmt-mqm-human-evaluation", data / "wmt20_references"
    source = data / "billboard"
    board = bb.import_board("billboard", source, board="wmt20-zh-en", judgments=judgments, references=references)
    machines = [row for row in board.rows if row.generator is not None and row.generator.kind == "machine"]
    rows = {row.name: [text or "" for text in row.texts] for row in machines}
    return Texts(rows, [list(some) for some in board.reference_texts(board.reference_names)])


def compare(texts: Texts, arguments: argparse.Namespace) -> None:
    """Ours on the whole board, the peer's on some of its generators."""
    import numpy as np
    import torch

    outputs, references = texts.flat()
    with tempfile.TemporaryDirectory(prefix="billboards-benchmark-") as work:
        folder = model_folder(arguments.model, Path(work), outputs)
        own = Own(str(folder), LAYERS[arguments.model], arguments.precision, arguments.device)
        own.score(outputs[:64], references[:64])
        print(f"{own.where}, torch {torch.__version__}, {arguments.model} to layer {own.layer}, {arguments.precision}")
        found, costs = repeat(lambda: own.score(outputs, references), arguments.runs)
        cost = sorted(costs, key=lambda one: one.seconds)[len(costs) // 2]
        print(f"{len(outputs):,} outputs × {len(references[0])} references: {own.met}")
        say("ours, whole board", len(outputs), cost)
        if own.on_gpu:
            say_share(own, outputs, references)
        rows = dict(list(texts.rows.items())[: arguments.peer_rows])
        theirs, peer_cost = score_with_peer(str(folder), own.layer, own.device, rows, texts.references)
        say(f"bert_score, {len(rows)} generators one by one", len(theirs), peer_cost)
        rate, peer_rate = len(outputs) / cost.seconds, len(theirs) / peer_cost.seconds
        by_processor = len(outputs) / cost.processor / (len(theirs) / peer_cost.processor)
        print(f"ratio of rates: {rate / peer_rate:.1f} by the clock, {by_processor:.1f} by processor time")
        difference = float(np.abs(found[: len(theirs)] - theirs).max())
        verdict = "equal" if difference <= EQUAL[arguments.precision] else "NOT equal"
        print(f"largest difference from bert_score in fp32: {difference:.1e} ({verdict})")


def repeat(work: Callable[[], Any], runs: int) -> tuple[Any, list[Cost]]:
    costs = []
    for _ in range(runs):
        start, used = time.perf_counter(), time.process_time()
        found = work()
        costs.append(Cost(time.perf_counter() - start, time.process_time() - used))
    return found, costs


def say(what: str, outputs: int, cost: Cost) -> None:
    print(f"{what:42} {cost.seconds:9.2f} s {cost.processor:9.2f} cpu s {outputs / cost.seconds:10,.0f} outputs/s")


class Own:
    """Our scores."""

    def __init__(self, model: str, layer: int, precision: Any, device: str | None) -> None:
        from billboards.metrics.neural.engine import Where, start_engine
        from billboards.metrics.neural.idf import even_weights
        from billboards.metrics.neural.weights import locate

        self.layer = layer
        self.engine = start_engine(locate(model), layer, precision, Where(device))
        self.weights = even_weights(self.engine.tokenizer)
        self.device = str(self.engine.encoders[0].device)

    @property
    def on_gpu(self) -> bool:
        return self.device.startswith("cuda")

    @property
    def where(self) -> str:
        import torch

        return torch.cuda.get_device_name() if self.on_gpu else f"{torch.get_num_threads()} CPU threads"

    @property
    def met(self) -> str:
        tally = self.engine.tally
        return f"{tally.texts:,} texts embedded, {tally.tokens:,} tokens ({tally.tokens / tally.texts:.1f} a text)"

    def score(self, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Any:
        from billboards.metrics.neural.engine import Tally
        from billboards.metrics.neural.matching import score_texts

        self.engine.tally = Tally()
        return score_texts(self.engine, outputs, references, self.weights)


def say_share(own: Own, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """The rate of encoding beside the card's own matrix rate."""
    import torch

    from billboards.metrics.neural.windows import plan_windows, tokenised

    one = own.engine.encoders[0]
    windows = list(tokenised(plan_windows(outputs, references, own.engine.window_characters), own.engine.tokenizer))
    torch.cuda.synchronize()
    start = time.perf_counter()
    for window in windows:
        one.encode(window.tokens)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    tokens = sum(len(window.tokens.ids) for window in windows)
    # Per token and layer: four square products and two with four times the width, two operations each.
    rate = tokens * own.layer * 24 * one.width**2 / seconds
    card = matrix_rate(one.forward.words.dtype)  # type: ignore[attr-defined]
    print(
        f"encoding alone: {seconds:.2f} s, {rate / 1e12:.0f} TFLOP/s; the card: {card / 1e12:.0f} ({rate / card:.0%})"
    )


def matrix_rate(dtype: Any, size: int = 8192, times: int = 10) -> float:
    """Operations per second of a large product of random matrices."""
    import torch

    first, second = (torch.randn(size, size, device="cuda").to(dtype) for _ in range(2))
    for _ in range(3):
        first @ second
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        first @ second
    torch.cuda.synchronize()
    return 2 * size**3 * times / (time.perf_counter() - start)


def score_with_peer(
    model: str, layer: int, device: str, rows: dict[str, list[str]], references: list[list[str]]
) -> tuple[Any, Cost]:
    """bert_score on some generators, one after the other, and what that took without loading the model."""
    import numpy as np
    import torch

    leave_plotting_out()
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=model, num_layers=layer, device=device)
    scorer.score(["warm up"], ["warming up"])

    def score() -> Any:
        return [torch.stack(scorer.score(row, references), -1).numpy() for row in rows.values()]

    found, (cost,) = repeat(score, 1)
    return np.concatenate(found), cost


def leave_plotting_out() -> None:
    """bert_score loads a plotting library that scoring doesn't use; where it is absent, an empty one will do."""
    for name in ("matplotlib", "matplotlib.pyplot", "mpl_toolkits", "mpl_toolkits.axes_grid1", "pandas"):
        if name.split(".")[0] not in sys.modules and find_spec(name.split(".")[0]) is not None:
            continue
        empty = types.ModuleType(name)
        empty.make_axes_locatable = None  # type: ignore[attr-defined]
        sys.modules.setdefault(name, empty)


def model_folder(model: str, work: Path, texts: Sequence[str]) -> Path:
    """The folder of a model, made first where it is made up."""
    from billboards.metrics.neural.weights import locate

    return locate("minilm").folder if model == "minilm" else make_roberta_large(work / "roberta-large-shape", texts)


def make_roberta_large(folder: Path, texts: Sequence[str]) -> Path:
    """RoBERTa-large with random weights, and a tokenizer of its kind trained on the texts."""
    import torch
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    pieces = train_pieces(texts)
    written = json.loads(pieces.to_str())["model"]
    merges = [tuple(pair) for pair in written["merges"]]
    tokenizer = RobertaTokenizer(vocab=written["vocab"], merges=merges, add_prefix_space=True, model_max_length=512)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    config = RobertaConfig(vocab_size=50_265, max_position_embeddings=514, type_vocab_size=1, **shape)
    RobertaModel(config).save_pretrained(folder)
    return folder


def train_pieces(texts: Sequence[str]) -> Any:
    """Byte-level pairs, with RoBERTa's special tokens first."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pieces.train_from_iterator(texts, trainer)
    return pieces


if __name__ == "__main__":
    main()
