"""Files that torch.save wrote, read without running anything: tensors, and the plain settings beside them.

Such a file is a zip with a pickle that says which tensors there are, and a record of bytes for each storage. The pickle
is followed by billboards' own reader, which never imports or calls what a file names. Lightning's checkpoints hold more
than tensors (a Namespace, numpy's numbers, omegaconf's containers, states of callbacks): an object of such a class
becomes an inert one, its name and what it holds. Whatever would call something, and is no builder of tensors or plain
data, is refused with the name it wanted. Tensors are views of the mapped file, made for the weights alone.
"""

from __future__ import annotations

import math
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from billboards._pickles import MOST_BYTES, PickleName, PickleReader, named
from billboards.errors import InvalidInput
from billboards.reading import shown

if TYPE_CHECKING:
    from torch import Tensor

#: The names under which programs keep weights beside other things.
STATES = ("state_dict", "model_state_dict", "model")
SETTINGS = ("hyper_parameters", "hparams", "args", "cfg")
#: Dimensions of a tensor, and how much of the settings is read: how deep, and how many values.
MOST_DIMENSIONS, MOST_DEEP, MOST_VALUES = 16, 32, 100_000
#: How a file begins that torch wrote before version 1.6.
_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_STORAGES: Mapping[str, str] = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "UntypedStorage": "uint8",
}
_TYPES: Mapping[str, int] = {
    **{"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1},
    **{"uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1, "complex64": 8, "complex128": 16},
    **{"float8_e4m3fn": 1, "float8_e5m2": 1},
}
_TYPE_NAMES: Mapping[str, str] = {
    **{name: name for name in _TYPES},
    **{"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16"},
}


@dataclass(frozen=True, kw_only=True)
class WeightFile:
    """What a file holds: weights by name, and the settings that stand beside them as plain data."""

    tensors: Mapping[str, Tensor]
    hyper_parameters: Mapping[str, Any]


def read_checkpoint(path: Path) -> WeightFile:
    """The weights and settings of a file that torch.save wrote; one that would call anything is refused."""
    with _opened(path) as archive:
        content = CheckpointReader(archive.read("data.pkl"), str(path)).follow()
        if not isinstance(content, dict):
            raise InvalidInput(
                f"{path}: holds {named_part(content)}, not weights by name; save its state_dict() instead"
            )
        records = _weights(content)
        if not records:
            raise InvalidInput(f"{path}: holds no weights by name; its keys are {shown(list(content)[:8])}")
        settings = next((content[name] for name in SETTINGS if name in content), None)
        plain = _Plain(str(path)).value(settings)
        return WeightFile(
            tensors=archive.tensors(records), hyper_parameters=plain if isinstance(plain, Mapping) else {}
        )


def _weights(content: Mapping[Any, Any]) -> dict[str, TensorRecord]:
    """The tensors by name, wherever in the file they stand."""
    for name in STATES:
        nested = content.get(name)
        if isinstance(nested, dict) and any(isinstance(value, TensorRecord) for value in nested.values()):
            return _weights(nested)
    return {name: value for name, value in content.items() if isinstance(value, TensorRecord) and type(name) is str}


@dataclass(frozen=True, kw_only=True)
class TensorRecord:
    """A tensor as the pickle describes it: which storage, and how its elements lie there."""

    key: str
    dtype: str
    #: Bytes of the storage.
    size: int
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(eq=False)
class Inert:
    """An object of a class that is not looked up: the class's name, and what the object would have been given."""

    name: str
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)
    elements: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class _Storage:
    """A record of bytes in the archive, and the type of its elements."""

    key: str
    dtype: str
    size: int


class _StorageType(PickleName):
    """A name of torch's that says what a storage holds."""

    def __init__(self, name: str, dtype: str) -> None:
        super().__init__(f"torch.{name}")
        self.dtype = dtype


class CheckpointReader(PickleReader):
    """Follows the pickle in a checkpoint: tensors become records, objects of unknown classes inert ones."""

    def steps(self) -> Sequence[Callable[[Any], None] | None]:
        return _STEPS

    def names(self) -> Mapping[tuple[str, str], PickleName]:
        return _NAMES

    def find(self, module: object, name: object) -> None:
        """A name stands for itself: nothing is looked up, and only builders of this package can be called."""
        if type(module) is not str or type(name) is not str:
            self.refuse("has a name that is no text")
        self.weigh(2 * (len(module) + len(name)) + 200)
        self.stack.append(self.names().get((module, name)) or PickleName(f"{module}.{name}"))

    def call(self) -> None:
        mark = self.stack[-2]
        if not isinstance(mark, PickleName) or mark.build is None:
            self.refuse(f"would call {_spelled(mark)}, so it holds more than weights and settings")
        super().call()

    def key(self, key: Any) -> Any:
        # Lightning once kept the states of callbacks by their classes.
        return super().key(key.name if type(key) is PickleName else key)

    def make(self) -> None:
        """An object of a class as Python's protocol 2 makes it: here an inert one."""
        arguments, mark = self.stack.pop(), self.stack.pop()
        self.stack.append(self.inert(mark, arguments))

    def make_with_keywords(self) -> None:
        keywords = self.stack.pop()
        if type(keywords) is not dict:
            self.refuse("makes an object with keywords that are none")
        self.make()

    def inert(self, mark: Any, arguments: Any) -> Any:
        if not isinstance(mark, PickleName) or type(arguments) is not tuple:
            self.refuse(f"would make an object of {_spelled(mark)}")
        if (mark.name in _DICTS or mark.build is _build_ordered) and not arguments:
            return {}
        package = mark.name.partition(".")[0]
        if mark.build is not None or ((package in _NO_CLASSES or not package) and mark.name not in _HARMLESS):
            self.refuse(f"would make an object of {_spelled(mark)}, which is no setting")
        self.weigh(400)
        return Inert(mark.name)

    def complete(self) -> None:
        target = self.stack[-2] if len(self.stack) > 1 else None
        if isinstance(target, Inert):
            target.state = self.stack.pop()
        elif type(target) is dict:
            # An OrderedDict of weights carries versions of modules, which nothing here reads.
            if type(self.stack.pop()) is not dict:
                self.refuse("would change the state of a dict")
        else:
            super().complete()

    def list_on_top(self) -> list[Any]:
        target = self.stack[-1]
        return target.elements if isinstance(target, Inert) else super().list_on_top()

    def dict_on_top(self) -> dict[Any, Any]:
        target = self.stack[-1]
        return target.items if isinstance(target, Inert) else super().dict_on_top()

    def store(self) -> None:
        """A storage, which a checkpoint names by a persistent id."""
        asked = self.stack.pop()
        if type(asked) is not tuple or len(asked) != 5 or asked[0] != "storage":
            self.refuse("asks for an object by a persistent id that names no storage")
        _, kind, key, place, count = asked
        if not isinstance(kind, _StorageType):
            self.refuse(f"asks for a storage of {_spelled(kind)}")
        if type(key) is not str or type(place) is not str or type(count) is not int or count < 0:
            self.refuse("asks for a storage that can't be right")
        self.weigh(200)
        self.stack.append(_Storage(key, kind.dtype, count * _TYPES[kind.dtype]))

    def tensor(self, storage: Any, start: Any, shape: Any, strides: Any, dtype: str | None = None) -> TensorRecord:
        """A tensor whose elements all lie in its storage."""
        if not isinstance(storage, _Storage):
            self.refuse(f"has a tensor of {_spelled(storage)}, not of a storage")
        numbers = (start, *shape, *strides) if type(shape) is tuple and type(strides) is tuple else (None,)
        if not all(type(number) is int and number >= 0 for number in numbers) or len(shape) != len(strides):
            self.refuse("has a tensor of a shape that can't be right")
        if len(shape) > MOST_DIMENSIONS:
            self.refuse(f"has a tensor of {len(shape)} dimensions")
        kind = dtype or storage.dtype
        count = math.prod(shape)
        last = start + sum((length - 1) * step for length, step in zip(shape, strides, strict=True)) if count else -1
        available = storage.size // _TYPES[kind]
        if last >= available or count > available:
            self.refuse(f"has a tensor of shape {shown(shape)} in a storage of {available:,} elements")
        self.weigh(500)
        return TensorRecord(key=storage.key, dtype=kind, size=storage.size, start=start, shape=shape, strides=strides)


def _spelled(value: object) -> str:
    """What stands in a place where it must not, as a message has it."""
    if isinstance(value, TensorRecord | _Storage | Inert):
        return named_part(value)
    return shown(named(value)).strip("'")


def named_part(value: object) -> str:
    """What a checkpoint holds, in a few words."""
    if isinstance(value, Inert):
        return f"an object of {shown(value.name).strip(chr(39))}"
    if isinstance(value, TensorRecord):
        return "one tensor"
    return "a storage" if isinstance(value, _Storage) else named(value)


def _build_tensor(reader: CheckpointReader, arguments: tuple[Any, ...]) -> TensorRecord:
    if len(arguments) < 4:
        reader.refuse("has a tensor that can't be read")
    return reader.tensor(*arguments[:4])


def _build_typed_tensor(reader: CheckpointReader, arguments: tuple[Any, ...]) -> TensorRecord:
    kind = arguments[6] if len(arguments) > 6 else None
    if not isinstance(kind, PickleName) or kind.name.removeprefix("torch.") not in _TYPE_NAMES:
        reader.refuse(f"has a tensor of type {_spelled(kind)}")
    storage, start, shape, strides = arguments[:4]
    return reader.tensor(storage, start, shape, strides, _TYPE_NAMES[kind.name.removeprefix("torch.")])


def _build_parameter(reader: CheckpointReader, arguments: tuple[Any, ...]) -> TensorRecord:
    if not arguments or not isinstance(arguments[0], TensorRecord):
        reader.refuse("has a parameter without a tensor")
    return arguments[0]


def _build_of_type(reader: CheckpointReader, arguments: tuple[Any, ...]) -> Any:
    """A tensor with Python attributes: the tensor."""
    builder = arguments[0] if len(arguments) == 4 else None
    if builder not in _TENSOR_BUILDERS or type(arguments[2]) is not tuple:
        reader.refuse(f"would build a tensor by {_spelled(builder)}")
    assert isinstance(builder, PickleName)
    assert builder.build is not None
    return builder.build(reader, arguments[2])


def _build_size(reader: CheckpointReader, arguments: tuple[Any, ...]) -> tuple[int, ...]:
    lengths = arguments[0] if len(arguments) == 1 else ()
    if type(lengths) not in (tuple, list) or not all(type(length) is int for length in lengths):
        reader.refuse("has a torch.Size that can't be right")
    reader.weigh(16 * len(lengths))
    return tuple(lengths)


def _build_text(between: str) -> Callable[[CheckpointReader, tuple[Any, ...]], str]:
    """A device, layout or path: its parts as a text."""

    def build(reader: CheckpointReader, arguments: tuple[Any, ...]) -> str:
        if len(arguments) > 64 or not all(type(part) in (str, int) for part in arguments):
            reader.refuse("has a device or path that can't be right")
        text = between.join(map(str, arguments))
        reader.weigh(4 * len(text))
        return text

    return build


def _build_ordered(reader: CheckpointReader, arguments: tuple[Any, ...]) -> Any:
    """An OrderedDict, or a Counter, which is given a dict."""
    if len(arguments) == 1 and type(arguments[0]) is dict:
        reader.weigh(100 * len(arguments[0]))
        return dict(arguments[0])
    build = PickleReader.names(reader)["collections", "OrderedDict"].build
    assert build is not None
    return build(reader, arguments)


def _build_old_object(reader: CheckpointReader, arguments: tuple[Any, ...]) -> Any:
    """An object as protocols 0 and 1 make it."""
    if len(arguments) != 3 or named(arguments[1]) != "builtins.object" or arguments[2] is not None:
        reader.refuse("makes an object that can't be read")
    return reader.inert(arguments[0], ())


_V2, _V3 = (
    PickleName("torch._utils._rebuild_tensor_v2", _build_tensor),
    PickleName("torch._utils._rebuild_tensor_v3", _build_typed_tensor),
)
_PARAMETER = PickleName("torch._utils._rebuild_parameter", _build_parameter)
_TENSOR_BUILDERS = (_V2, _V3, _PARAMETER)
_ORDERED = PickleName("collections.OrderedDict", _build_ordered)
_PATHS = ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path", "PurePath")
_NAMES: Mapping[tuple[str, str], PickleName] = {
    **PickleReader.names(PickleReader(b"", "")),
    ("collections", "OrderedDict"): _ORDERED,
    ("collections", "Counter"): _ORDERED,
    ("copyreg", "_reconstructor"): PickleName("copyreg._reconstructor", _build_old_object),
    ("copy_reg", "_reconstructor"): PickleName("copyreg._reconstructor", _build_old_object),
    ("torch._utils", "_rebuild_tensor"): _V2,
    ("torch._utils", "_rebuild_tensor_v2"): _V2,
    ("torch._utils", "_rebuild_tensor_v3"): _V3,
    ("torch._utils", "_rebuild_parameter"): _PARAMETER,
    ("torch._utils", "_rebuild_parameter_with_state"): _PARAMETER,
    ("torch._tensor", "_rebuild_from_type_v2"): PickleName("torch._tensor._rebuild_from_type_v2", _build_of_type),
    ("torch", "Size"): PickleName("torch.Size", _build_size),
    ("torch", "device"): PickleName("torch.device", _build_text(":")),
    ("torch.serialization", "_get_layout"): PickleName("torch.layout", _build_text("")),
    **{("pathlib", name): PickleName(f"pathlib.{name}", _build_text("/")) for name in _PATHS},
    **{
        (module, name): _StorageType(name, dtype)
        for module in ("torch", "torch.storage")
        for name, dtype in _STORAGES.items()
    },
}
_DICTS = ("builtins.dict", "__builtin__.dict", "dict")
#: Packages whose classes are no settings: those of Python itself, for nothing there is needed but what stands below.
_NO_CLASSES = {*sys.stdlib_module_names, "__builtin__", "copy_reg"}
_HARMLESS = ("argparse.Namespace", "types.SimpleNamespace")


def _steps() -> Iterator[Callable[[Any], None] | None]:
    own: Mapping[int, Callable[[CheckpointReader], None]] = {
        0x81: CheckpointReader.make,
        0x92: CheckpointReader.make_with_keywords,
        ord("Q"): CheckpointReader.store,
    }
    for code, step in enumerate(PickleReader.steps(PickleReader(b"", ""))):
        yield own.get(code, step)


_STEPS = tuple(_steps())


class _Plain:
    """Settings as plain data: objects become what they hold, and what says nothing here becomes its name."""

    def __init__(self, name: str) -> None:
        self.name, self.values = name, 0

    def value(self, value: Any, deep: int = 0) -> Any:
        self.values += 1
        if deep > MOST_DEEP or self.values > MOST_VALUES:
            raise InvalidInput(
                f"{self.name}: its settings nest more than {MOST_DEEP} deep, or hold more than {MOST_VALUES:,} values"
            )
        if isinstance(value, Inert):
            return self._of_object(value, deep)
        if isinstance(value, dict):
            return {key: self.value(part, deep + 1) for key, part in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(part, deep + 1) for part in value]
        if isinstance(value, np.ndarray):
            return self.value(value.tolist(), deep + 1) if value.size <= MOST_VALUES else "an array"
        if value is None or isinstance(value, str | int | float | bool | bytes):
            return value
        return named_part(value)

    def _of_object(self, value: Inert, deep: int) -> Any:
        state = value.state if type(value.state) is dict else {}
        if value.name.startswith("omegaconf."):
            return self.value(state.get("_content", state.get("_val")), deep + 1)
        if value.name in _HARMLESS:
            return self.value(state, deep + 1)
        if value.items or value.elements:
            return self.value(value.items or value.elements, deep + 1)
        return {} if value.name.endswith("AttributeDict") else f"an object of {value.name}"


class _Archive:
    """The zip of a checkpoint: where each record lies in the file, with nothing of it read yet."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self.archive = path, archive
        self.length = path.stat().st_size
        names = [info.filename for info in archive.infolist()]
        pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(pickles) != 1:
            raise InvalidInput(f"{path}: is a zip without weights of torch's; it should hold one data.pkl")
        self.folder = pickles[0].removesuffix("data.pkl")
        if f"{self.folder}constants.pkl" in names:
            raise InvalidInput(f"{path}: is a TorchScript program, not weights; save its state_dict() instead")
        if f"{self.folder}byteorder" in names and self.read("byteorder") != b"little":
            raise InvalidInput(
                f"{path}: was written on a machine with another order of bytes; save it again on this one"
            )

    def read(self, name: str) -> bytes:
        start, size = self._place(name)
        if size > MOST_BYTES:
            raise InvalidInput(f"{self.path}: {name} is larger than {MOST_BYTES:,} bytes, the most that is read of it")
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(size)

    def _place(self, name: str) -> tuple[int, int]:
        """Where a record's bytes begin in the file, and how many they are."""
        try:
            info = self.archive.getinfo(self.folder + name)
        except KeyError as error:
            raise InvalidInput(f"{self.path}: the record {shown(name)} is missing; fetch the file again") from error
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise InvalidInput(f"{self.path}: the record {shown(name)} is compressed, which torch never does")
        with self.path.open("rb") as file:
            file.seek(max(info.header_offset, 0))
            head = file.read(30)
        if len(head) < 30 or info.header_offset < 0 or head[:4] != b"PK\x03\x04":
            raise InvalidInput(f"{self.path}: the record {shown(name)} is damaged; fetch the file again")
        start = info.header_offset + 30 + sum(struct.unpack("<HH", head[26:30]))
        if start + info.file_size > self.length:
            raise InvalidInput(f"{self.path}: ends in the middle of {shown(name)}; fetch the file again")
        return start, info.file_size

    def tensors(self, records: Mapping[str, TensorRecord]) -> dict[str, Tensor]:
        """Tensors over the mapped file."""
        import torch

        whole = torch.UntypedStorage.from_file(str(self.path), shared=False, nbytes=self.length)
        storages: dict[tuple[str, str, int], Any] = {}
        tensors = {}
        for name, record in records.items():
            key = (record.key, record.dtype, record.size)
            if key not in storages:
                storages[key] = self._storage(whole, record)
            empty = torch.empty(0, dtype=getattr(torch, record.dtype))
            tensors[name] = empty.set_(storages[key], record.start, record.shape, record.strides)
        return tensors

    def _storage(self, whole: Any, record: TensorRecord) -> Any:
        start, size = self._place(f"data/{record.key}")
        if record.size > size:
            raise InvalidInput(
                f"{self.path}: a tensor needs {record.size:,} bytes and its record has {size:,}; fetch the file again"
            )
        part = whole[start : start + record.size]
        # torch places records at multiples of 64; elements elsewhere can't be read in place on every machine.
        return part.clone() if start % _TYPES[record.dtype] else part


@contextmanager
def _opened(path: Path) -> Iterator[_Archive]:
    """A checkpoint's zip; a file that is none is refused with what it is."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_LEGACY))
        if head == _LEGACY:
            raise InvalidInput(
                f"{path}: is of torch's format before version 1.6, which is not read here; convert it with "
                f"python -c \"import torch; torch.save(torch.load('{path.name}', weights_only=True), 'new.ckpt')\""
            )
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise InvalidInput(
            f"{path}: is no file of torch.save's, or is damaged ({error}); fetch the file again"
        ) from error
    except (OSError, ValueError, NotImplementedError, struct.error) as error:
        raise InvalidInput(f"{path}: can't be read: {str(error).splitlines()[0]}; fetch the file again") from error
    with archive:
        yield _Archive(path, archive)
