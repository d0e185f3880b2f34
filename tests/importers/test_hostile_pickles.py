"""No pickle runs, imports, opens or changes anything, whatever it names and however it is put together."""

from __future__ import annotations

import gzip
import os
import pickle
import struct
import sys
import tracemalloc
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billboards import _pickles
from billboards._pickles import pickled_value, read_pickle
from billboards.errors import ImportRefused
from billboards.importers import IMPORTERS

#: What a hostile pickle would call, with the argument that would show it.
CALLS: tuple[tuple[str, str], ...] = (
    *((module, "system") for module in ("os", "posix", "nt")),
    *(("os", name) for name in ("popen", "execv", "spawnl", "remove", "putenv", "mkdir", "environ.update", "_exit")),
    *(("subprocess", name) for name in ("Popen", "run", "call", "check_output", "getoutput", "os.system")),
    *(
        ("builtins", name)
        for name in ("eval", "exec", "compile", "getattr", "setattr", "delattr", "__import__", "open")
    ),
    *(("builtins", name) for name in ("map", "filter", "type", "object", "super", "vars", "globals", "breakpoint")),
    *(
        ("builtins", name)
        for name in ("print", "input", "memoryview", "__build_class__", "complex", "str.format", "range")
    ),
    *(("__builtin__", name) for name in ("eval", "execfile", "file", "apply", "reload", "getattr", "__import__")),
    *(("functools", name) for name in ("partial", "reduce", "cached_property")),
    *(("operator", name) for name in ("attrgetter", "itemgetter", "methodcaller", "call")),
    *(("types", name) for name in ("FunctionType", "CodeType", "ModuleType")),
    *(("copyreg", name) for name in ("_reconstructor", "__newobj__", "__newobj_ex__", "add_extension")),
    ("copy_reg", "_reconstructor"),
    *(("pickle", name) for name in ("loads", "load", "Unpickler")),
    ("_pickle", "loads"),
    ("marshal", "loads"),
    *(("collections", name) for name in ("namedtuple", "Counter", "deque", "UserDict", "OrderedDict.__init__")),
    *(("importlib", name) for name in ("import_module", "reload")),
    ("runpy", "run_path"),
    ("code", "interact"),
    ("pty", "spawn"),
    ("shutil", "rmtree"),
    ("socket", "create_connection"),
    ("urllib.request", "urlopen"),
    ("webbrowser", "open"),
    ("ctypes", "CDLL"),
    ("timeit", "timeit"),
    ("cProfile", "run"),
    ("pdb", "run"),
    ("doctest", "debug_script"),
    ("logging.config", "listen"),
    ("threading", "Thread"),
    ("multiprocessing.util", "spawnv_passfds"),
    ("_posixsubprocess", "fork_exec"),
    ("atexit", "register"),
    ("signal", "raise_signal"),
    ("sys", "exit"),
    ("sys", "modules.clear"),
    ("tempfile", "mkdtemp"),
    ("pathlib", "Path.touch"),
    ("_codecs", "decode"),
    ("_codecs", "encode.__call__"),
    ("codecs", "encode"),
    ("codecs", "open"),
    *(("numpy", name) for name in ("load", "fromfile", "memmap", "savetxt", "loadtxt", "matrix", "recarray", "void")),
    *(("numpy", name) for name in ("core.multiarray.scalar", "dtype.__class__", "ndarray.tofile", "f2py.compile")),
    *(("numpy.lib.npyio", name) for name in ("load", "NpzFile")),
    *(("numpy.testing._private.utils", name) for name in ("runstring", "rundocs")),
    ("numpy.f2py.crackfortran", "getlincoef"),
    ("numpy.distutils.exec_command", "exec_command"),
    *(
        (f"numpy.{core}.multiarray", name)
        for core in ("core", "_core")
        for name in (
            "fromfile",
            "frombuffer",
            "_reconstruct.__globals__",
            "scalar.__self__",
            "ndarray",
            "set_string_function",
        )
    ),
    ("numpy.core.records", "fromrecords"),
    ("torch", "load"),
    ("torch._utils", "_rebuild_tensor_v2"),
    ("joblib", "load"),
    ("yaml", "unsafe_load"),
    ("billboards._pickles", "read_pickle"),
    ("__main__", "anything"),
    ("trap_module", "anything"),
    ("", ""),
)
#: What nothing that reads a pickle has a reason to do.
ALARMS = (
    "os.",
    "subprocess.",
    "shutil.",
    "socket.",
    "pickle.",
    "exec",
    "compile",
    "import",
    "open",
    "ctypes.",
    "marshal.",
)
_watched: list[str] = []
_watching = [False]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    # At the interpreter's end the names of a module are gone before its hooks are.
    if _watching and _watching[0] and event.startswith(ALARMS):
        _watched.append(f"{event} {arguments!r:.80}")


sys.addaudithook(_watch)


@contextmanager
def watched() -> Iterator[None]:
    """Whatever is run, imported or opened meanwhile is a failure."""
    _watched.clear()
    _watching[0] = True
    try:
        yield
    finally:
        _watching[0] = False
    assert _watched == []


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that appears when a pickle runs something, or when a module that it names is imported."""
    sentinel = tmp_path / "ran"
    (tmp_path / "trap_module.py").write_text(f"open({str(sentinel)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    before = _state(tmp_path)
    yield sentinel
    assert _state(tmp_path) == before


def _state(folder: Path) -> tuple[Any, ...]:
    """What a pickle could have changed: the environment and the folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return environment, "trap_module" in sys.modules, sorted(folder.iterdir())


def refused(raw: bytes) -> str:
    """Why a pickle is refused, after watching that reading it does nothing else."""
    with watched(), pytest.raises(ImportRefused) as error:
        pickled_value(raw, "scores.pkl")
    assert str(error.value).startswith("scores.pkl: ")
    assert len(str(error.value)) < 500
    return str(error.value)


def text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def old_call(module: str, name: str, argument: str) -> bytes:
    return f"c{module}\n{name}\n".encode() + b"(" + text(argument) + b"tR."


def new_call(module: str, name: str, argument: str) -> bytes:
    return b"\x80\x04" + text(module) + text(name) + b"\x93" + text(argument) + b"\x85R."


def instance(module: str, name: str, argument: str) -> bytes:
    return b"(" + text(argument) + f"i{module}\n{name}\n.".encode()


@pytest.mark.parametrize("way", [old_call, new_call])
@pytest.mark.parametrize(("module", "name"), CALLS, ids=".".join)
def test_what_a_pickle_names_is_not_called(
    module: str, name: str, way: Callable[[str, str, str], bytes], trap: Path
) -> None:
    reason = refused(way(module, name, f"touch {trap}"))
    assert f"names {module}.{name}, which is no data but something to run" in reason
    assert "nothing of it was run" in reason
    assert not trap.exists()


@pytest.mark.parametrize(("module", "name"), [("os", "system"), ("builtins", "list"), ("numpy", "dtype")])
@pytest.mark.parametrize(
    "way",
    [
        instance,
        lambda module, name, argument: b"(c" + f"{module}\n{name}\n".encode() + text(argument) + b"o.",
        lambda module, name, argument: f"c{module}\n{name}\n".encode() + text(argument) + b"\x85\x81.",
        lambda module, name, argument: f"c{module}\n{name}\n".encode() + text(argument) + b"\x85}\x92.",
        lambda module, name, _: f"c{module}\n{name}\n.".encode(),
        lambda module, name, _: b"]c" + f"{module}\n{name}\na.".encode(),
        lambda module, name, _: b"}" + text("k") + f"c{module}\n{name}\ns.".encode(),
    ],
)
def test_no_instance_is_made_and_no_name_is_a_value(
    module: str, name: str, way: Callable[[str, str, str], bytes], trap: Path
) -> None:
    refused(way(module, name, f"touch {trap}"))
    assert not trap.exists()


class Exploit:
    """What Python's own pickles make of an attack."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


@pytest.mark.parametrize("protocol", range(6))
def test_attacks_that_python_itself_wrote_are_refused(protocol: int, trap: Path) -> None:
    for call in (
        (os.system, (f"touch {trap}",)),
        (eval, (f"open({str(trap)!r}, 'w')",)),
        (getattr, ("", "join")),
        (np.load, (str(trap), None, True)),
        (print, (), {"state": 1}),
        (dict, (), None, None, iter([("k", Exploit(os.system, (f"touch {trap}",)))])),
        (list, (), None, iter([Exploit(os.system, (f"touch {trap}",))])),
    ):
        raw = pickle.dumps({"scores": [1.0, Exploit(*call)]}, protocol)
        assert "scores.pkl: " in refused(raw)
    assert not trap.exists()


def dtype(code: str, state: bytes | None = None) -> bytes:
    call = b"cnumpy\ndtype\n" + text(code) + b"\x89\x88\x87R"
    plain = b"(K\x03" + text("<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t"
    return call + (plain if state is None else state) + b"b"


def scalar(kind: bytes, raw: bytes) -> bytes:
    return b"cnumpy.core.multiarray\nscalar\n" + kind + binary(raw) + b"\x86R"


def binary(raw: bytes) -> bytes:
    return b"B" + struct.pack("<I", len(raw)) + raw


def array(kind: bytes, shape: bytes, content: bytes, whose: bytes = b"cnumpy\nndarray\n") -> bytes:
    made = b"cnumpy.core.multiarray\n_reconstruct\n" + whose + b"K\x00\x85C\x01b\x87R"
    return made + b"(K\x01" + shape + kind + b"\x89" + content + b"tb"


def doubled(first: bytes, holding: bytes, times: int) -> bytes:
    """A value in a value in a value, each holding the one before it twice."""
    steps = (holding.replace(b"?", bytes([k])) for k in range(times))
    return first + b"".join(steps)


EIGHT = struct.pack("<d", 1.5)
BOMBS: dict[str, tuple[bytes, str]] = {
    "persistent id": (b"Pevil\n.", "persistent id"),
    "persistent id on the stack": (text("evil") + b"Q.", "persistent id"),
    "extension 1": (b"\x82\x01.", "names an extension"),
    "extension 2": (b"\x83\x01\x00.", "names an extension"),
    "extension 4": (b"\x84\x01\x00\x00\x00.", "names an extension"),
    "buffer": (b"\x80\x05\x97.", "buffer"),
    "read-only buffer": (b"\x80\x05\x97\x98.", "buffer"),
    "objects": (scalar(dtype("O8"), b"\0" * 8) + b".", "of objects"),
    "array of objects": (array(dtype("O"), b"K\x01\x85", b"]K\x01a") + b".", "of objects"),
    "void": (scalar(dtype("V8"), b"\0" * 8) + b".", "of the type 'V8'"),
    "dates": (scalar(dtype("M8"), b"\0" * 8) + b".", "of the type 'M8'"),
    "records": (scalar(dtype("f8,O"), b"\0" * 16) + b".", "of the type 'f8,O'"),
    "structured by a list": (b"cnumpy\ndtype\n]\x85R.", "numpy type"),
    "type with fields": (
        scalar(dtype("f8", b"(K\x03" + text("<") + b"N" + text("x") + b"}K\x08K\x01K\x00t"), EIGHT) + b".",
        "can't be right",
    ),
    "type of another size": (
        scalar(dtype("U1", b"(K\x03" + text("<") + b"NNNM\xff\xffK\x04K\x08t"), b"abcd") + b".",
        "can't be right",
    ),
    "type changed twice": (
        dtype("f8") + b"(K\x03" + text(">") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb0N.",
        "can't be right",
    ),
    "type as a value": (dtype("f8") + b".", "a numpy type where data should be"),
    "scalar too short": (scalar(dtype("f8"), b"1234") + b".", "other than its 4 bytes"),
    "scalar too long": (scalar(dtype("f4"), EIGHT) + b".", "other than its 8 bytes"),
    "scalar of no type": (b"cnumpy.core.multiarray\nscalar\n" + text("f8") + binary(EIGHT) + b"\x86R.", "else than"),
    "wide text": (scalar(dtype("U999999999"), b"abcd") + b".", "other than its 4 bytes"),
    "character beyond Unicode": (scalar(dtype("U1"), b"\xff\xff\xff\x7f") + b".", "character that is none"),
    "half a character": (scalar(dtype("U1"), b"\0\xd8\0\0") + b".", "character that is none"),
    "array too short": (array(dtype("f8"), b"K\x09\x85", binary(EIGHT)) + b".", "asks for other than its 8 bytes"),
    "array of a huge shape": (array(dtype("f8"), b"J\xff\xff\xff\x7f\x85", binary(EIGHT)) + b".", "asks for other"),
    "array of a negative shape": (array(dtype("f8"), b"J\xff\xff\xff\xff\x85", binary(EIGHT)) + b".", "can't be right"),
    "array of a billion empty rows": (
        array(dtype("f8"), b"J\xff\xff\xff\x7fK\x00\x86", binary(b"")) + b".",
        "asks for other",
    ),
    "array of many dimensions": (array(dtype("f8"), b"(" + b"K\x01" * 40 + b"t", binary(EIGHT)) + b".", "shape"),
    "array of a list": (array(dtype("f8"), b"K\x01\x85", b"]K\x01a") + b".", "else than numbers and texts"),
    "array of another class": (array(dtype("f8"), b"K\x01\x85", binary(EIGHT), b"cbuiltins\nlist\n") + b".", "own"),
    "array without content": (b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R.", "array"),
    "state of a dict": (b"}" + text("x") + b"K\x01sb.", "is no sound pickle"),
    "state of an OrderedDict": (
        b"ccollections\nOrderedDict\n)R}" + text("x") + b"K\x01sb.",
        "change the state of dict",
    ),
    "state of a name": (b"cnumpy\nndarray\n}" + text("x") + b"K\x01sb.", "change the state of numpy.ndarray"),
    "state of a list": (b"]}b.", "change the state of list"),
    "calling a text": (text("system") + text("ls") + b"\x85R.", "would call str"),
    "calling a class of numpy": (b"cnumpy\nndarray\nK\x05\x85R.", "would call numpy.ndarray"),
    "calling with a list": (b"cnumpy\ndtype\n](" + b"eR.", "would call numpy.dtype"),
    "name that is a number": (b"\x80\x04K\x01K\x02\x93.", "names int"),
    "billion bytes": (b"cbuiltins\nbytes\nJ\x00\xca\x9a\x3b\x85R.", "bytes that can't be read"),
    "billion changeable bytes": (b"cbuiltins\nbytearray\nJ\x00\xca\x9a\x3b\x85R.", "bytes that can't be read"),
    "codec": (b"c_codecs\nencode\n" + text("x" * 9) + text("zlib") + b"\x86R.", "bytes that can't be read"),
    "text beyond latin1": (b"c_codecs\nencode\n" + text("ł") + text("latin1") + b"\x86R.", "no sound pickle"),
    "factory": (b"ccollections\ndefaultdict\ncnumpy\ndtype\n\x85R.", "defaultdict of numpy.dtype"),
    "pairs that are none": (b"ccollections\nOrderedDict\n]]K\x01aa\x85R.", "OrderedDict that can't be read"),
    "list in itself": (b"]q\x00h\x00a.", "holds itself"),
    "dict in itself": (b"}q\x00" + text("x") + b"h\x00s.", "holds itself"),
    "list in a tuple in itself": (b"]q\x00h\x00\x85a.", "holds itself"),
    "doubled lists": (doubled(b"]", b"q?0](h?h?e", 62) + b".", "unfolds to"),
    "doubled tuples": (doubled(b")", b"q?h?\x86", 62) + b".", "unfolds to"),
    "doubled tuples as a key": (b"}" + doubled(b")", b"q?h?\x86", 62) + b"K\x01s.", "neither text nor number: tuple"),
    "doubled tuples in a set": (b"\x8f(" + doubled(b")", b"q?h?\x86", 62) + b"\x90.", "neither text nor number"),
    "long text again and again": (text("x" * 100_000) + b"q\x000](" + b"h\x00" * 9_000 + b"e.", "unfolds to"),
    "array again and again": (
        b"]("
        + binary(b"\0" * 80_000)
        + b"q\x000"
        + dtype("f8")
        + b"q\x010"
        + (
            b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01M\x10\x27\x85h\x01\x89h\x00tb"
            * 900
        )
        + b"e.",
        "unfolds to",
    ),
    "set of a list again and again": (
        b"](" + b"M\x01\x01" * 100_000 + b"eq\x00" + b"cbuiltins\nset\nh\x00\x85R0" * 9_000 + b".",
        "unfolds to",
    ),
    "marks": (b"(" * 2_000_000 + b".", "unfolds to"),
    "empty dicts": (b"}" * 2_000_000 + b".", "unfolds to"),
    "empty sets": (b"\x8f" * 500_000 + b".", "unfolds to"),
    "huge number": (b"\x8b\xff\xff\xff\x7f" + b"\x01" * 99 + b".", "more than 64 bits"),
    "number of 200 bytes": (b"\x8a\xc8" + b"\x01" * 200 + b".", "more than 64 bits"),
    "number of 65 bits": (b"\x8a\x09" + b"\xff" * 8 + b"\x01.", "more than 64 bits"),
    "number of a million digits": (b"L" + b"9" * 1_000_000 + b"L\n.", "should have a whole number"),
    "number of other digits": ("I²\n.".encode(), "should have a whole number"),
    "number with an underscore": (b"I1_000\n.", "should have a whole number"),
    "float with an underscore": (b"F1_000.0\n.", "should have a number"),
    "text longer than the file": (b"\x8d" + struct.pack("<Q", 1 << 62) + b"x.", "ends in the middle"),
    "bytes longer than the file": (b"\x8e" + struct.pack("<Q", (1 << 64) - 1) + b"x.", "ends in the middle"),
    "changeable bytes longer than the file": (b"\x96" + struct.pack("<Q", 1 << 40) + b"x.", "ends in the middle"),
    "frame longer than the file": (b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"N.", "ends in the middle"),
    "lists 100,000 deep": (b"]" * 100_000 + b"a" * 99_999 + b".", "more than 32 deep"),
    "tuples 100,000 deep": (b")" + b"\x85" * 100_000 + b".", "more than 32 deep"),
    "dicts 33 deep": (b"}" + (text("k") + b"}") * 33 + b"s" * 33 + b".", "more than 32 deep"),
    "key twice": (b"}(K\x01NK\x01Nu.", "the key 1 twice"),
    "key that is a list": (b"}]Ns.", "key that is neither text nor number: list"),
    "key that is an array": (b"}" + array(dtype("f8"), b"K\x01\x85", binary(EIGHT)) + b"Ns.", "key that is neither"),
    "key that is a tuple of numbers": (b"}K\x01K\x02\x86Ns.", "neither text nor number: tuple"),
    "key that is a long tuple": (b"}(" + text("x") * 17 + b"tNs.", "neither text nor number: tuple"),
    "key that is a name": (b"}cnumpy\ndtype\nNs.", "key that is neither"),
    "key without a value": (b"}(K\x01u.", "key without a value"),
    "list as a dict": (b"]K\x01K\x02s.", "would add to list as if it were a dict"),
    "dict as a list": (b"}K\x01a.", "would add to dict as if it were a list"),
    "array as a list": (array(dtype("f8"), b"K\x01\x85", binary(EIGHT)) + b"K\x01a.", "would add to ndarray"),
    "list as a set": (b"](K\x01\x90.", "would add to list as if it were a set"),
    "unknown instruction": (b"\x80\x04N\xf7.", "unknown instruction"),
    "protocol 6": (b"\x80\x06N.", "protocol 6"),
    "data after the end": (b"N.N.", "2 bytes after its end"),
    "values left behind": (b"NN.", "leaves other values behind"),
    "mark left behind": (b"(N.", "leaves other values behind"),
    "nothing at all on the stack": (b".", "no sound pickle"),
    "mark that was never set": (b"Ne.", "no sound pickle"),
    "entry that is not there": (b"h\x07.", "an entry 7 that is not there"),
    "entry of nothing": (b"q\x00.", "no sound pickle"),
    "end of the file": (b"\x80\x04]", "ends in the middle"),
    "text that is not UTF-8": (b"X\x02\x00\x00\x00\xff\xfe.", "not UTF-8"),
    "text of half a character": (b"X\x03\x00\x00\x00\xed\xa0\x80.", "not UTF-8"),
    "written text of half a character": (b"V\\ud800\n.", "no sound pickle"),
    "written text beyond Unicode": (b"V\\U00110000\n.", "no sound pickle"),
    "string without marks": (b"Sabc\n.", "without quotation marks"),
    "string with an odd escape": (b"S'\\d'\n.", "no sound pickle"),
    "page": (b"<!DOCTYPE html><html>", "is no pickle: it begins with"),
    "pointer of Git LFS": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_pickle_that_is_built_to_hurt_is_refused(name: str, trap: Path) -> None:
    raw, reason = BOMBS[name]
    assert reason in refused(raw)


def test_each_is_refused_with_the_words_approved() -> None:
    approve("importers/hostile-pickles", {name: refused(raw) for name, (raw, _) in BOMBS.items()})


def test_there_are_more_than_a_hundred_of_them() -> None:
    assert len(CALLS) * 2 + len(BOMBS) > 300


@pytest.mark.parametrize(
    "name",
    ["array again and again", "empty dicts", "empty sets", "marks", "long text again and again", "doubled lists"],
)
def test_a_refused_pickle_takes_about_the_memory_it_may(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pickles, "FREE", 1 << 20)
    monkeypatch.setattr(_pickles, "TIMES", 8)
    raw = BOMBS[name][0]
    tracemalloc.start()
    try:
        refused(raw)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * ((1 << 20) + 8 * len(raw))


def test_a_memo_place_costs_nothing_however_high_its_number() -> None:
    assert pickled_value(b"Nr\xff\xff\xff\xff0j\xff\xff\xff\xff.", "x") is None


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pickles, "MOST_BYTES", 1_000)
    for name, raw in (("data.pkl", b"N" * 2_000), ("data.pkl.gz", gzip.compress(b"N" * 200_000))):
        path = tmp_path / name
        path.write_bytes(raw)
        with pytest.raises(ImportRefused, match=r"more than 1,000 bytes|larger than 1,000 bytes"):
            read_pickle(path)


def test_a_hostile_pickle_is_refused_by_the_importers_by_its_name(tmp_path: Path, trap: Path) -> None:
    path = tmp_path / "gu-en" / "data.pkl"
    for kind in ("realsumm", "summeval", "newsroom", "rank19", "bagel", "sfhot", "sfres", "wmt19-darr"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(old_call("os", "system", f"touch {trap}"))
        with pytest.raises(ImportRefused, match=r"data\.pkl: names os\.system, which is no data"):
            IMPORTERS.load(kind)(path)
        path.unlink()
        path.parent.rmdir()
    assert not trap.exists()


PLAIN: dict[str, Any] = {
    "numbers": [0, 1, -1, 255, 256, 65_536, -(2**31), 2**40, -(2**63), 2**64 - 1, 1.5, -0.0, float("inf"), True, None],
    "texts": ["", "é", "line\nend", "'\"\\", "𝄞", "x" * 300, "y" * 70_000],
    "bytes": [b"", b"\x00\xff", b"z" * 300],
    "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
    "sets": [{1, "a"}, frozenset({2}), set()],
    "dicts": [{}, {1: "int", "1": "text", ("b", "a"): None, None: 0, 2.5: 1}],
    "named dicts": [OrderedDict([("b", 1), ("a", [2])]), defaultdict(list, {"k": [1]}), defaultdict(int)],
}
SCALARS: list[Any] = [
    np.float32(0.1),
    np.float64(0.1),
    np.int64(-3),
    np.uint8(200),
    np.bool_(True),
    np.str_("hé"),
    np.bytes_(b"q"),
]
ARRAYS: list[Any] = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype="i4").reshape(2, 3)),
    np.arange(3, dtype=">f4"),
    np.array([True, False]),
    np.array([]),
    np.array(3.5),
]


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data_comes_out_as_python_itself_reads_it(protocol: int) -> None:
    for dumps in (pickle.dumps, pickle._dumps):  # type: ignore[attr-defined]
        value = pickled_value(dumps(PLAIN, protocol), "x")
        assert value == PLAIN
        assert [type(each) for each in value["named dicts"]] == [dict, dict, dict]
        numbers = pickled_value(dumps(SCALARS, protocol), "x")
        assert numbers == [each.item() for each in SCALARS]
        assert [type(each) for each in numbers] == [float, float, int, int, bool, str, bytes]
        for mine, theirs in zip(pickled_value(dumps(ARRAYS, protocol), "x"), ARRAYS, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)
    assert pickled_value(pickle.dumps(np.array([["a", "bé"]]), protocol), "x") == [["a", "bé"]]


EDGES: dict[str, tuple[bytes, Any]] = {
    "a value taken back": (b"K\x05N0.", 5),
    "values taken back to a mark": (b"K\x05(NN1.", 5),
    "a mark taken back": (b"K\x05(0.", 5),
    "a value twice": (b"]K\x052\x86a.", [(5, 5)]),
    "pairs as Python 2 wrote an OrderedDict": (
        b"ccollections\nOrderedDict\n](]K\x01aK\x02a]K\x03aK\x04ae\x85R.",
        {1: 2, 3: 4},
    ),
    "a list, a dict and a frozen set since a mark": (b"((K\x01l(K\x01K\x02d(K\x01\x91t.", ([1], {1: 2}, {1})),
    "bytes that could be changed": (b"\x96\x02\0\0\0\0\0\0\0ab.", b"ab"),
    "a number of two bytes": (b"M\x01\x02.", 513),
    "a number of a hundred and some": (b"\x8b\x02\0\0\0\x00\xff.", -256),
    "true and false that are written": (b"(I01\nI00\nI1\nt.", (True, False, 1)),
    "infinity that is written": (b"F-inf\n.", float("-inf")),
    "an empty text of numpy's": (scalar(dtype("U0"), b"") + b".", ""),
    "a truth of numpy's that is 2": (scalar(dtype("b1"), b"\x02") + b".", True),
    "bytes of numpy's": (array(dtype("S2"), b"K\x02\x85", binary(b"abc\0")) + b".", [b"ab", b"c"]),
    "a number with its bytes turned": (
        scalar(dtype("i2", b"(K\x03" + text(">") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t"), b"\x01\x02") + b".",
        258,
    ),
    "lists 32 deep": (b"]" * 32 + b"a" * 31 + b".", reduce(lambda inner, _: [inner], range(31), list[Any]())),
    "a key of 16 texts": (b"}(" + text("x") * 16 + b"tNs.", {("x",) * 16: None}),
    "text in an entry that is given twice": (text("a") + b"q\x000" + text("b") + b"q\x00h\x00\x86.", ("b", "b")),
}


@pytest.mark.parametrize("name", EDGES)
def test_what_is_rare_but_sound_is_read(name: str) -> None:
    raw, value = EDGES[name]
    read = pickled_value(raw, "x")
    assert read == value
    assert type(read) is type(value)


def test_an_array_may_have_eight_dimensions_and_no_more() -> None:
    assert pickled_value(pickle.dumps(np.zeros((1,) * 8)), "x").shape == (1,) * 8
    assert "shape" in refused(pickle.dumps(np.zeros((1,) * 9)))


def test_an_array_that_is_named_twice_is_one_array() -> None:
    array = np.arange(3.0)
    first, second = pickled_value(pickle.dumps([array, array]), "x")
    assert first is second
    assert first.tolist() == [0.0, 1.0, 2.0]


def test_strings_of_python_2_are_texts_or_bytes() -> None:
    assert pickled_value(b"(lp0\nS'caf\\xc3\\xa9'\np1\naS\"\\x00\\xff\"\naI01\naL5L\naF0.5\na.", "x") == [
        "café",
        b"\x00\xff",
        True,
        5,
        0.5,
    ]
    assert pickled_value(b"\x80\x02U\x03abcq\x00.", "x") == "abc"


SOUND = [
    pickle.dumps({"plain": PLAIN["texts"][:5], "n": SCALARS, "a": ARRAYS, "d": PLAIN["dicts"]}, k) for k in range(6)
]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(SOUND),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=6), st.integers(0, 6)), max_size=6),
)
def test_changed_bytes_are_read_or_refused_and_run_nothing(raw: bytes, changes: list[tuple[float, bytes, int]]) -> None:
    for place, new, gone in changes:
        at = int(place * len(raw))
        raw = raw[:at] + new + raw[at + gone :]
    with watched(), suppress(ImportRefused):
        pickled_value(raw, "x")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([bytes([code]) for code in range(256)] + [text("os"), text("system"), b"cnumpy\ndtype\n"]))
)
def test_any_instructions_are_read_or_refused(parts: list[bytes]) -> None:
    with watched(), suppress(ImportRefused):
        pickled_value(b"\x80\x04" + b"".join(parts) + b".", "x")
