"""BLEURT-20: tiny checkpoints as bleurt-pytorch and Google publish them, beside the network written out in loops.

The layouts are those of lucadiliello/BLEURT-20 (config.json, spm.model, pytorch_model.bin; bleurt-pytorch 0.0.1) and
of google-research/bleurt (bleurt_config.json, bert_config.json, saved_model.pb, variables/).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pair_checkpoints import HEADS, LAYERS, NARROW, SETTINGS, WIDTH, random_state, write_port
from piece_files import PIECES, field, piece_model, save_variables

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch
from billboards.metrics.neural.pairs import fitting

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.bleurt import Bleurt  # noqa: E402
from billboards.metrics.neural.learned import TextsCut  # noqa: E402

OUTPUTS = ["the cat sat on the mat", "a dog ran", "the cat", "", "some dog ran off."]
REFERENCES = [["a cat sat", "the cat sat on a mat"], ["the dog ran"], ["the cat"], ["a mat"], ["[SEP] a dog ran"]]
BATCH = Batch(OUTPUTS, REFERENCES)


def written_out(state: Mapping[str, Any], ids: list[int], sides: list[int], *, tanh: bool = False) -> float:
    """The network, one head and one pair at a time."""

    def linear(name: str, rows: Any) -> Any:
        return rows @ state[f"{name}.weight"].T + state[f"{name}.bias"]

    def norm(name: str, rows: Any) -> Any:
        spread = ((rows - rows.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True)
        rows = (rows - rows.mean(-1, keepdim=True)) / torch.sqrt(spread + 1e-12)
        return rows * state[f"{name}.weight"] + state[f"{name}.bias"]

    def gelu(rows: Any) -> Any:
        if tanh:
            return rows * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (rows + 0.044715 * rows**3)))
        return rows * 0.5 * (1 + torch.erf(rows / math.sqrt(2)))

    tables = "bleurt.embeddings.{}_embeddings.weight"
    rows = state[tables.format("word")][ids] + state[tables.format("token_type")][sides]
    rows = norm("bleurt.embeddings.LayerNorm", rows + state[tables.format("position")][: len(ids)])
    if "bleurt.encoder.embedding_projection.weight" in state:
        rows = linear("bleurt.encoder.embedding_projection", rows)
    for k in range(LAYERS):
        layer, size = f"bleurt.encoder.layer.{k}", WIDTH // HEADS
        query, key, value = (linear(f"{layer}.attention.self.{part}", rows) for part in ("query", "key", "value"))
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            heads.append(torch.softmax(query[:, part] @ key[:, part].T / math.sqrt(size), -1) @ value[:, part])
        mixed = linear(f"{layer}.attention.output.dense", torch.cat(heads, 1))
        rows = norm(f"{layer}.attention.output.LayerNorm", mixed + rows)
        inner = gelu(linear(f"{layer}.intermediate.dense", rows))
        rows = norm(f"{layer}.output.LayerNorm", linear(f"{layer}.output.dense", inner) + rows)
    return float(linear("classifier", torch.tanh(linear("bleurt.pooler.dense", rows[0]))))


def by_hand(text: str) -> list[int]:
    """Pieces of these tests' texts: whole words, else letters; "[" and "]" are unknown."""
    numbers = {piece: k for k, (piece, _, _) in enumerate(PIECES)}
    ids: list[int] = []
    for word in text.split():
        ending = word[-1:] if word[-1:] == "." else ""
        stem = word.removesuffix(ending)
        ids += [numbers[f"▁{stem}"]] if f"▁{stem}" in numbers else [numbers["▁"], *(numbers.get(c, 1) for c in stem)]
        ids += [numbers[ending]] if ending else []
    # A run of unknown characters is one piece.
    return [number for k, number in enumerate(ids) if number != 1 or ids[k - 1] != 1]


def joined(reference: str, output: str) -> tuple[list[int], list[int]]:
    first, second = by_hand(reference), by_hand(output)
    return [2, *first, 3, *second, 3], [0] * (len(first) + 2) + [1] * (len(second) + 1)


def expected(state: Mapping[str, Any], *, tanh: bool = False) -> list[float]:
    pairs = zip(OUTPUTS, REFERENCES, strict=True)
    return [max(written_out(state, *joined(text, output), tanh=tanh) for text in texts) for output, texts in pairs]


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return write_port(tmp_path / "BLEURT-tiny")


def test_the_ports_scores_are_those_of_the_network_written_out(port: Path) -> None:
    wanted = expected(random_state())
    np.testing.assert_allclose(Bleurt(str(port)).score_batch(BATCH), wanted, atol=2e-6)
    assert np.ptp(wanted) > 0.1


def test_safetensors_give_the_same_scores(port: Path) -> None:
    from safetensors.torch import save_file

    save_file(random_state(), port / "model.safetensors")
    (port / "pytorch_model.bin").unlink()
    np.testing.assert_allclose(Bleurt(str(port)).score_batch(BATCH), expected(random_state()), atol=2e-6)


def test_half_the_precision_gives_nearly_the_same(port: Path) -> None:
    near = Bleurt(str(port), precision="bf16").score_batch(BATCH)
    np.testing.assert_allclose(near, expected(random_state()), atol=0.1)


def test_a_pair_that_is_too_long_loses_tokens_as_in_googles_code(port: Path) -> None:
    with pytest.warns(TextsCut, match="1 of 1 texts were cut at the 48 tokens"):
        score = Bleurt(str(port)).score_batch(Batch(["cat " * 60], [["dog " * 60]]))
    dog, cat = by_hand("dog")[0], by_hand("cat")[0]
    kept = written_out(random_state(), [2, *[dog] * 23, 3, *[cat] * 22, 3], [0] * 25 + [1] * 23)
    np.testing.assert_allclose(score, [kept], atol=2e-6)


@pytest.mark.parametrize("room", range(10))
def test_tokens_are_lost_one_by_one(room: int) -> None:
    for first in range(8):
        for second in range(8):
            one, other = first, second
            while one + other > room:
                one, other = (one - 1, other) if one > other else (one, other - 1)
            assert fitting(first, second, room) == (one, other)


def as_variables(state: Mapping[str, Any]) -> dict[str, Any]:
    """The same weights under TensorFlow's names."""
    arrays = {}
    for name, value in state.items():
        parts = name.replace("bleurt.", "bert.").replace("layer.", "layer_").split(".")
        parts = ["dense", *parts[1:]] if parts[0] == "classifier" else parts
        parts = ["embedding_hidden_mapping_in" if part == "embedding_projection" else part for part in parts]
        normed = "LayerNorm" in parts
        if parts[-1] == "weight" and parts[-2].endswith("_embeddings"):
            arrays["/".join(parts[:-1])] = value.numpy()
        elif parts[-1] == "weight":
            arrays["/".join([*parts[:-1], "gamma" if normed else "kernel"])] = (value if normed else value.T).numpy()
        else:
            arrays["/".join([*parts[:-1], "beta" if normed else "bias"])] = value.numpy()
    return arrays


def save_google(
    folder: Path, state: Mapping[str, Any], settings: Mapping[str, Any], operation: bytes, **sizes: Any
) -> None:
    """A checkpoint as google-research/bleurt finishes it (bleurt/checkpoint.py)."""
    arrays = as_variables(state) | {"global_step": np.array(9, np.int64), "bert/pooler/dense/bias/Adam": np.ones(3)}
    save_variables(folder / "variables", arrays)
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
    said = {name: SETTINGS[name] for name in (*names, "max_position_embeddings", "type_vocab_size", "hidden_act")}
    (folder / "bert_config.json").write_text(json.dumps({**said, **sizes}))
    (folder / "bleurt_config.json").write_text(
        json.dumps({"name": "tiny", "bert_config_file": "bert_config.json", **settings})
    )
    nodes = field(1, field(1, b"a") + field(2, b"MatMul")) + field(1, field(1, b"b") + field(2, operation))
    (folder / "saved_model.pb").write_bytes(field(1, 1) + field(2, field(2, nodes)))


@pytest.mark.parametrize(("operation", "tanh"), [(b"Erf", False), (b"Tanh", True)])
def test_googles_own_folder_is_read_without_tensorflow(tmp_path: Path, operation: bytes, *, tanh: bool) -> None:
    settings = {"vocab_file": None, "do_lower_case": None, "sp_model": "sent_piece", "max_seq_length": 40}
    save_google(tmp_path / "BLEURT-20", random_state(), settings, operation, embedding_size=NARROW)
    (tmp_path / "BLEURT-20" / "sent_piece.model").write_bytes(piece_model(PIECES))
    scorer = Bleurt(str(tmp_path / "BLEURT-20"))
    np.testing.assert_allclose(scorer.score_batch(BATCH), expected(random_state(), tanh=tanh), atol=2e-6)
    assert scorer.signature.startswith("BLEURT|model:BLEURT-20|weights:")
    with pytest.warns(TextsCut, match="cut at the 40 tokens"):
        scorer.score_batch(Batch(["cat " * 60], [["dog"]]))


def test_googles_older_folder_has_words_and_a_plain_bert(tmp_path: Path) -> None:
    folder, state = tmp_path / "bleurt-tiny", random_state(narrow=None)
    settings = {"vocab_file": "vocab.txt", "do_lower_case": True, "max_seq_length": 24}
    save_google(folder, state, settings, b"Tanh")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "a", "dog"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    wanted = written_out(state, [2, 5, 6, 3, 8, 9, 7, 3], [0, 0, 0, 0, 1, 1, 1, 1], tanh=True)
    scores = Bleurt(str(folder)).score_batch(Batch(["a dog SAT"], [["the Cat"]]))
    np.testing.assert_allclose(scores, [wanted], atol=2e-6)


def test_what_is_missing_or_does_not_fit_is_named(port: Path, tmp_path: Path) -> None:
    def refuse(folder: Path, reason: str) -> None:
        with pytest.raises(InvalidInput, match=reason):
            Bleurt(str(folder)).score_batch(BATCH)

    torch.save({"classifier.weight": torch.ones(1, WIDTH)}, port / "pytorch_model.bin")
    refuse(port, r"BLEURT-tiny: \d+ weights don't fit its settings, first rembert\.")
    torch.save({"classifier.weight": torch.ones(3, WIDTH)}, port / "pytorch_model.bin")
    refuse(port, "its weights don't fit its settings: size mismatch for classifier.weight")
    (port / "config.json").write_text('{"model_type": "bleurt"}')
    refuse(port, "BLEURT-tiny doesn't say its vocab_size")
    folder = tmp_path / "google"
    folder.mkdir()
    (folder / "bleurt_config.json").write_text('{"sp_model": "../sent_piece"}')
    with pytest.raises(InvalidInput, match=r"no whole checkpoint of BLEURT's: bert_config\.json is missing"):
        Bleurt(str(folder)).signature  # noqa: B018
    (folder / "bert_config.json").write_text("{}")
    (folder / "saved_model.pb").write_bytes(b"")
    with pytest.raises(InvalidInput, match=r"lacks sent_piece\.model, which bleurt_config\.json names"):
        Bleurt(str(folder)).signature  # noqa: B018
    (folder / "bleurt_config.json").write_text("[1]")
    with pytest.raises(InvalidInput, match="holds no settings"):
        Bleurt(str(folder)).signature  # noqa: B018


def test_the_signature_changes_with_pieces_settings_and_weights(port: Path) -> None:
    signatures = {Bleurt(str(port)).signature}
    (port / "spm.model").write_bytes(piece_model(PIECES[:-1]))
    signatures.add(Bleurt(str(port)).signature)
    (port / "config.json").write_text(json.dumps({**SETTINGS, "hidden_act": "gelu_new"}))
    signatures.add(Bleurt(str(port)).signature)
    torch.save(random_state(), port / "pytorch_model.bin")
    signatures.add(Bleurt(str(port)).signature)
    assert len(signatures) == 4
