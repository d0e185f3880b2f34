"""Calling compiled kernels so that a wrong call is an exception and never a crash.

A kernel function is declared with the types of its parameters. An array is passed as pointer and length, and is refused
unless it is contiguous and of exactly the type declared; the C side checks every index against those lengths. The
interpreter's lock is released during a call, so threads run kernels side by side.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart

SUFFIX = ".dll" if sys.platform == "win32" else ".so"
OUT_OF_MEMORY, MALFORMED, TOO_LONG = -1, -2, -3
REBUILD = "build it with `python tools/build_kernels.py` (or install the package again)"

#: What a parameter may be: an array of one of these, or a single int or float.
U32, I32, I64, U8, F64 = np.uint32, np.int32, np.int64, np.uint8, np.float64


class TooLong(InvalidInput):
    """Texts would take a kernel more steps than it has."""


@cache
def library(name: str) -> ctypes.CDLL:
    """A compiled kernel file by name, checked to belong to the sources beside it, where there are any."""
    path = Path(__file__).with_name(name + SUFFIX)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise MissingPart(f"the compiled part {path.name} can't be loaded ({error}); {REBUILD}") from error
    source = path.with_suffix(".c")
    library.source_digest.restype = ctypes.c_char_p
    if source.exists() and library.source_digest().decode() != _digest(source):
        raise MissingPart(f"the compiled part {path.name} is older than {source.name}; {REBUILD}")
    return library


def _digest(source: Path) -> str:
    """What tools/build_kernels.py put into the library that it made from these sources."""
    headers = sorted(source.parent.glob("*.h"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in (source, *headers))).hexdigest()[:16]


@dataclass(frozen=True)
class Kernel:
    """An exported C function: its file, its name, its parameters' types; an array is passed as pointer and length."""

    file: str
    name: str
    parameters: tuple[type, ...]

    def __call__(self, *arguments: NDArray[Any] | int | float) -> int:
        if len(arguments) != len(self.parameters):
            raise InvalidInput(f"{self.name}: {len(arguments)} arguments for {len(self.parameters)} parameters")
        result = int(self._function(*self._raw(arguments)))
        if result == OUT_OF_MEMORY:
            raise MemoryError(f"{self.name}: not enough memory for these texts; score fewer or shorter ones at a time")
        if result == MALFORMED:
            raise InvalidInput(f"{self.name}: lengths, offsets or indices of the arrays don't fit together")
        if result == TOO_LONG:
            raise TooLong(f"{self.name}: these texts would take too long; score shorter ones")
        return result

    @cached_property
    def _function(self) -> Any:
        function = getattr(library(self.file), self.name)
        function.restype = ctypes.c_int64
        function.argtypes = [raw for parameter in self.parameters for raw in _raw_types(parameter)]
        return function

    def _raw(self, arguments: tuple[NDArray[Any] | int | float, ...]) -> Iterator[int | float]:
        for place, (parameter, value) in enumerate(zip(self.parameters, arguments, strict=True)):
            if isinstance(value, np.ndarray):
                if value.dtype.type is not parameter or not value.flags.c_contiguous:
                    raise InvalidInput(f"{self.name}: argument {place} must be a contiguous array of {parameter}")
                yield value.ctypes.data
                yield value.size
            elif parameter not in (int, float) or not isinstance(value, (parameter, int)):
                raise InvalidInput(f"{self.name}: argument {place} must be {parameter}; found {value!r}")
            else:
                yield value


def _raw_types(parameter: type) -> tuple[Any, ...]:
    if parameter is int:
        return (ctypes.c_int64,)
    if parameter is float:
        return (ctypes.c_double,)
    return (ctypes.c_void_p, ctypes.c_int64)
