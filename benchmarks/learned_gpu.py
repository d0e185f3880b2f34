"""The large learned metrics on a GPU: outputs per second, and how much of the card's own matrix rate that is.

Models have the published shapes and random weights in bf16, for no model hub is at hand where this runs: XCOMET-XL
(XLM-R-XL: 36 layers, width 2,560) reads the output with input, reference and both; MetricX-24-XL (mT5-XL: 24 layers on
each side, width 2,048) reads all three as one and makes one decoder step. Texts are those of wmt20-zh-en: 19
generators, 38,000 outputs, the first reference. They are scored by the package's own metrics, from texts to scores,
after some outputs to warm up; writing and loading the models is not counted.

Tokens are pieces of words, each in the vocabulary: six letters at most, two Chinese characters at most, and marks of
punctuation by themselves. So an output of wmt20-zh-en has 45 tokens, a reference 49 and an input 29. RoBERTa's own
tokenizer gives an output 41, and one of many languages some more.

Beside them stands the authors' way, with the same weights, in bf16 and through transformers' own models, on a part of
the outputs. unbabel-comet sorts by the input's characters, takes 16 outputs at a time, and reads each of three
sequences in a padded batch (comet/models/base.py of 2.2.7, `predict`). MetricX's program reads one text at a time in
the order of the file: its batches are not padded, so its README runs it with a batch of 1; a padded batch of 16 is
shown, too.

FLOPs are those of the model as it is published, from its shapes and the tokens of each text: products with weights and
attention, of MetricX the keys and values of the decoder as well, which are not computed here ("done" leaves them out).

    python benchmarks/learned_gpu.py --export FILE              # where the data are: the texts, to be taken along
    python benchmarks/learned_gpu.py --texts FILE [--only metricx|xcomet] [--instances N]
    python benchmarks/learned_gpu.py --tiny                     # on any machine: that it runs, with tiny shapes
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from measuring import shared_data

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "stand_ins"))

#: Six letters at most, with the blank before them; two Chinese characters; a mark of punctuation.
PIECES = r"▁?[^\s▁\p{Han}\p{P}]{1,6}|▁?\p{Han}{1,2}|▁?\p{P}|▁"
XLMR_XL = {"hidden_size": 2560, "num_hidden_layers": 36, "num_attention_heads": 32, "intermediate_size": 10240}
MT5_XL = {"d_model": 2048, "d_kv": 64, "d_ff": 5120, "num_layers": 24, "num_decoder_layers": 24, "num_heads": 32}
TINY_XLMR = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
TINY_MT5 = {"d_model": 8, "d_kv": 4, "d_ff": 16, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}
XLMR_WORDS, MT5_WORDS = 250_880, 250_112
#: Outputs that are scored before the clock runs, and batches of the peers.
WARM_UP, PEER_BATCH = 512, 16
LETTERS = "the quick brown fox jumps over a lazy dog and runs away from 12 small cats ."


@dataclass(frozen=True)
class Texts:
    """A board as plain texts: each generator's outputs, and one input and one reference for each instance."""

    rows: Mapping[str, Sequence[str]]
    references: Sequence[str]
    sources: Sequence[str]

    def first(self, instances: int | None) -> Texts:
        rows = {name: row[:instances] for name, row in self.rows.items()}
        return Texts(rows, self.references[:instances], self.sources[:instances])

    def all(self) -> list[str]:
        return [*(text for row in self.rows.values() for text in row), *self.references, *self.sources]

    def columns(self) -> tuple[list[str], list[str], list[str]]:
        """Outputs, references and inputs, generator by generator."""
        outputs = [text for row in self.rows.values() for text in row]
        return outputs, list(self.references) * len(self.rows), list(self.sources) * len(self.rows)


def board_texts() -> Texts | None:
    """The machine generators of wmt20-zh-en, where its data are."""
    data = shared_data()
    if data is None:
        return None
    import billboards as bb

    references = data / "wmt20_references"
    board = bb.import_board("billboard", data / "billboard", board="wmt20-zh-en", references=references)
    machines = [row for row in board.rows if row.generator is not None and row.generator.kind == "machine"]
    rows = {row.name: [text or "" for text in row.texts] for row in machines}
    first = [texts[0] for texts in board.reference_texts(board.reference_names)]
    return Texts(rows, first, [instance.input or "" for instance in board.instances])


def made_up() -> Texts:
    """Texts of many lengths, where no data are."""
    draw, words = np.random.default_rng(1), LETTERS.split()
    sentences = [" ".join(draw.choice(words, draw.integers(3, 40))) for _ in range(60)]
    return Texts({"a": sentences[:20], "b": sentences[20:40]}, sentences[40:], sentences[::3])


@dataclass(frozen=True)
class Read:
    """The lengths in tokens of what a model read, and the seconds that all of it took."""

    outputs: int
    lengths: Sequence[int]
    seconds: float

    @property
    def rate(self) -> float:
        return self.outputs / self.seconds


@dataclass(frozen=True)
class Model:
    """A model's name, and what reading texts of some lengths costs: as published, and as it is done here."""

    name: str
    published: Callable[[Sequence[int]], float]
    done: Callable[[Sequence[int]], float]


def xlmr_flops(shape: Mapping[str, int]) -> Callable[[Sequence[int]], float]:
    width, hidden, layers = shape["hidden_size"], shape["intermediate_size"], shape["num_hidden_layers"]

    def flops(lengths: Sequence[int]) -> float:
        tokens, pairs = _sums(lengths)
        return layers * (2.0 * tokens * (4 * width**2 + 2 * width * hidden) + 4.0 * pairs * width)

    return flops


def mt5_flops(shape: Mapping[str, int], words: int, *, published: bool) -> Callable[[Sequence[int]], float]:
    width, inner, hidden = shape["d_model"], shape["num_heads"] * shape["d_kv"], shape["d_ff"]

    def flops(lengths: Sequence[int]) -> float:
        tokens, pairs = _sums(lengths)
        encoder = shape["num_layers"] * (2.0 * tokens * (4 * width * inner + 3 * width * hidden) + 4.0 * pairs * inner)
        if published:
            # Of each token a key and a value, of each text eight products of attention, a network, and the words.
            decoder = 2.0 * tokens * 2 * width * inner + 4.0 * tokens * inner
            decoder += 2.0 * len(lengths) * (6 * width * inner + 3 * width * hidden)
            return encoder + shape["num_decoder_layers"] * decoder + 2.0 * len(lengths) * width * words
        decoder = 4.0 * tokens * shape["num_heads"] * width
        decoder += 2.0 * len(lengths) * (6 * width * inner + 3 * width * hidden)
        return encoder + shape["num_decoder_layers"] * decoder

    return flops


def _sums(lengths: Sequence[int]) -> tuple[float, float]:
    counts = np.asarray(lengths, np.float64)
    return float(counts.sum()), float((counts**2).sum())


def matrix_rate(device: str, size: int, times: int = 10) -> float:
    """Operations per second of a large product of random matrices in bf16."""
    import torch

    first, second = (torch.randn(size, size, device=device).to(torch.bfloat16) for _ in range(2))
    for _ in range(3):
        first @ second
    _wait(device)
    start = time.perf_counter()
    for _ in range(times):
        first @ second
    _wait(device)
    return 2 * size**3 * times / (time.perf_counter() - start)


def _wait(device: str) -> None:
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize()


def write_tokenizer(folder: Path, texts: Sequence[str], special: Sequence[str], around: str) -> None:
    """A tokenizer whose words are the pieces that the texts have."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    pieces = Tokenizer(models.WordLevel(unk_token="<unk>"))
    pieces.normalizer = normalizers.Sequence(
        [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip(), normalizers.Replace(" ", "▁")]
    )
    pieces.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "removed", invert=True)
    trainer = trainers.WordLevelTrainer(vocab_size=240_000, special_tokens=[*special], show_progress=False)
    pieces.train_from_iterator(texts, trainer)
    named = [(token, pieces.token_to_id(token)) for token in special]
    pieces.post_processor = processors.TemplateProcessing(single=around, special_tokens=named)
    names = {"<s>": "cls_token", "<pad>": "pad_token", "</s>": "eos_token", "<unk>": "unk_token"}
    given = {names[token]: token for token in special}
    given |= {"sep_token": "</s>", "bos_token": "<s>"} if "<s>" in special else {}
    PreTrainedTokenizerFast(tokenizer_object=pieces, model_max_length=10_000, **given).save_pretrained(folder)


def write_metricx(folder: Path, shape: Mapping[str, int], texts: Sequence[str], device: str) -> None:
    """A checkpoint of MetricX-24's layout with random weights in bf16."""
    import torch
    from tiny_t5 import metricx_config, random_weights

    folder.mkdir(parents=True)
    write_tokenizer(folder, [*texts, "source: candidate: reference:"], ("<pad>", "</s>", "<unk>"), "$A </s>")
    config = metricx_config(**shape, torch_dtype="bfloat16")
    generator = torch.Generator(device).manual_seed(1)
    _save_safetensors(random_weights(config, generator, torch.bfloat16), folder)
    (folder / "config.json").write_text(json.dumps(config))


def _save_safetensors(tensors: Mapping[str, Any], folder: Path) -> None:
    from safetensors.torch import save_file

    save_file({name: value.contiguous().cpu() for name, value in tensors.items()}, folder / "model.safetensors")


def write_xcomet(folder: Path, shape: Mapping[str, int], texts: Sequence[str], device: str) -> None:
    """A checkpoint of XCOMET's layout with random weights in bf16; its encoder's settings lie beside it."""
    import torch
    import yaml
    from transformers import XLMRobertaXLConfig, XLMRobertaXLModel

    (folder / "checkpoints").mkdir(parents=True)
    write_tokenizer(folder, texts, ("<s>", "<pad>", "</s>", "<unk>"), "<s> $A </s>")
    config = XLMRobertaXLConfig(vocab_size=XLMR_WORDS, max_position_embeddings=514, type_vocab_size=1, **shape)
    config.save_pretrained(folder)
    with torch.device("meta"):
        encoder = XLMRobertaXLModel(config, add_pooling_layer=False)
    width, layers = shape["hidden_size"], shape["num_hidden_layers"]
    sizes = {f"encoder.model.{name}": value.shape for name, value in encoder.named_parameters()}
    sizes |= {f"layerwise_attention.scalar_parameters.{k}": (1,) for k in range(layers + 1)}
    sizes |= {"layerwise_attention.gamma": (1,), "hidden2tag.weight": (4, width), "hidden2tag.bias": (4,)}
    for k, (wide, narrow) in enumerate(pairwise((width, width, width // 2, 1))):
        sizes |= {f"estimator.ff.{3 * k}.weight": (narrow, wide), f"estimator.ff.{3 * k}.bias": (narrow,)}
    generator = torch.Generator(device).manual_seed(1)
    state = {name: _random(name, size, generator).to(torch.bfloat16).cpu() for name, size in sizes.items()}
    settings = {"word_layer": layers, "hidden_sizes": [width, width // 2]}
    (folder / "hparams.yaml").write_text(yaml.safe_dump({"class_identifier": "xcomet_metric"}))
    torch.save({"state_dict": state, "hyper_parameters": settings}, folder / "checkpoints" / "model.ckpt")


def _random(name: str, size: Sequence[int], generator: Any) -> Any:
    import torch

    if name.endswith("bias") and not name.startswith("hidden2tag"):
        return torch.zeros(tuple(size), device=generator.device)
    if "norm" in name.lower() or name.endswith("gamma"):
        return torch.ones(tuple(size), device=generator.device)
    return torch.randn(tuple(size), generator=generator, device=generator.device) * 0.02


@contextmanager
def watched(owner: Any, name: str, lengths_of: Callable[..., Sequence[int]]) -> Iterator[list[int]]:
    """The lengths of all that a method of a class is given while this lasts."""
    plain, lengths = getattr(owner, name), list[int]()

    def recorded(self: Any, given: Any, *rest: Any) -> Any:
        lengths.extend(lengths_of(given))
        return plain(self, given, *rest)

    setattr(owner, name, recorded)
    try:
        yield lengths
    finally:
        setattr(owner, name, plain)


def ours(scorer: Any, texts: Texts, watch: Callable[[], Any]) -> Read:
    """The metric on all outputs, from texts to scores."""
    from billboards.metrics.base import Batch

    outputs, references, sources = texts.columns()
    batch = Batch(outputs, [[text] for text in references], sources)
    scorer.score_batch(batch.part(0, min(WARM_UP, len(batch))))
    with watch() as lengths:
        start = time.perf_counter()
        scores = scorer.score_batch(batch)
        seconds = time.perf_counter() - start
    values = next(iter(scores.values())) if isinstance(scores, Mapping) else scores
    if not np.isfinite(values).all():
        raise SystemExit(f"{scorer.name}: scores that are no numbers")
    return Read(len(outputs), lengths, seconds)


def watch_metricx() -> Any:
    from billboards.metrics.neural.first_step import FirstStep

    return watched(FirstStep, "logits", lambda tokens: [len(ids) for ids in tokens])


def watch_xcomet() -> Any:
    from billboards.metrics.neural.encoder import Encoder

    return watched(Encoder, "encode", lambda tokens: tokens.lengths.tolist())


def peer_metricx(folder: Path, texts: Texts, device: str, sizes: Sequence[tuple[int, int]]) -> list[Read]:
    """transformers' mT5 in padded batches in the order of the file: of each size, on so many outputs."""
    import torch
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    words = AutoTokenizer.from_pretrained(folder)
    model = MT5ForConditionalGeneration.from_pretrained(folder, dtype=torch.bfloat16).to(device).eval()
    columns = zip(*texts.columns(), strict=True)
    strings = [f"source: {source} candidate: {output} reference: {text}" for output, text, source in columns]

    def score(some: Sequence[str]) -> list[int]:
        tokens = [ids[:-1] for ids in words(list(some), max_length=1536, truncation=True)["input_ids"]]
        ids, mask = _padded(tokens, 0, device)
        start = torch.zeros((len(tokens), 1), dtype=torch.long, device=device)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start, use_cache=False).logits
        logits[:, 0, 250089].clamp(0, 25).float().cpu()
        return [len(own) for own in tokens]

    # From all over the file, for generators and instances differ in length.
    return [_timed(strings[:: max(1, len(strings) // most)][:most], score, size, device) for size, most in sizes]


def peer_xcomet(folder: Path, texts: Texts, device: str, size: int, most: int) -> Read:
    """transformers' XLM-R-XL as unbabel-comet runs it: sorted by the input's length, three padded batches of 16."""
    import torch
    from transformers import AutoTokenizer, XLMRobertaXLConfig, XLMRobertaXLModel

    words = AutoTokenizer.from_pretrained(folder)
    config = XLMRobertaXLConfig.from_pretrained(folder)
    state = torch.load(folder / "checkpoints" / "model.ckpt", mmap=True, weights_only=True)["state_dict"]
    with torch.device(device):
        model = XLMRobertaXLModel(config, add_pooling_layer=False).to(torch.bfloat16).eval()
    model.load_state_dict({name.removeprefix("encoder.model."): state[name] for name in state if "encoder." in name})
    columns = sorted(zip(*texts.columns(), strict=True), key=lambda column: len(column[2]))
    # Whole batches from all over the order, since short inputs cost less than long ones.
    batches = [columns[k : k + size] for k in range(0, len(columns), size)]
    chosen = batches[:: max(1, len(batches) * size // max(most, size))]

    def score(some: Sequence[tuple[str, str, str]]) -> list[int]:
        output, reference, source = (
            [ids[1:-1] for ids in words([column[k] for column in some], max_length=510, truncation=True)["input_ids"]]
            for k in range(3)
        )
        lengths: list[int] = []
        for parts in ((output, source), (output, reference), (output, source, reference)):
            tokens = [_joined(pieces, words)[:512] for pieces in zip(*parts, strict=True)]
            ids, mask = _padded(tokens, config.pad_token_id, device)
            states = model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
            torch.stack(states)[:, :, 0].mean(0).float().cpu()
            lengths += map(len, tokens)
        return lengths

    return _timed([column for batch in chosen for column in batch], score, size, device)


def _joined(pieces: Sequence[Sequence[int]], words: Any) -> list[int]:
    ids = [words.cls_token_id, *pieces[0]]
    for piece in pieces[1:]:
        ids += [words.sep_token_id, words.sep_token_id, *piece]
    return [*ids, words.sep_token_id]


def _padded(tokens: Sequence[Sequence[int]], filler: int, device: str) -> tuple[Any, Any]:
    import torch

    longest = max(map(len, tokens))
    ids = torch.tensor([[*own, *[filler] * (longest - len(own))] for own in tokens])
    mask = torch.tensor([[1] * len(own) + [0] * (longest - len(own)) for own in tokens])
    return ids.to(device), mask.to(device)


def _timed(items: Sequence[Any], score: Callable[[Sequence[Any]], list[int]], size: int, device: str) -> Read:
    import torch

    with torch.inference_mode():
        for k in range(3):
            score(items[k * size : (k + 1) * size] or items[:size])
        _wait(device)
        start, lengths = time.perf_counter(), []
        for k in range(0, len(items), size):
            lengths += score(items[k : k + size])
        _wait(device)
    return Read(len(items), lengths, time.perf_counter() - start)


def say(model: Model, own: Read, peers: Mapping[str, Read], card: float) -> None:
    """Rates and shares, ours first."""
    tokens = sum(own.lengths)
    print(
        f"\n{model.name}: {own.outputs:,} outputs, {len(own.lengths):,} distinct sequences, {tokens:,} tokens "
        f"({tokens / len(own.lengths):.0f} a sequence)"
    )
    print(f"{'':44} {'s':>8} {'outputs/s':>10} {'TFLOP/s':>8} {'of the card':>11} {'done':>6}")
    for name, read in {"ours": own, **peers}.items():
        rate = model.published(read.lengths) / read.seconds
        done = f"{model.done(read.lengths) / read.seconds / card:6.0%}" if read is own else f"{'':>6}"
        print(f"{name:44} {read.seconds:8.2f} {read.rate:10,.1f} {rate / 1e12:8.1f} {rate / card:11.0%} {done}")
    for name, read in peers.items():
        print(f"ratio of outputs/s to {name}: {own.rate / read.rate:.1f}")


def measure_metricx(work: Path, texts: Texts, device: str, tiny: bool, peer: int, card: float) -> None:
    import billboards as bb

    shape = TINY_MT5 if tiny else MT5_XL
    folder = work / "metricx-24-hybrid-xl-shape"
    write_metricx(folder, shape, texts.all(), device)
    scorer = bb.metric("MetricX", model=str(folder), precision="bf16")
    own = ours(scorer, texts, watch_metricx)
    _forget()
    names = ("the authors' way: one text at a time", f"the same in padded batches of {PEER_BATCH}")
    read = peer_metricx(folder, texts, device, [(1, peer // 4), (PEER_BATCH, peer)])
    peers = dict(zip(names, read, strict=True))
    flops = [mt5_flops(shape, MT5_WORDS, published=published) for published in (True, False)]
    say(Model("MetricX-24, mT5-XL's shape" + " (tiny)" * tiny, *flops), own, peers, card)


def measure_xcomet(work: Path, texts: Texts, device: str, tiny: bool, peer: int, card: float) -> None:
    import billboards as bb
    from billboards.metrics.discovery import metric_names

    if "XCOMET" not in metric_names():
        print("\nXCOMET-XL's shape: not measured, this version has no metric XCOMET")
        return
    shape = TINY_XLMR if tiny else XLMR_XL
    folder = work / "xcomet-xl-shape"
    write_xcomet(folder, shape, texts.all(), device)
    scorer = bb.metric("XCOMET", model=str(folder), precision="bf16")
    own = ours(scorer, texts, watch_xcomet)
    _forget()
    name = f"the authors' way: by input, batches of {PEER_BATCH}"
    peers = {name: peer_xcomet(folder, texts, device, PEER_BATCH, peer)}
    flops = xlmr_flops(shape)
    say(Model("XCOMET, XLM-R-XL's shape" + " (tiny)" * tiny, flops, flops), own, peers, card)


def _forget() -> None:
    """Give back the memory of the models that metrics keep for the next call."""
    import gc

    import torch

    from billboards.metrics.neural.encoder import encoder
    from billboards.metrics.neural.first_step import first_step

    first_step.cache_clear()
    encoder.cache_clear()
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the texts of wmt20-zh-en and end")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="those texts, where the data are absent")
    parser.add_argument("--tiny", action="store_true", help="tiny shapes, a few outputs: to see that it runs")
    parser.add_argument("--only", choices=("metricx", "xcomet"), help="one of the two models")
    parser.add_argument("--instances", type=int, help="only the first N instances of each generator")
    parser.add_argument("--peer-outputs", type=int, default=1600, metavar="N", help="outputs that the peers score")
    parser.add_argument("--work", type=Path, help="a folder for the models (two of 7.5 GB, one after the other)")
    arguments = parser.parse_args()
    texts = Texts(**json.loads(arguments.texts.read_text("utf-8"))) if arguments.texts else board_texts()
    if arguments.export:
        if texts is None:
            raise SystemExit("wmt20-zh-en: data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        rows = {"rows": texts.rows, "references": texts.references, "sources": texts.sources}
        arguments.export.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
        return
    if texts is None and not arguments.tiny:
        print("wmt20-zh-en: not measured, data absent; name the texts (--texts FILE) that --export wrote elsewhere")
        return
    measure((texts or made_up()).first(4 if arguments.tiny else arguments.instances), arguments)


def measure(texts: Texts, arguments: argparse.Namespace) -> None:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    card = matrix_rate(device, 8192 if device == "cuda" else 512)
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"{where}, torch {torch.__version__}; a large product in bf16: {card / 1e12:.1f} TFLOP/s")
    models = {"metricx": measure_metricx, "xcomet": measure_xcomet}
    for name in (arguments.only,) if arguments.only else tuple(models):
        with tempfile.TemporaryDirectory(prefix="billboards-benchmark-", dir=arguments.work) as work:
            peer = 64 if arguments.tiny else arguments.peer_outputs
            models[name](Path(work), texts, device, arguments.tiny, peer, card)
        _forget()


if __name__ == "__main__":
    main()
