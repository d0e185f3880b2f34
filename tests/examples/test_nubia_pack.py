"""The Nubia pack: its arithmetic beside transformers and scikit-learn, and its program as a pack runs it."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from question_models import SIZES, loaded, word_tokenizer

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch
from billboards.run.environments import Environment, parse_requirements
from billboards.run.manifest import read_manifest
from billboards.run.packs import build_pack, open_pack
from billboards.run.program import given_files, open_program
from billboards.run.sandbox import sandbox_available
from billboards.run.score_lines import parse_scores

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
transformers = pytest.importorskip("transformers", reason="install 'billboards[neural]'")
neural_network = pytest.importorskip("sklearn.neural_network", reason="scikit-learn is not installed")

PACK = Path(__file__).resolve().parents[2] / "examples" / "packs" / "nubia"
OUTPUTS = ["the cat sat on the mat .", "", "Alice met Bob in Rome", "a dog ran away , not very small", "the cat sat ."]
REFERENCES = [
    ["the cat sat .", "a cat sat on a mat"],
    ["the dog ran"],
    ["Alice saw Carol"],
    ["the dog ran away"],
    ["the cat sat ."],
]


def pack_module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"pack_{name}", PACK / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def network() -> Any:
    """An aggregator of scikit-learn, trained on noise."""
    random = np.random.default_rng(4)
    made = neural_network.MLPRegressor(
        hidden_layer_sizes=(6, 4), activation="relu", max_iter=400, tol=1e-3, random_state=3
    )
    return made.fit(random.normal(size=(60, 8)) * 3, random.normal(size=60))


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory, network: Any) -> Path:
    """A copy of the pack with small random models in it."""
    folder = tmp_path_factory.mktemp("packs") / "nubia"
    shutil.copytree(PACK, folder, ignore=shutil.ignore_patterns("__pycache__", "models"))
    write_models(folder / "models", network)
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    return folder


def write_models(models: Path, network: Any) -> None:
    words = word_tokenizer()
    words.model_input_names = ["input_ids", "attention_mask"]
    words.eos_token = "[SEP]"
    # An order that is not the program's, in capitals.
    relations = {0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"}
    for k, (name, labels) in enumerate({"sts": {0: "LABEL_0"}, "mnli": relations}.items()):
        config = transformers.RobertaConfig(
            vocab_size=len(words), max_position_embeddings=66, pad_token_id=1, id2label=labels, **SIZES
        )
        config.initializer_range = 0.4
        torch.manual_seed(30 + k)
        transformers.RobertaForSequenceClassification(config).save_pretrained(models / name)
        words.save_pretrained(models / name)
    ends = {"bos_token_id": 2, "eos_token_id": 2}
    torch.manual_seed(32)
    causal = transformers.GPT2Config(
        vocab_size=len(words), n_positions=64, n_embd=16, n_layer=2, n_head=2, initializer_range=0.3, **ends
    )
    transformers.GPT2LMHeadModel(causal).save_pretrained(models / "gpt2")
    words.backend_tokenizer.post_processor = None
    words.save_pretrained(models / "gpt2")
    (models / "aggregator.json").write_text(json.dumps(pack_module("convert_aggregator").convert(network)), "utf-8")


def known(folder: Path, reference: str, output: str) -> list[float]:
    """The eight features of one pair, straight from the models."""
    models = folder / "models"
    logits = []
    for name in ("sts", "mnli"):
        model, tokenizer = loaded(models / name, "AutoModelForSequenceClassification")
        with torch.no_grad():
            logits.append(model(**tokenizer(reference, output, return_tensors="pt")).logits[0])
    entailment, neutral, contradiction = torch.log_softmax(logits[1], -1).tolist()
    lengths = [len(text.split(" ")) for text in (reference, output)]
    losses = [loss(models / "gpt2", text) for text in (reference, output)]
    return [5 * float(logits[0]), contradiction, neutral, entailment, *losses, *lengths]


def loss(folder: Path, text: str) -> float:
    model, tokenizer = loaded(folder, "AutoModelForCausalLM")
    ids = [2, *tokenizer(text)["input_ids"]]
    with torch.no_grad():
        likely = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], -1)
    return -float(np.mean([float(likely[k, ids[k + 1]]) for k in range(len(ids) - 1)]))


def nubia(folder: Path, network: Any, reference: str, output: str) -> float:
    if not output:
        return 0.0
    raw, own = network.predict(np.array([known(folder, reference, text) for text in (output, reference)])).tolist()
    return float(min(1.0, max(0.0, 1 - (own - raw) / (abs(own) + 1))))


@pytest.fixture(scope="module")
def expected(pack: Path, network: Any) -> list[float]:
    return [
        max(nubia(pack, network, text, output) for text in texts)
        for output, texts in zip(OUTPUTS, REFERENCES, strict=True)
    ]


def test_the_score_is_what_models_and_aggregator_say(pack: Path, expected: list[float]) -> None:
    found = pack_module("nubia").score(OUTPUTS, REFERENCES, pack / "models")
    assert found == pytest.approx(expected, abs=1e-5)
    # The empty output scores 0, the one that equals its reference 1.
    assert (found[1], found[4]) == (0.0, 1.0)
    assert sum(0.01 < score < 0.99 for score in found) >= 2


@pytest.mark.long
def test_it_runs_behind_the_walls_that_every_pack_runs_behind(pack: Path, expected: list[float]) -> None:
    if not sandbox_available():
        pytest.skip(str(sandbox_available().reason))
    packages = Path(transformers.__file__).resolve().parents[1]
    closed = [folder for folder in (packages, *packages.parents) if not folder.stat().st_mode & 0o001]
    if closed:
        pytest.skip(f"packages of this Python lie in a closed folder: {closed[0]}")
    # What `pack build` would have installed is at hand here: torch and transformers of these tests.
    program = replace(open_program(pack), environment=Environment(packages, "of the tests", (), ""))
    assert program.score_batch(Batch(OUTPUTS, REFERENCES)).tolist() == pytest.approx(expected, abs=1e-5)


def test_files_are_read_and_written_as_a_pack_is_given_them(
    pack: Path, expected: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in given_files(read_manifest(pack).card, Batch(OUTPUTS, REFERENCES), b"seed").items():
        (tmp_path / name).write_bytes(content)
    module = pack_module("nubia")
    monkeypatch.setattr(module, "MODELS", pack / "models")
    names = ("source.jsonl", "generator.jsonl", "references.jsonl", "scores.txt")
    module.main(*(str(tmp_path / name) for name in names))
    written = parse_scores((tmp_path / "scores.txt").read_bytes(), len(OUTPUTS))
    assert written.tolist() == pytest.approx(expected, abs=1e-5)


def test_an_aggregator_is_read_as_scikit_learn_computes_it(tmp_path: Path) -> None:
    nubia_py, converter = pack_module("nubia"), pack_module("convert_aggregator")
    random = np.random.default_rng(8)
    given = random.normal(size=(9, 8))
    for activation in ("identity", "logistic", "tanh", "relu"):
        for width in (6, 8):
            made = neural_network.MLPRegressor(
                hidden_layer_sizes=(5, 3), activation=activation, max_iter=300, tol=1e-2, random_state=1
            )
            made.fit(random.normal(size=(30, width)), random.normal(size=30))
            file = tmp_path / "aggregator.json"
            file.write_text(json.dumps(converter.convert(made)), "utf-8")
            np.testing.assert_allclose(nubia_py.aggregate(given, file), made.predict(given[:, :width]), atol=1e-9)


def test_the_converter_reads_a_pickle_and_refuses_what_is_no_network(tmp_path: Path, network: Any) -> None:
    joblib = pytest.importorskip("joblib")
    converter = pack_module("convert_aggregator")
    joblib.dump(network, tmp_path / "own.joblib")
    converter.main(str(tmp_path / "own.joblib"), str(tmp_path / "own.json"))
    given = np.random.default_rng(1).normal(size=(3, 8))
    np.testing.assert_allclose(
        pack_module("nubia").aggregate(given, tmp_path / "own.json"), network.predict(given), atol=1e-9
    )
    with pytest.raises(SystemExit, match="holds a dict; a network with layers"):
        converter.convert({})


@pytest.mark.parametrize(
    ("own", "raw", "calibrated"),
    [(0.5, 0.5, 1.0), (0.5, 2.0, 1.0), (1.0, 0.0, 0.5), (-1.0, -2.0, 0.5), (0.0, -3.0, 0.0)],
)
def test_a_score_is_set_against_the_references_own(own: float, raw: float, calibrated: float) -> None:
    assert pack_module("nubia").calibrate(raw, own) == calibrated


def test_the_output_of_a_similarity_model_may_need_a_sigmoid(pack: Path, tmp_path: Path) -> None:
    models, module = tmp_path / "models", pack_module("nubia")
    shutil.copytree(pack / "models", models)
    pairs = [("the cat sat", "a dog ran"), ("Alice", "Bob")]
    plain = module.features(pairs, models)
    (models / "settings.json").write_text('{"similarity_sigmoid": true}')
    np.testing.assert_allclose(module.features(pairs, models)[:, 0], 5 / (1 + np.exp(-plain[:, 0] / 5)))


def test_what_is_missing_is_named(pack: Path, tmp_path: Path) -> None:
    module, models = pack_module("nubia"), tmp_path / "models"
    with pytest.raises(SystemExit, match=r"models/sts holds no model; README\.md says what belongs there"):
        module.score(["a"], [["a"]], models)
    shutil.copytree(pack / "models", models)
    shutil.copytree(pack / "models" / "sts", models / "mnli", dirs_exist_ok=True)
    with pytest.raises(SystemExit, match="models/mnli has the labels label_0; contradiction, neutral, entailment are"):
        module.score(["a"], [["a"]], models)
    shutil.copytree(pack / "models" / "mnli", models / "sts", dirs_exist_ok=True)
    with pytest.raises(SystemExit, match="models/sts gives 3 numbers"):
        module.score(["a"], [["a"]], models)
    shutil.copytree(pack / "models" / "gpt2", models / "sts", dirs_exist_ok=True)
    with pytest.raises(SystemExit, match="models/sts lacks "):
        module.score(["a"], [["a"]], models)


def test_it_is_a_pack_as_far_as_can_be_told_without_an_index(pack: Path, tmp_path: Path) -> None:
    manifest = read_manifest(PACK)
    assert manifest.card.name == "Nubia"
    assert (manifest.entry, manifest.card.needs_references, manifest.card.needs_input) == ("run.sh", True, False)
    assert manifest.card.missing() == ()
    assert [re.split("[<>=]", line)[0] for line in parse_requirements(manifest.requirements)] == [
        "numpy",
        "torch",
        "transformers",
    ]
    # A folder of wheels that holds none of them: refused, with what is missing.
    (tmp_path / "wheels").mkdir()
    with pytest.raises(InvalidInput, match=r"no set of wheels for this server's Python .* fits numpy"):
        build_pack(pack, home=tmp_path / "home", wheels=tmp_path / "wheels")
    # Without requirements it is built, named and found.
    copy = tmp_path / "nubia"
    shutil.copytree(pack, copy)
    (copy / "requirements.txt").write_text("")
    assert build_pack(copy, home=tmp_path / "home").pack.name == "Nubia"
    assert open_pack("Nubia", home=tmp_path / "home").signature.startswith("Nubia|program:")
