"""Pickles of data, read without running anything: dicts, lists, tuples, sets, texts, bytes, numbers, numpy's arrays.

A pickle is a small program. Python's own reader calls whatever the program names, so that opening a file can run
anything. This reader follows the program itself and never imports, looks up or calls what a file names: a few names
stand for builders of this module (a numpy scalar, an array of numbers), and any other name, class, extension or
persistent id is refused. It doesn't use Python's reader at all, so there is nothing to escape to.

What is built is bounded as well. A file may not unfold to far more than its own size, by copies or by parts that are
named again and again; whole numbers have 64 bits; keys are plain; nothing may hold itself, or nest deeply. What comes
out are Python's plain types and numpy arrays, with numpy's scalars as plain numbers.
"""

from __future__ import annotations

import codecs
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from billboards.errors import ImportRefused
from billboards.reading import decimal_number, read_source, shown

#: The largest file that is read: ten times the largest public one.
MOST_BYTES = 1 << 28
#: What a file may unfold to, in bytes: so much in any case, so many times its size, and never more than the last.
FREE, TIMES, MOST_UNFOLDED = 1 << 26, 32, 1 << 32
#: How deep containers may stand in one another.
MOST_DEEP = 32
#: The newest protocol that Python writes.
NEWEST = 5
#: Elements of the longest tuple that may be a key, and dimensions of an array.
LONGEST_KEY, MOST_DIMENSIONS = 16, 8
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1
_DIGITS = re.compile(rb"[+-]?[0-9]{1,20}")
_CODE = re.compile(r"(?:b1|[iu][1248]|f[248])|[US][0-9]{1,9}")
_ESCAPES = {b"\\": b"\\", b"'": b"'", b'"': b'"', b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.|\Z)", re.DOTALL)
_POINTER = b"version https://git-lfs"
_SCALARS = (str, bytes, int, float, bool, type(None))


def read_pickle(path: Path) -> Any:
    """The value in a pickle of plain data, also gzipped; any other pickle is refused, and nothing of it is run.

    path: the file

    Example:

        read_pickle(source / "scores.pkl")
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ImportRefused(f"{path}: is larger than {MOST_BYTES:,} bytes, the most that is read of a pickle")
    except FileNotFoundError as error:
        raise ImportRefused(f"{path}: no such file; give the folder or file the importer's help describes") from error
    except OSError as error:
        raise ImportRefused(f"{path}: can't be read: {error}; fetch the file again") from error
    return pickled_value(read_source(path, most=MOST_BYTES), str(path))


def pickled_value(raw: bytes, name: str) -> Any:
    """The value of a pickle's bytes; `name` is what errors call it."""
    if raw.startswith(_POINTER):
        raise ImportRefused(f"{name}: is a pointer of Git LFS, not the file itself; run `git lfs pull`")
    if len(raw) > MOST_BYTES:
        raise ImportRefused(f"{name}: is larger than {MOST_BYTES:,} bytes, the most that is read of a pickle")
    reader = PickleReader(raw, name)
    value = reader.follow()
    reader.check(value)
    return value


class PickleName:
    """What stands for something that has a name and is no data."""

    def __init__(self, name: str, build: Callable[[Any, tuple[Any, ...]], Any] | None = None) -> None:
        self.name, self.build = name, build


@dataclass(eq=False)
class _Type:
    """The type of a numpy scalar's or array's elements: its code, and how its bytes are ordered."""

    code: str
    order: str | None = None

    @property
    def size(self) -> int:
        return (4 if self.code[0] == "U" else 1) * int(self.code[1:])

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype("u1" if self.code == "b1" else f"{self.order or '<'}{self.code}")


@dataclass(eq=False)
class _Array:
    """An array whose content is still to come, and the places of the memo that name it."""

    places: list[int] = field(default_factory=list)


class PickleReader:
    """Follows the instructions of one pickle."""

    def __init__(self, raw: bytes, name: str) -> None:
        self.raw, self.name, self.at = raw, name, 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.most = min(FREE + TIMES * len(raw), MOST_UNFOLDED)
        self.weight = 0

    def follow(self) -> Any:
        """The value that the pickle ends with; one that is no sound pickle is refused."""
        try:
            return self.read()
        except (IndexError, ValueError, OverflowError, struct.error) as error:
            raise ImportRefused(f"{self.name}: is no sound pickle at byte {self.at}; fetch the file again") from error

    def steps(self) -> Sequence[Callable[[Any], None] | None]:
        """What is done for each instruction, by its code; None where it is refused."""
        return _STEPS

    def names(self) -> Mapping[tuple[str, str], PickleName]:
        """What stands for the names that a pickle may use."""
        return _NAMES

    def read(self) -> Any:
        raw, steps = self.raw, self.steps()
        while True:
            if self.at >= len(raw):
                self.cut_off()
            code = raw[self.at]
            self.at += 1
            if code == _STOP:
                return self.stop()
            step = steps[code]
            if step is None:
                self.refuse_code(code)
            step(self)
            self.weight += 32
            if self.weight > self.most:
                self.refuse_weight()

    def stop(self) -> Any:
        value = self.stack.pop()
        if self.stack or self.below:
            self.refuse("leaves other values behind its last")
        if self.at < len(self.raw):
            self.refuse(f"has {len(self.raw) - self.at:,} bytes after its end")
        return value

    def refuse(self, what: str) -> NoReturn:
        raise ImportRefused(
            f"{self.name}: {what} (byte {self.at:,}); nothing of it was run; fetch the file again from its source"
        )

    def refuse_weight(self) -> NoReturn:
        self.refuse(f"unfolds to more than {self.most:,} bytes, far more than its size of {len(self.raw):,}")

    def refuse_code(self, code: int) -> NoReturn:
        if code in _REFUSED:
            self.refuse(f"{_REFUSED[code]}, so it holds more than data")
        if self.at == 1:
            self.refuse(f"is no pickle: it begins with {shown(self.raw[:16])}")
        self.refuse(f"has an unknown instruction {bytes([code])!r}")

    def cut_off(self) -> NoReturn:
        raise ImportRefused(f"{self.name}: ends in the middle, after {len(self.raw):,} bytes; fetch the file again")

    def weigh(self, size: int) -> None:
        """Count what is about to be built, before it is."""
        self.weight += size
        if self.weight > self.most:
            self.refuse_weight()

    # What stands behind an instruction.

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.raw):
            self.cut_off()
        taken = self.raw[self.at : end]
        self.at = end
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def line(self) -> bytes:
        end = self.raw.find(b"\n", self.at)
        if end < 0:
            self.cut_off()
        line = self.raw[self.at : end]
        self.at = end + 1
        return line

    def block(self, size: int) -> bytes:
        """Bytes after their length; what they become is counted four times, as the widest text needs."""
        count = self.number(size)
        if count > len(self.raw) - self.at:
            self.cut_off()
        self.weigh(4 * count + 64)
        return self.take(count)

    def above(self) -> list[Any]:
        """Everything since the last mark."""
        items = self.stack
        self.stack = self.below.pop()
        return items

    # Values.

    def text(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.refuse("holds a text that is not UTF-8")

    def old_text(self, raw: bytes) -> str | bytes:
        """A string of Python 2, which may be a text or bytes."""
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw

    def whole(self, number: int) -> int:
        if not _SMALLEST <= number <= _LARGEST:
            self.refuse("holds a whole number of more than 64 bits")
        return number

    def written(self, line: bytes) -> int:
        if _DIGITS.fullmatch(line) is None:
            self.refuse(f"should have a whole number and has {shown(line[:40])}")
        return self.whole(int(line))

    def key(self, key: Any) -> Any:
        """A key or a member of a set: plain, so that nothing takes long to hash.

        A tuple may hold texts alone: numbers could be chosen so that a million tuples have one hash.
        """
        flat = type(key) is tuple and len(key) <= LONGEST_KEY and all(type(part) in (str, bytes) for part in key)
        if not flat and type(key) not in _SCALARS:
            self.refuse(f"has a key that is neither text nor number: {named(key)}")
        return key

    def fill(self, items: dict[Any, Any], pairs: Iterable[tuple[Any, Any]]) -> None:
        for key, value in pairs:
            if self.key(key) in items:
                self.refuse(f"has the key {shown(key)} twice")
            items[key] = value

    def members(self, items: Iterable[Any]) -> set[Any]:
        self.weigh(200)
        return {self.key(item) for item in items}

    def list_on_top(self) -> list[Any]:
        target = self.stack[-1]
        if type(target) is not list:
            self.refuse(f"would add to {named(target)} as if it were a list")
        return target

    def dict_on_top(self) -> dict[Any, Any]:
        target = self.stack[-1]
        if type(target) is not dict:
            self.refuse(f"would add to {named(target)} as if it were a dict")
        return target

    def replace(self, array: _Array, value: Any) -> None:
        """Let the finished array stand wherever the unfinished one was named."""
        self.stack[-1] = value
        for place in array.places:
            if self.memo[place] is array:
                self.memo[place] = value

    def remember(self, place: int) -> None:
        value = self.stack[-1]
        self.weigh(64)
        if type(value) is _Array:
            value.places.append(place)
        self.memo[place] = value

    def recall(self, place: int) -> None:
        if place not in self.memo:
            self.refuse(f"refers to an entry {place} that is not there")
        self.stack.append(self.memo[place])

    def find(self, module: object, name: object) -> None:
        mark = self.names().get((module, name)) if isinstance(module, str) and isinstance(name, str) else None
        if mark is None:
            whole = f"{module}.{name}" if isinstance(module, str) and isinstance(name, str) else named(name)
            self.refuse(f"names {shown(whole).strip(chr(39))}, which is no data but something to run")
        self.stack.append(mark)

    def call(self) -> None:
        arguments, mark = self.stack.pop(), self.stack.pop()
        if not isinstance(mark, PickleName) or mark.build is None or type(arguments) is not tuple:
            self.refuse(f"would call {named(mark)}")
        self.stack.append(mark.build(self, arguments))

    def complete(self) -> None:
        """Give the state to a type or an array that waits for it; nothing else has one."""
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is _Type:
            self.complete_type(target, state)
        elif type(target) is _Array:
            self.replace(target, self.array_of_state(state))
        else:
            self.refuse(f"would change the state of {named(target)}")

    def complete_type(self, target: _Type, state: Any) -> None:
        """Take the order of bytes from a type's state, which must be that of a plain type of this very size."""
        sound = type(state) is tuple and len(state) == 8 and all(type(part) in _SCALARS for part in state)
        sound = sound and target.order is None and state[0] == 3 and state[1] in ("<", ">", "|", "=")
        sizes = ((-1, -1), (target.size, 4 if target.code[0] == "U" else 1))
        if not sound or state[2:5] != (None, None, None) or state[5:7] not in sizes:
            self.refuse(f"has a numpy type with a state that can't be right: {shown(_plain(state))}")
        target.order = "<" if state[1] in ("|", "=") else state[1]

    def array_of_state(self, state: Any) -> Any:
        if (
            type(state) is not tuple
            or len(state) != 5
            or type(state[0]) is not int
            or type(state[3]) not in (bool, int)
        ):
            self.refuse("has an array with a state that can't be right")
        return self.array(state[4], state[2], state[1], order="F" if state[3] else "C")

    def array(self, raw: Any, kind: Any, shape: Any, *, order: str) -> Any:
        """An array of numbers, or lists of texts, if shape, type and bytes agree."""
        raw = raw.encode() if type(raw) is str else raw
        plain = type(raw) is bytes and type(kind) is _Type and type(shape) is tuple
        if not plain or type(order) is not str or order not in ("C", "F"):
            self.refuse("has an array of something else than numbers and texts")
        if len(shape) > MOST_DIMENSIONS or not all(type(length) is int and length >= 0 for length in shape):
            self.refuse("has an array of a shape that can't be right")
        # An empty array of another shape than (0,) could still become a billion empty lists.
        if not kind.size or math.prod(shape) * kind.size != len(raw) or (not raw and shape != (0,)):
            self.refuse(f"has an array whose shape asks for other than its {len(raw):,} bytes")
        self.weigh(4 * len(raw) + 128)
        self.check_characters(raw, kind)
        flat = np.frombuffer(raw, kind.numpy)
        numbers: Any = flat.astype(bool) if kind.code == "b1" else flat.copy()
        numbers = numbers.reshape(shape, order=order)
        return self.listed(numbers) if kind.code[0] in "US" else numbers

    def listed(self, texts: Any) -> Any:
        self.weigh(64 * (texts.size + 1) * (texts.ndim + 1))
        return texts.tolist()

    def check_characters(self, raw: bytes, kind: _Type) -> None:
        """Numpy takes any number for a character; Python's texts don't, nor does UTF-8."""
        if kind.code[0] == "U":
            codes = np.frombuffer(raw, f"{kind.order or '<'}u4")
            if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any():
                self.refuse("holds a character that is none")

    # What came out.

    def check(self, value: Any) -> None:
        """Refuse what holds itself, nests too deeply, unfolds to too much, or is no data."""
        weights: dict[int, tuple[int, int]] = {}
        opened: set[int] = set()
        path: list[_Opened] = [_Opened(value=[value])]
        while path:
            top = path[-1]
            for part in top.parts:
                kind = type(part)
                if kind not in _CONTAINERS:
                    top.weight += self.leaf(part)
                elif id(part) in weights:
                    top.add(*weights[id(part)])
                elif id(part) in opened:
                    self.refuse("holds a list or dict that holds itself")
                else:
                    opened.add(id(part))
                    path.append(_Opened(value=part, weight=self.keys(part)))
                    break
                if top.weight > self.most:
                    self.refuse_weight()
            else:
                path.pop()
                if top.height > MOST_DEEP + 1:
                    self.refuse(f"nests lists or dicts more than {MOST_DEEP} deep")
                weights[id(top.value)] = (top.weight, top.height)
                if path:
                    path[-1].add(top.weight, top.height)

    def leaf(self, value: Any) -> int:
        kind = type(value)
        if kind is str or kind is bytes:
            return 56 + len(value)
        if kind is np.ndarray:
            return 128 + 4 * int(value.nbytes)
        if kind not in _SCALARS:
            self.refuse(f"holds {named(value)} where data should be")
        return 32

    def keys(self, container: Any) -> int:
        """What a container and its keys or members weigh, without what it holds beside them."""
        if not isinstance(container, dict | set | frozenset):
            return 64
        parts = (part if type(part) is tuple else (part,) for part in container)
        return 64 + sum(64 + sum(map(self.leaf, part)) for part in parts)


@dataclass(eq=False)
class _Opened:
    """A container whose parts are being looked at."""

    value: Any
    weight: int = 0
    height: int = 1
    parts: Iterator[Any] = field(init=False)

    def __post_init__(self) -> None:
        value = self.value
        self.parts = iter(value.values() if isinstance(value, dict) else value if type(value) in (list, tuple) else ())

    def add(self, weight: int, height: int) -> None:
        self.weight += weight + 16
        self.height = max(self.height, height + 1)


_CONTAINERS = (list, dict, tuple, set, frozenset)


def named(value: object) -> str:
    """What stands in a place where it must not, in a few words."""
    if isinstance(value, PickleName):
        return value.name
    if isinstance(value, _Type | _Array):
        return "a numpy type" if isinstance(value, _Type) else "an array without content"
    return type(value).__name__


def _plain(state: Any) -> Any:
    parts = state[:8] if type(state) is tuple else (state,)
    return tuple(part if type(part) in _SCALARS else named(part) for part in parts)


# Builders, by the names that pickles of data use.


def _build_type(reader: PickleReader, arguments: tuple[Any, ...]) -> _Type:
    code = arguments[0] if arguments else None
    if not isinstance(code, str) or len(arguments) > 3 or not all(type(flag) in (bool, int) for flag in arguments[1:]):
        reader.refuse("has a numpy type that can't be read")
    if _CODE.fullmatch(code) is None:
        what = "of objects" if code.startswith("O") else f"of the type {shown(code)}"
        reader.refuse(f"has a numpy array or scalar {what}; only numbers and texts are read")
    return _Type(code)


def _build_scalar(reader: PickleReader, arguments: tuple[Any, ...]) -> Any:
    kind, raw = arguments if len(arguments) == 2 else (None, None)
    if type(kind) is _Type and kind.size == 0 and type(raw) in (bytes, str) and not raw:
        return "" if kind.code[0] == "U" else b""
    elements = reader.array(raw, kind, (1,), order="C")
    return elements[0] if isinstance(elements, list) else elements[0].item()


def _build_array(reader: PickleReader, arguments: tuple[Any, ...]) -> _Array:
    if len(arguments) != 3 or arguments[0] is not _ARRAY:
        reader.refuse("has an array of another class than numpy's own")
    reader.weigh(256)
    return _Array()


def _build_from_buffer(reader: PickleReader, arguments: tuple[Any, ...]) -> Any:
    if len(arguments) != 4:
        reader.refuse("has an array that can't be read")
    raw, kind, shape, order = arguments
    return reader.array(raw, kind, shape, order=order)


def _build_bytes(reader: PickleReader, arguments: tuple[Any, ...]) -> bytes:
    """Bytes as protocols 0 to 2 write them: a text, to be encoded as latin1."""
    if not arguments:
        return b""
    text, encoding = arguments if len(arguments) == 2 else (arguments[0], None)
    if type(text) is bytes and encoding is None:
        return text
    if type(text) is not str or type(encoding) is not str or encoding not in ("latin1", "latin-1"):
        reader.refuse("has bytes that can't be read")
    reader.weigh(len(text) + 64)
    return text.encode("latin-1")


def _build_set(reader: PickleReader, arguments: tuple[Any, ...]) -> set[Any]:
    if len(arguments) > 1 or (arguments and type(arguments[0]) not in (list, tuple, set)):
        reader.refuse("has a set that can't be read")
    items = arguments[0] if arguments else ()
    reader.weigh(100 * len(items))
    return reader.members(items)


def _build_ordered(reader: PickleReader, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    pairs = arguments[0] if len(arguments) == 1 else ()
    if len(arguments) > 1 or type(pairs) not in (list, tuple):
        reader.refuse("has an OrderedDict that can't be read")
    if not all(type(pair) in (list, tuple) and len(pair) == 2 for pair in pairs):
        reader.refuse("has an OrderedDict that can't be read")
    reader.weigh(100 * len(pairs) + 64)
    items: dict[Any, Any] = {}
    reader.fill(items, pairs)
    return items


def _build_default(reader: PickleReader, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    """A defaultdict as a plain dict; what it would make of a missing key must be plain, and is left out."""
    factory = arguments[0] if arguments else None
    if len(arguments) > 1 or (factory is not None and not any(factory is plain for plain in _FACTORIES)):
        reader.refuse(f"has a defaultdict of {named(factory)}")
    return {}


_ARRAY = PickleName("numpy.ndarray")
_BUILTINS = ("builtins", "__builtin__")
_FACTORIES = tuple(
    PickleName(name) for name in ("list", "dict", "int", "float", "str", "bool", "tuple", "long", "unicode")
)
_NAMES: Mapping[tuple[str, str], PickleName] = {
    ("numpy", "ndarray"): _ARRAY,
    ("numpy", "dtype"): PickleName("numpy.dtype", _build_type),
    ("_codecs", "encode"): PickleName("bytes", _build_bytes),
    ("collections", "OrderedDict"): PickleName("OrderedDict", _build_ordered),
    ("collections", "defaultdict"): PickleName("defaultdict", _build_default),
    **{(f"numpy.{core}.multiarray", "scalar"): PickleName("numpy.scalar", _build_scalar) for core in ("core", "_core")},
    **{
        (f"numpy.{core}.multiarray", "_reconstruct"): PickleName("numpy.array", _build_array)
        for core in ("core", "_core")
    },
    **{(f"numpy.{core}.numeric", "_frombuffer"): PickleName("array", _build_from_buffer) for core in ("core", "_core")},
    **{(module, mark.name): mark for module in _BUILTINS for mark in _FACTORIES},
    **{(module, name): PickleName(name, _build_set) for module in _BUILTINS for name in ("set", "frozenset")},
    **{(module, name): PickleName(name, _build_bytes) for module in _BUILTINS for name in ("bytes", "bytearray")},
}


# Instructions, by their codes.


def _proto(reader: PickleReader) -> None:
    version = reader.number(1)
    if version > NEWEST:
        reader.refuse(f"is of protocol {version}; {NEWEST} is the newest that is read")


def _frame(reader: PickleReader) -> None:
    if reader.number(8) > len(reader.raw) - reader.at:
        reader.cut_off()


def _mark(reader: PickleReader) -> None:
    reader.weigh(64)
    reader.below.append(reader.stack)
    reader.stack = []


def _pop(reader: PickleReader) -> None:
    if reader.stack:
        reader.stack.pop()
    else:
        reader.above()


def _duplicate(reader: PickleReader) -> None:
    reader.stack.append(reader.stack[-1])


def _written_number(reader: PickleReader) -> None:
    line = reader.line()
    reader.stack.append(line == b"01" if line in (b"00", b"01") else reader.written(line))


def _written_long(reader: PickleReader) -> None:
    reader.stack.append(reader.written(reader.line().removesuffix(b"L")))


def _signed(reader: PickleReader) -> None:
    reader.stack.append(int.from_bytes(reader.take(4), "little", signed=True))


def _long(size: int) -> Callable[[PickleReader], None]:
    def push(reader: PickleReader) -> None:
        count = reader.number(size)
        if count > 9:
            reader.refuse("holds a whole number of more than 64 bits")
        reader.stack.append(reader.whole(int.from_bytes(reader.take(count), "little", signed=True)))

    return push


def _unsigned(size: int) -> Callable[[PickleReader], None]:
    def push(reader: PickleReader) -> None:
        reader.stack.append(reader.number(size))

    return push


def _written_float(reader: PickleReader) -> None:
    line = reader.line()
    value = decimal_number(line.decode("ascii", "replace"))
    if value is None and line not in (b"nan", b"inf", b"-inf"):
        reader.refuse(f"should have a number and has {shown(line[:40])}")
    reader.stack.append(float(line) if value is None else value)


def _float(reader: PickleReader) -> None:
    reader.stack.append(struct.unpack(">d", reader.take(8))[0])


def _written_string(reader: PickleReader) -> None:
    line = reader.line()
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"'):
        reader.refuse("has a string without quotation marks")
    reader.weigh(4 * len(line))
    reader.stack.append(reader.old_text(_ESCAPE.sub(_unescaped, line[1:-1])))


def _unescaped(match: re.Match[bytes]) -> bytes:
    what = match[1]
    if what[:1] == b"x" and len(what) == 3:
        return bytes([int(what[1:], 16)])
    if what not in _ESCAPES:
        raise ValueError("an escape that Python never writes")
    return _ESCAPES[what]


def _string(size: int) -> Callable[[PickleReader], None]:
    return lambda reader: reader.stack.append(reader.old_text(reader.block(size)))


def _written_text(reader: PickleReader) -> None:
    line = reader.line()
    reader.weigh(4 * len(line))
    text = codecs.raw_unicode_escape_decode(line)[0]
    # A half of a character, which no text has, can't be encoded: a ValueError.
    text.encode()
    reader.stack.append(text)


def _text(size: int) -> Callable[[PickleReader], None]:
    return lambda reader: reader.stack.append(reader.text(reader.block(size)))


def _bytes(size: int) -> Callable[[PickleReader], None]:
    return lambda reader: reader.stack.append(reader.block(size))


def _constant(value: Any) -> Callable[[PickleReader], None]:
    return lambda reader: reader.stack.append(value)


def _new(kind: Callable[[], Any], size: int) -> Callable[[PickleReader], None]:
    def push(reader: PickleReader) -> None:
        reader.weight += size
        reader.stack.append(kind())

    return push


def _tuple(count: int) -> Callable[[PickleReader], None]:
    def push(reader: PickleReader) -> None:
        items = tuple(reader.stack[-count:])
        if len(items) < count:
            raise IndexError("too few values for a tuple")
        reader.weight += 48
        reader.stack[-count:] = [items]

    return push


def _marked_tuple(reader: PickleReader) -> None:
    items = reader.above()
    reader.stack.append(tuple(items))


def _marked_list(reader: PickleReader) -> None:
    items = reader.above()
    reader.stack.append(items)


def _pairs(reader: PickleReader, items: list[Any]) -> Iterator[tuple[Any, Any]]:
    if len(items) % 2:
        reader.refuse("has a key without a value")
    return zip(items[::2], items[1::2], strict=True)


def _marked_dict(reader: PickleReader) -> None:
    items: dict[Any, Any] = {}
    reader.fill(items, _pairs(reader, reader.above()))
    reader.stack.append(items)


def _marked_set(reader: PickleReader) -> None:
    members = reader.members(reader.above())
    reader.stack.append(members)


def _append(reader: PickleReader) -> None:
    item = reader.stack.pop()
    reader.list_on_top().append(item)


def _appends(reader: PickleReader) -> None:
    items = reader.above()
    reader.list_on_top().extend(items)


def _set_item(reader: PickleReader) -> None:
    value, key = reader.stack.pop(), reader.stack.pop()
    reader.fill(reader.dict_on_top(), ((key, value),))


def _set_items(reader: PickleReader) -> None:
    items = reader.above()
    reader.fill(reader.dict_on_top(), _pairs(reader, items))


def _add_items(reader: PickleReader) -> None:
    items = reader.above()
    target = reader.stack[-1]
    if type(target) is not set:
        reader.refuse(f"would add to {named(target)} as if it were a set")
    target |= reader.members(items)


def _written_place(reader: PickleReader) -> int:
    return reader.written(reader.line())


def _global(reader: PickleReader) -> None:
    module, name = reader.line(), reader.line()
    reader.find(reader.text(module), reader.text(name))


def _stacked_global(reader: PickleReader) -> None:
    name, module = reader.stack.pop(), reader.stack.pop()
    reader.find(module, name)


_STOP = ord(".")
_INSTRUCTIONS: Mapping[bytes, Callable[[PickleReader], None]] = {
    b"\x80": _proto,
    b"\x95": _frame,
    b"(": _mark,
    b"0": _pop,
    b"1": lambda reader: reader.above().clear(),
    b"2": _duplicate,
    b"N": _constant(None),
    b"\x88": _constant(True),
    b"\x89": _constant(False),
    b"I": _written_number,
    b"L": _written_long,
    b"J": _signed,
    b"K": _unsigned(1),
    b"M": _unsigned(2),
    b"\x8a": _long(1),
    b"\x8b": _long(4),
    b"F": _written_float,
    b"G": _float,
    b"S": _written_string,
    b"U": _string(1),
    b"T": _string(4),
    b"V": _written_text,
    b"X": _text(4),
    b"\x8c": _text(1),
    b"\x8d": _text(8),
    b"C": _bytes(1),
    b"B": _bytes(4),
    b"\x8e": _bytes(8),
    b"\x96": _bytes(8),
    b")": _constant(()),
    b"\x85": _tuple(1),
    b"\x86": _tuple(2),
    b"\x87": _tuple(3),
    b"t": _marked_tuple,
    b"]": _new(list, 64),
    b"l": _marked_list,
    b"a": _append,
    b"e": _appends,
    b"}": _new(dict, 64),
    b"d": _marked_dict,
    b"s": _set_item,
    b"u": _set_items,
    b"\x8f": _new(set, 220),
    b"\x90": _add_items,
    b"\x91": _marked_set,
    b"p": lambda reader: reader.remember(_written_place(reader)),
    b"q": lambda reader: reader.remember(reader.number(1)),
    b"r": lambda reader: reader.remember(reader.number(4)),
    b"\x94": lambda reader: reader.remember(len(reader.memo)),
    b"g": lambda reader: reader.recall(_written_place(reader)),
    b"h": lambda reader: reader.recall(reader.number(1)),
    b"j": lambda reader: reader.recall(reader.number(4)),
    b"c": _global,
    b"\x93": _stacked_global,
    b"R": lambda reader: reader.call(),
    b"b": lambda reader: reader.complete(),
}
_STEPS: tuple[Callable[[PickleReader], None] | None, ...] = tuple(
    _INSTRUCTIONS.get(bytes([code])) for code in range(256)
)
#: What Python's reader would follow and this one refuses.
_REFUSED: Mapping[int, str] = {
    ord("i"): "makes an instance of a class",
    ord("o"): "makes an instance of a class",
    0x81: "makes an instance of a class",
    0x92: "makes an instance of a class",
    ord("P"): "asks for an object by a persistent id",
    ord("Q"): "asks for an object by a persistent id",
    0x82: "names an extension",
    0x83: "names an extension",
    0x84: "names an extension",
    0x97: "asks for a buffer beside the file",
    0x98: "asks for a buffer beside the file",
}
