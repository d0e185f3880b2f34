"""Files that are meant to hurt: each is refused with words, in a bounded process, or is harmless and taken."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import resource
import tarfile
import tempfile
import time
import tomllib
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from attacked_site import attacked_board

from billboards.errors import BillboardsError
from billboards.metrics.base import Batch, MetricCard
from billboards.metrics.discovery import metric
from billboards.metrics.statistics import composed
from billboards.reading import toml_document
from billboards.run.environments import parse_requirements
from billboards.run.program import ProgramMetric
from billboards.run.score_lines import parse_scores
from billboards.site.submissions.archive_process import declared_in
from billboards.site.submissions.archives import MOST_BYTES
from billboards.site.submissions.generator_files import read_generator
from billboards.site.submissions.sent_scores import read_sent
from billboards.site.submissions.suite_sending import outputs_by_board

MIB = 2**20
PROGRAM = "def score(outputs, references, inputs):\n    return [1.0 for _ in outputs]\n"
LOAD = b"def load():\n    return 1\n"
GOOD = 'name = "mine"\nhigher_is_better = true\nneeds = []\ntraining_data = "none"\n'
Make = Callable[[], bytes]


def zipped(files: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def manifest(text: str) -> Make:
    return lambda: zipped({"metric.toml": text, "metric.py": PROGRAM})


def names(*given: str) -> Make:
    return lambda: zipped({"metric.toml": GOOD, "metric.py": PROGRAM, **dict.fromkeys(given, "x")})


def tarred(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def linked(kind: bytes) -> bytes:
    info = tarfile.TarInfo("link")
    info.type, info.linkname = kind, "/etc/passwd"
    return tarred((info, b""), (tarfile.TarInfo("metric.py"), PROGRAM.encode()))


def with_pax(headers: dict[str, str]) -> bytes:
    info = tarfile.TarInfo("metric.py")
    info.pax_headers = headers
    return tarred((info, PROGRAM.encode()))


def requiring(line: str) -> Make:
    return line.encode


#: What each file says must be wrong with it; empty where it is taken.
METRICS: dict[str, tuple[Make, str]] = {
    "a key of 10,000 parts": (manifest("a." * 10_000 + "a = 1\n"), "more than 20 parts"),
    "a table of 10,000 parts": (manifest("[" + "a." * 10_000 + "a]\n"), "more than 20 parts"),
    "10,000 parts inside a table": (manifest("x = {" + "a." * 10_000 + "a = 1}\n"), "more than 20 parts"),
    "10,000 quoted parts": (manifest(".".join(['"a"'] * 10_000) + " = 1\n"), "more than 20 parts"),
    "parts behind a text": (manifest("x = '''\n#\"'''\n" + "a." * 30 + "a = 1\n"), "more than 20 parts"),
    "parts behind a text that ends in four quotation marks": (
        manifest("x = '''a''''\n" + "a." * 10_000 + "a = 1\n"),
        "more than 20 parts",
    ),
    "parts behind a text that ends in four double ones": (
        manifest('x = """a""""\n' + "a." * 10_000 + "a = 1\n"),
        "more than 20 parts",
    ),
    "a manifest of 65 kilobytes": (manifest("#" * 65_537), "larger than 65,536 bytes"),
    "6,000 unknown keys": (manifest("".join(f"k{k}=1\n" for k in range(6_000))), "(and 100 more)"),
    "lists in one another": (manifest("x = " + "[" * 30_000), "nested too deeply"),
    "a number of 5,000 digits": (manifest("x = " + "9" * 5000), "is no TOML"),
    "a number of 60,000 hexadecimal digits": (manifest(f"x = 0x{'f' * 60_000}"), "a whole number of 240,000 bits"),
    "a number of 60,000 binary digits in a list": (manifest(f"x = [[{{a = 0b{'1' * 60_000}}}]]"), "60,000 bits"),
    "a manifest that is no text": (lambda: zipped({"metric.toml": b"\xff\xfe", "metric.py": PROGRAM}), "no UTF-8"),
    "a file that is a folder": (names("a", "a/b"), "which is a file"),
    "a folder that is a file": (names("a/b/c", "a/b"), "which is a file"),
    "one file twice": (names("x", "./x"), "is there twice"),
    "names that differ in case": (names("x.py", "X.py"), "differs only in case"),
    "a name that leads up": (names("../x"), "leads out"),
    "a name from the root": (names("/etc/cron.d/x"), "leads out"),
    "a name of Windows": (names("C:\\x"), "leads out"),
    "a name that is the folder": (names("."), "no usable name"),
    "a name that turns the text": (names("a\u202eb"), "no usable name"),
    "a name of 300 letters": (names("n" * 300), "no usable name"),
    "folders in one another": (names("d/" * 50 + "x"), "may lie inside one another"),
    "a bomb": (lambda: zipped({"bomb": b"\0" * (200 * MIB), "metric.py": PROGRAM}), "at most"),
    "5,001 files": (names(*(f"f{k}" for k in range(5_001))), "5000 are allowed"),
    "half an archive": (lambda: manifest(GOOD)()[:200], "neither a zip"),
    "a tar of a link": (lambda: linked(tarfile.SYMTYPE), "is a link"),
    "a tar of a hard link": (lambda: linked(tarfile.LNKTYPE), "is a link"),
    "a tar of a device": (lambda: linked(tarfile.CHRTYPE), "no ordinary file"),
    "a header of eight megabytes": (lambda: gzip.compress(with_pax({"comment": "x" * 8 * MIB})), "headers larger"),
    "a size that no disk has": (lambda: with_pax({"size": "9" * 40}), "damaged or unusual"),
    "a size that is no number": (lambda: with_pax({"size": "many"}), ""),
    "a gzip bomb": (lambda: gzip.compress(b"\0" * (100 * MIB)), "archive bomb"),
    "a bzip2 bomb": (lambda: bz2.compress(b"\0" * (100 * MIB)), "archive bomb"),
    "an xz bomb": (lambda: lzma.compress(b"\0" * (100 * MIB)), "archive bomb"),
    "half a gzip": (lambda: gzip.compress(bytes(range(256)) * 999)[:300], "damaged archive"),
    "nothing": (lambda: b"", "is empty"),
    "bytes": (lambda: bytes(range(256)) * 40, "neither a zip"),
}


def squeezed(size: int, method: int, *, said: int | None = None) -> Make:
    """A suite's outputs that unpack to so many zeros, of which the archive may say that they are fewer."""

    def make() -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", method) as archive, archive.open("a.jsonl", "w") as file:
            for _ in range(0, size, 1000):
                file.write(b"\0" * 1000)
        raw = bytearray(packed.getvalue())
        if said is not None:
            entry = raw.find(b"PK\x01\x02")
            raw[entry + 16 : entry + 20] = zlib.crc32(b"\0" * said).to_bytes(4, "little")
            raw[entry + 24 : entry + 28] = said.to_bytes(4, "little")
        return bytes(raw)

    return make


#: What is sent to a suite of one board, whose file is a.jsonl.
SUITES: dict[str, tuple[Make, str]] = {
    "a bzip2 bomb of a gigabyte": (squeezed(1000 * MIB, zipfile.ZIP_BZIP2), "takes more memory"),
    "a bzip2 bomb that says it is small": (squeezed(1000 * MIB, zipfile.ZIP_BZIP2, said=5), "takes more memory"),
    "a deflated bomb": (squeezed(200 * MIB, zipfile.ZIP_DEFLATED), "bytes of outputs"),
    "damaged LZMA": (
        lambda: squeezed(1000, zipfile.ZIP_LZMA)().replace(b"\x5d\x00", b"\xff\xff", 1),
        "is no zip archive that can be read",
    ),
    "50,000 files": (names(*(f"{k}" for k in range(50_000))), "has a directory of"),
    "200 files": (names(*(f"{k}" for k in range(200))), "at most 101 are taken"),
    "bytes": (lambda: bytes(range(256)) * 40, "is no zip archive"),
}
OUTPUTS: dict[str, tuple[Make, str]] = {
    "64 MiB of line ends": (lambda: b"\n" * (64 * MIB), "lines for 3 instances"),
    "a line of 16 MiB": (lambda: b'{"instance": "i0", "text": "' + b"x" * (16 * MIB) + b'"}', "are read"),
    "a line of a million keys": (
        lambda: b'{"instance":1,' + b",".join(b'"%d":1' % k for k in range(10**6)) + b"}",
        "are read",
    ),
    "lists in one another": (lambda: b'{"text": ' + b"[" * 100_000, "nested too deeply"),
    "half a character": (lambda: b'{"instance": "i0", "text": "\\ud800"}\n', "half of a character"),
    "UTF-16": (lambda: "one\ntwo\nthree\n".encode("utf-16"), "UTF-16"),
    "nulls": (lambda: b"\0" * 10_000, "UTF-16"),
}
SCORES: dict[str, tuple[Make, str]] = {
    "64 MiB of numbers": (lambda: b"12\n" * (64 * MIB // 3), "lines for 1 generators"),
    "a line of many keys": (lambda: b'{"score":1,' + b",".join(b'"%d":1' % k for k in range(10**6)) + b"}", "are read"),
    "a score that is none": (lambda: b"almanac\ti0\tnan\n", "is no score"),
}  # fmt: skip


def _metric(raw: bytes) -> object:
    declared = {"higher_is_better": True, "needs": [], "training_data": "none"}
    return declared_in(raw, file_name="sent", manifest=declared, name="mine", most=MOST_BYTES)


def _loads(raw: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "metric.py").write_bytes(raw)
        return ProgramMetric(MetricCard(name="own", needs_references=False), Path(folder), "metric.py").loads


#: Lines over which a pattern would stand still, for hours.
STANDING: dict[str, tuple[str, Make, str]] = {
    "requirements: a megabyte of blanks": ("requirements", requiring("a" + " " * MIB + "!"), "is not a name"),
    "requirements: a megabyte of commas": ("requirements", requiring("a[" + "," * MIB + "]"), "is not a name"),
    "a program that begins a hundred thousand times": ("program", lambda: b"def score(\n" * 10**5 + LOAD, ""),
    "a program of blanks": ("program", lambda: b"def score" + b" \n" * 10**6 + LOAD, ""),
}
READERS: dict[str, Callable[[bytes], object]] = {
    "suite": lambda raw: outputs_by_board(raw, {"a": "a"}, most=64 * MIB, name="sent"),
    "requirements": lambda raw: parse_requirements(raw.decode()),
    "program": _loads,
    "metric": _metric,
    "outputs": lambda raw: read_generator(raw, attacked_board()),
    "scores": lambda raw: read_sent(raw, attacked_board()),
    "a program's scores": lambda raw: parse_scores(raw, 3),
}
ATTACKS = {
    **STANDING,
    **{f"metric: {name}": ("metric", *attack) for name, attack in METRICS.items()},
    **{f"suite: {name}": ("suite", *attack) for name, attack in SUITES.items()},
    **{f"outputs: {name}": ("outputs", *attack) for name, attack in OUTPUTS.items()},
    **{f"scores: {name}": ("scores", *attack) for name, attack in SCORES.items()},
    "a program writes 64 MiB of numbers": (
        "a program's scores",
        lambda: b"12\n" * (64 * MIB // 3),
        "scores for 3 outputs",
    ),
}


def test_there_are_at_least_forty_of_them() -> None:
    assert len(ATTACKS) >= 40


#: A gigabyte is squeezed before it is sent.
LONG = {name for name in ATTACKS if "bzip2 bomb" in name}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in ATTACKS]
)
def test_a_hostile_file_is_refused_with_words_and_takes_little_memory_here(
    name: str, record_attack: Callable[..., None]
) -> None:
    reader, make, expected = ATTACKS[name]
    raw = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    try:
        READERS[reader](raw)
        outcome = ""
    except BillboardsError as error:
        outcome = str(error)
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    contained = expected in outcome and bool(expected) == bool(outcome) and grown < 512 * MIB
    record_attack(name, "file", outcome[:80] or "taken", contained=contained, seconds=seconds, peak=grown)
    assert expected in outcome
    assert bool(expected) == bool(outcome)
    assert grown < 512 * MIB
    assert len(outcome) < 100_000


@pytest.mark.parametrize("text", ["a." * 19 + "a = 1", "a = 1.5\nb = 'x.y.z'", "[a.b]\nc.d = '''a.b'''"])
def test_documents_as_people_write_them_are_read(text: str) -> None:
    assert toml_document(text) == tomllib.loads(text)


MARKS = "a" + "\u0315\u0300" * 50_000


@pytest.mark.parametrize("name", ["length", "repetition-3", "abstractness-2"])
def test_an_output_of_nothing_but_marks_is_counted_soon(name: str, record_attack: Callable[..., None]) -> None:
    began = time.perf_counter()
    (score,) = metric(name).score_batch(Batch([MARKS], [["the ferry"]], ["the ferry"]))
    seconds = time.perf_counter() - began
    record_attack(f"an output of marks: {name}", "file", f"{score:g}", contained=True, seconds=seconds, peak=None)
    assert np.isfinite(score)
    # What would be sorted at once is bounded, which is what keeps this from taking the square of it.
    assert max(map(len, re.findall("[^a\u034f]+", composed(MARKS)))) <= 256


@pytest.mark.parametrize(
    "text", ["e\u0301 a\u0308", "\u1112\u1161\u11ab", "\u0915\u094d\u0937\u093f", "a" + "\u0316\u0301" * 20]
)
def test_writing_is_composed_as_unicode_says(text: str) -> None:
    assert composed(text) == unicodedata.normalize("NFC", text)
