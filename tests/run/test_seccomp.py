"""The filter of system calls, run here as the kernel would run it."""

from __future__ import annotations

import errno
import struct

import pytest

from billboards.run.seccomp import ARCHITECTURES, NEW_NAMESPACES, NOT_THERE, REFUSED, seccomp_filter

ALLOWED, KILLED = "allowed", "killed"


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None) -> str:
    """What the filter says to a call: allowed, killed, or the name of an error."""
    steps = list(struct.iter_unpack("<HBBI", seccomp_filter(machine) or b""))
    given = architecture or ARCHITECTURES[machine][1]
    data = struct.pack("<IIQ6Q", number, given, 0, *(*arguments, *[0] * (6 - len(arguments))))
    held, k = 0, 0
    while True:
        code, if_true, if_false, value = steps[k]
        if code == 0x20:
            held = struct.unpack_from("<I", data, value)[0]
        elif code == 0x06:
            return verdict(value)
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            k += if_true if holds else if_false
        k += 1


def verdict(value: int) -> str:
    if value == 0x7FFF0000:
        return ALLOWED
    return KILLED if value == 0x80000000 else errno.errorcode[value & 0xFFFF]


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("name", REFUSED)
def test_every_listed_call_is_refused(machine: str, name: str) -> None:
    assert answer(machine, REFUSED[name][ARCHITECTURES[machine][0]]) == "EPERM"


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("name", NOT_THERE)
def test_calls_that_hide_their_arguments_are_not_there(machine: str, name: str) -> None:
    assert answer(machine, NOT_THERE[name][ARCHITECTURES[machine][0]]) == "ENOSYS"


@pytest.mark.parametrize(
    ("machine", "clone", "socket", "ioctl", "read"), [("x86_64", 56, 41, 16, 0), ("aarch64", 220, 198, 29, 63)]
)
def test_arguments_decide_where_they_can_be_seen(machine: str, clone: int, socket: int, ioctl: int, read: int) -> None:
    assert answer(machine, read) == ALLOWED
    assert answer(machine, clone, 0x01200011) == ALLOWED
    assert answer(machine, clone, 0x10000011) == "EPERM"
    assert [answer(machine, socket, family) for family in (1, 2, 10)] == [ALLOWED] * 3
    assert [answer(machine, socket, family) for family in (0, 16, 17, 38, 40)] == ["EAFNOSUPPORT"] * 5
    assert [answer(machine, ioctl, 0, request) for request in (0x5401, 0x5412, 0x541C)] == [ALLOWED, "EPERM", "EPERM"]


def test_the_other_doors_to_the_kernel_are_closed() -> None:
    assert answer("x86_64", 0x40000000 + 101) == "ENOSYS"
    assert answer("x86_64", 26, architecture=0x40000003) == KILLED
    assert answer("aarch64", 26, architecture=0x40000028) == KILLED


def test_every_namespace_flag_is_seen() -> None:
    assert bin(NEW_NAMESPACES).count("1") == 7


def test_a_machine_that_is_not_listed_has_no_filter() -> None:
    assert seccomp_filter("riscv64") is None
