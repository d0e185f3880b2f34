"""Which system calls a confined program is refused, as a classic BPF filter for the kernel.

Everything is allowed but what a metric never needs and an escape often does: tracing, mounting, new namespaces, keys,
kernel modules, io_uring, kinds of memory that no limit counts, and sockets other than those of the own (empty) network.
A refused call fails with an error number as on a system that lacks it, so that libraries fall back.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass

#: Calls refused on every architecture: name -> number on x86_64 and on aarch64.
REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "lookup_dcookie": (212, 18),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
}
#: Of x86_64 alone: I/O ports, the local descriptor table, old libraries.
REFUSED_ON_X86 = {"iopl": 172, "ioperm": 173, "modify_ldt": 154, "uselib": 134}
#: Calls that are answered "not there", because libraries then take the older way, which the filter can look into
#: (clone3 hides its flags in memory) or the limits can count (a memfd belongs to no file system).
NOT_THERE = {"clone3": (435, 435), "memfd_create": (319, 279)}
CLONE, SOCKET, IOCTL = (56, 220), (41, 198), (16, 29)
#: CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET.
NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
#: AF_UNIX, AF_INET, AF_INET6. Others, AF_VSOCK above all, may reach beyond the network namespace.
FAMILIES = (1, 2, 10)
#: Pushing characters into a terminal's input.
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
#: Numbers from here up are the x32 calls of x86_64, a second door to the same kernel.
X32 = 0x40000000

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _JUMP_EQUAL, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW, _KILL = 0x7FFF0000, 0x80000000


@dataclass(frozen=True, slots=True)
class Step:
    """One BPF instruction."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0

    def packed(self) -> bytes:
        return struct.pack("<HBBI", self.code, self.if_true, self.if_false, self.value)


def seccomp_filter(machine: str = "") -> bytes | None:
    """The filter as the kernel reads it; None for a machine whose call numbers aren't listed here."""
    call_numbers = ARCHITECTURES.get(machine or platform.machine())
    if call_numbers is None:
        return None
    column, architecture = call_numbers
    steps = [Step(_LOAD, _ARCHITECTURE), Step(_JUMP_EQUAL, architecture, 1), Step(_RETURN, _KILL)]
    steps += [Step(_LOAD, _NUMBER)]
    if column == 0:
        steps += _refuse_from(X32)
    for number in _refused_numbers(column):
        steps += _when_number(number, [_fail(errno.EPERM)])
    for numbers in NOT_THERE.values():
        steps += _when_number(numbers[column], [_fail(errno.ENOSYS)])
    steps += _when_number(CLONE[column], _refuse_namespaces())
    steps += _when_number(SOCKET[column], _refuse_families())
    steps += _when_number(IOCTL[column], _refuse_requests((TIOCSTI, TIOCLINUX)))
    return b"".join(step.packed() for step in [*steps, Step(_RETURN, _ALLOW)])


def _refused_numbers(column: int) -> list[int]:
    common = [numbers[column] for numbers in REFUSED.values()]
    return common + list(REFUSED_ON_X86.values()) if column == 0 else common


def _when_number(number: int, then: list[Step]) -> list[Step]:
    """Steps for one call; `then` ends in a return, and any other call jumps over it."""
    return [Step(_JUMP_EQUAL, number, 0, len(then)), *then]


def _refuse_from(number: int) -> list[Step]:
    return [Step(_JUMP_GE, number, 0, 1), _fail(errno.ENOSYS)]


def _refuse_namespaces() -> list[Step]:
    flags = [Step(_LOAD, _FIRST_ARGUMENT), Step(_JUMP_SET, NEW_NAMESPACES, 0, 1)]
    return [*flags, _fail(errno.EPERM), Step(_RETURN, _ALLOW)]


def _refuse_families() -> list[Step]:
    allowed = (Step(_JUMP_EQUAL, family, len(FAMILIES) - k) for k, family in enumerate(FAMILIES))
    return [Step(_LOAD, _FIRST_ARGUMENT), *allowed, _fail(errno.EAFNOSUPPORT), Step(_RETURN, _ALLOW)]


def _refuse_requests(requests: Iterable[int]) -> list[Step]:
    steps = [Step(_LOAD, _SECOND_ARGUMENT)]
    for request in requests:
        steps += [Step(_JUMP_EQUAL, request, 0, 1), _fail(errno.EPERM)]
    return [*steps, Step(_RETURN, _ALLOW)]


def _fail(number: int) -> Step:
    return Step(_RETURN, 0x00050000 | number)
