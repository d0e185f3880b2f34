"""Everything that reads a file from outside, each with a sound file of its kind.

A target takes bytes and returns, or raises one of billboards' own errors; anything else is a mistake of the reader. Its
sound file is what others' tests read, made anew in a folder of this run.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tarfile
import tempfile
import zipfile
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from catalogue_targets import catalogue
from importer_sources import MAKERS
from judged_boards import KEY, bare_board, judged_board
from kept_targets import kept
from outside_targets import outside
from page_sites import page_board
from pascal_clone import pascal_clone
from pickled_sets import pickled_sets, plain_data
from site_targets import sites
from target import Target, in_place
from tiny_t5 import metricx_config

from billboards._pickles import pickled_value
from billboards.analyses._annotators import read_annotator_counts
from billboards.analyses.suite.settings import read_suite
from billboards.board.check import check_board
from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.campaigns.crowd.mturk import read_batch
from billboards.campaigns.template_files import parse_template, shipped, template_source
from billboards.errors import InvalidInput
from billboards.formats import FORMATS, add_file, judgments_as_text
from billboards.importers import IMPORTERS
from billboards.metrics.discovery import metric
from billboards.metrics.neural.packed_t5 import read_settings as read_t5_settings
from billboards.metrics.neural.pairs import read_settings
from billboards.metrics.neural.published_values import read_published
from billboards.metrics.neural.weights import read_tensors
from billboards.metrics.neural.word_vectors import read_vectors
from billboards.reading import Problems, read_table, refuse_errors
from billboards.run.environments import parse_requirements
from billboards.run.manifest import read_manifest
from billboards.site.settings import read_site_settings
from billboards.site.submissions.archives import unpack_metric
from billboards.site.submissions.generator_files import read_generator


def importers(home: Path) -> Iterator[Target]:
    """Every file of every importer's small set."""
    for name in IMPORTERS:
        made = MAKERS[name](home / "sets" / name)
        for path in made.files:
            yield in_place(f"import {name} {path.name}", path, partial(made.load, name))


def pickles(home: Path) -> Iterator[Target]:
    """Pickled sets as their repositories have them, and every kind of plain data in every protocol."""
    for name, file, value in pickled_sets():
        path = home / "pickles" / name / file
        path.parent.mkdir(parents=True)
        path.write_bytes(pickle.dumps(value, 3))
        yield in_place(f"import {name} {path.name}", path, partial(IMPORTERS.load(name), path))
    for protocol in range(6):
        raw = pickle.dumps(plain_data(), protocol)
        yield Target(f"import pickle of protocol {protocol}", raw, partial(pickled_value, name="data.pkl"))


def matlab_files(home: Path) -> Iterator[Target]:
    """Both files of a clone with captions, one of them zipped."""
    clone = pascal_clone(home / "matlab")
    for path in sorted((clone / "data").iterdir()):
        yield in_place(f"import pascal-50s {path.name}", path, partial(IMPORTERS.load("pascal-50s"), clone))


def tables(home: Path) -> Iterator[Target]:
    """Tables in the other forms that they may have."""
    import pyarrow
    from pyarrow import parquet

    columns = {"instance": ["i1", "i2"], "right": [3, 4], "text": ["hello", "there"]}
    path = home / "table.parquet"
    parquet.write_table(pyarrow.table(columns), path, compression="none", use_dictionary=False)
    yield in_place("import table.parquet", path, partial(_read_rows, path))
    for suffix in (".jsonl.gz", ".tsv"):
        path = home / f"table{suffix}"
        path.write_bytes(gzip.compress(b'{"a": 1}\n', mtime=0) if suffix == ".jsonl.gz" else b"a\tb\n1\t2\n")
        yield in_place(f"import table{suffix}", path, partial(_read_rows, path))


def _read_rows(path: Path) -> None:
    problems = Problems()
    list(read_table(path, problems).rows)
    refuse_errors(problems)


def formats(home: Path) -> Iterator[Target]:
    """Every format of judgments."""
    for form in FORMATS:
        judged = judged_board(form)
        board = replace(bare_board(), dimensions=judged.dimensions)
        path = home / f"judgments-{form}"
        path.write_text(judgments_as_text(judged, form, key=KEY), "utf-8")
        yield in_place(f"judgments {form}", path, partial(add_file, board, path, form, "c"))


def board_folders(home: Path) -> Iterator[Target]:
    """Every file of folders with scores, comparisons and outputs of nobody."""
    for name in ("table", "pascal-50s", "flickr8k", "summeval"):
        board = MAKERS[name](home / "folders" / name).load(name).board
        folder = write_board(board, home / "folders" / f"{name}-board")
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            inside = path.relative_to(folder).as_posix()
            yield in_place(f"board {name} {inside}", path, partial(_open_and_check, folder))


def _open_and_check(folder: Path) -> None:
    """Checking finds something wherever opening refuses."""
    try:
        open_board(folder)
    except InvalidInput:
        assert any(problem.severity == "error" for problem in check_board(folder))


def submissions(home: Path) -> Iterator[Target]:
    """What submitters send: outputs in each form, archives, manifests, lists of packages."""
    board = page_board()
    lines = [
        json.dumps({"instance": i.id, "text": f"é {k}"}, ensure_ascii=False) for k, i in enumerate(board.instances)
    ]
    yield Target("outputs jsonl", "\n".join(lines).encode(), lambda raw: read_generator(raw, board))
    yield Target("outputs text", "\n".join(f"line {k}" for k in range(8)).encode(), lambda r: read_generator(r, board))
    for name, raw in (("zip", _zip()), ("tar", _tar("")), ("tar.gz", _tar("gz")), ("tar.bz2", _tar("bz2"))):
        yield Target(f"metric {name}", raw, _unpack)
    yield Target("metric tar.xz", _tar("xz"), _unpack)
    folder = home / "metric"
    folder.mkdir()
    for file, text in FOLDER.items():
        (folder / file).write_text(text)
    yield in_place("metric metric.toml", folder / "metric.toml", lambda: read_manifest(folder))
    asked = b"numpy==1.26.0\nscipy>=1.11,<2  # a comment\nrich~=13.7\n"
    yield Target("metric requirements.txt", asked, lambda raw: parse_requirements(raw.decode("utf-8", "replace")))


FOLDER: Mapping[str, str] = {
    "metric.py": "def score(outputs, references, inputs):\n    return [1.0 for _ in outputs]\n",
    "metric.toml": 'name = "words"\nhigher_is_better = true\nneeds = ["references"]\ntraining_data = "none"\n'
    'range = [0, 1]\nlanguages = ["en"]\nsummary = "Words."\nlicence = "MIT"\ndeterministic = true\n',
}


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in FOLDER.items():
            archive.writestr(zipfile.ZipInfo(f"words/{name}"), text)
    return packed.getvalue()


def _tar(squeezed: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{squeezed}") as archive:  # type: ignore[call-overload]
        for name, text in FOLDER.items():
            info = tarfile.TarInfo(f"words/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def _unpack(raw: bytes) -> None:
    """Unpacked, everything lies inside the folder and is a file."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "in" / "metric"
        unpack_metric(raw, folder)
        assert {path.name for path in Path(work).iterdir()} == {"in"}
        assert {path.name for path in folder.parent.iterdir()} == {"metric"}
        assert not any(path.is_symlink() for path in folder.rglob("*"))


def weight_files(home: Path) -> Iterator[Target]:
    """Weights of models in each form."""
    import torch
    from safetensors.torch import save_file

    folder = home / "weights"
    folder.mkdir()
    tensors = {"layer.weight": torch.arange(6.0).reshape(2, 3), "layer.bias": torch.zeros(2, dtype=torch.bfloat16)}
    torch.save({"state_dict": tensors, "hyper_parameters": Namespace(layer="mix")}, folder / "model.ckpt")
    save_file(tensors, folder / "model.safetensors")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"layer.weight": "model.safetensors"}}')
    for path in sorted(folder.iterdir()):
        yield in_place(f"weights {path.name}", path, partial(read_tensors, path))
    settings = folder / "config.json"
    settings.write_text('{"model_type": "bert", "hidden_size": 8}')
    yield in_place("weights config.json", settings, partial(read_settings, settings))
    reader = folder / "t5" / "config.json"
    reader.parent.mkdir()
    reader.write_text(json.dumps(metricx_config()))
    yield in_place("weights t5/config.json", reader, partial(read_t5_settings, reader.parent))
    text, packed = b"cat 0.5 1\ndog 1 -2e-1\n", b"1 2\ncat " + bytes(8)
    for name, raw in (("v.txt", text), ("v.txt.gz", gzip.compress(text, mtime=0)), ("v.bin", packed)):
        (folder / name).write_bytes(raw)
        yield in_place(f"weights {name}", folder / name, partial(_read_vectors, folder / name))
    examples = folder / "examples.toml"
    examples.write_text('metric = "BLEURT"\n[[examples]]\noutput = "a"\nreferences = ["b"]\nscore = 0.5\n')
    yield in_place("weights examples.toml", examples, partial(read_published, examples))


def _read_vectors(path: Path) -> None:
    for _ in read_vectors(path):
        pass


def others(home: Path) -> Iterator[Target]:
    """Templates of questions, settings, suites, counts of annotators, batches of a crowd platform."""
    for name in shipped():
        yield Target(f"template {name}", template_source(name).encode(), partial(_read_template, name))
    settings = home / "settings"
    settings.mkdir()
    (settings / "site.toml").write_text(SETTINGS)
    yield in_place("site settings", settings / "site.toml", lambda: read_site_settings(settings))
    yield from _tables(home)
    spec = b"chrF(beta=1, word_order=2)"
    yield Target("spec of a metric", spec, lambda raw: metric(raw.decode("utf-8", "replace")))


def _read_template(name: str, raw: bytes) -> object:
    return parse_template(raw.decode("utf-8", "replace"), name)


SETTINGS = """title = "Lab"
lease_seconds = 30.5
attempts = 2
suites = ["one.toml"]
[mail]
host = "localhost"
sender = "a@b.example"
port = 25
[oidc]
issuer = "https://id.example"
client_id = "c"
"""

SUITE = """name = "two"
metrics = ["ROUGE-1", "BLEU"]
[families]
n-gram = ["ROUGE-1", "BLEU"]
[[boards]]
folder = "a"
correctness = "adequacy"
weight = 2
[[boards]]
folder = "b"
correctness = ["fluency"]
difficulty = 0.5
instead = {BLEU = "chrF"}
"""


def _tables(home: Path) -> Iterator[Target]:
    suite = home / "suite.toml"
    suite.write_text(SUITE)
    yield in_place("suite settings", suite, lambda: read_suite(suite))
    counts = home / "counts.csv"
    counts.write_text("annotator,right,wrong,kind\nann,3,1,good\nbob,12.0,0,bad\n")
    yield in_place("counts of annotators", counts, lambda: read_annotator_counts(counts))
    batch = home / "batch.csv"
    batch.write_text(
        '"HITId","AssignmentId","WorkerId","AssignmentStatus","WorkTimeInSeconds","SubmitTime","Input.text",'
        '"Answer.rating"\n"h1","a1","w1","Approved","31","Mon Nov 02 10:00:00 PST 2020","A text.","4"\n'
    )
    yield in_place("batch of assignments", batch, lambda: read_batch(batch))


def all_targets(home: Path, stack: ExitStack) -> dict[str, Target]:
    """Every target by its name; what they open is closed with the stack."""
    (home / "folders").mkdir(parents=True)
    groups = (
        importers,
        pickles,
        matlab_files,
        tables,
        formats,
        board_folders,
        submissions,
        weight_files,
        others,
        catalogue,
        kept,
        sites,
        partial(outside, stack=stack),
    )
    return {target.name: target for group in groups for target in group(home)}
