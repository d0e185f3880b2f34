"""The filter of system calls, run here as the kernel would run it."""

from __future__ import annotations

import errno
import struct

import pytest

from billboards.run.seccomp import (
    ALLOWED,
    ARCHITECTURES,
    NEW_NAMESPACES,
    NOT_SUPPORTED,
    NOT_THERE,
    UNFIT,
    YOUNG,
    seccomp_filter,
)

ALLOW, KILLED = "allowed", "killed"
#: Calls with which sandboxes were left, or their limits: name -> number on x86_64 and on aarch64.
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
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "shmat": (30, 196),
    "cachestat": (451, 451),
    "syncfs": (306, 267),
    "sync": (162, 81),
    "fanotify_mark": (301, 263),
    "io_submit": (209, 2),
    "remap_file_pages": (216, 234),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "setuid": (105, 146),
    "process_mrelease": (448, 448),
    "set_mempolicy_home_node": (450, 450),
    "inotify_add_watch": (254, 27),
}
#: Call: its numbers, arguments that are allowed, arguments that are not, and with which error.
BY_ARGUMENTS: dict[str, tuple[tuple[int, int], list[tuple[int, ...]], list[tuple[int, ...]], str]] = {
    "clone": ((56, 220), [(0x01200011,), (0x3D0F00,)], [(0x10000011,), (0x20000011,), (0x00020011,)], "EPERM"),
    "socket": ((41, 198), [(1, 1, 0), (2, 1, 0), (10, 2, 17), (2, 1, 6)], [(16, 3, 0), (17, 3, 0)], "EAFNOSUPPORT"),
    "a socket of another kind": ((41, 198), [(1, 5, 0)], [(38, 5, 0), (40, 1, 0), (0,)], "EAFNOSUPPORT"),
    "a protocol": ((41, 198), [(2, 2, 0)], [(2, 1, 262), (2, 1, 132), (10, 2, 58)], "EPROTONOSUPPORT"),
    "socketpair": ((53, 199), [(1, 1, 0)], [(2, 1, 0), (30, 1, 0)], "EAFNOSUPPORT"),
    "setsockopt": ((54, 208), [(3, 1, 2), (3, 6, 1)], [(3, 1, 7), (3, 1, 8), (3, 1, 32), (3, 1, 60)], "ENOPROTOOPT"),
    "a filter for a socket": ((54, 208), [(3, 1, 9)], [(3, 1, 26), (3, 1, 50), (3, 6, 31), (3, 270, 1)], "ENOPROTOOPT"),
    "ioctl": ((16, 29), [(0, 0x5401), (0, 0x541B)], [(0, 0x5412), (0, 0x541C), (0, 0x40086602)], "ENOTTY"),
    "fcntl": ((72, 25), [(3, 2), (3, 6), (3, 1030)], [(3, 5), (3, 36), (3, 37), (3, 1024), (3, 1026)], "EINVAL"),
    "the size of a pipe": ((72, 25), [(3, 1032)], [(3, 1031), (3, 1033), (3, 1036)], "EINVAL"),
    "mmap": (
        (9, 222),
        [(0, 9, 3, 0x22), (0, 9, 3, 0x01), (0, 9, 3, 0x02)],
        [(0, 9, 3, 0x21), (0, 9, 3, 0x40021)],
        "EPERM",
    ),
    "madvise": ((28, 233), [(0, 0, 4), (0, 0, 14)], [(0, 0, 12), (0, 0, 20), (0, 0, 21), (0, 0, 100)], "EINVAL"),
    "fadvise": ((221, 223), [(3, 0, 0, 2)], [(3, 0, 0, 4), (3, 0, 0, 5)], "EINVAL"),
    "prctl": ((157, 167), [(4, 0), (15,), (38, 1)], [(22, 2), (35,), (62,), (0x53564D41,)], "EINVAL"),
    "prlimit": ((302, 261), [(0, 7)], [(1, 7), (2, 7)], "EPERM"),
    "personality": ((135, 92), [(0,), (0xFFFFFFFF,)], [(0x0040000,), (8,)], "EPERM"),
}
#: Calls with an error of their own.
ANSWERED = {"ENOSYS": NOT_THERE, "EINVAL": UNFIT, "ENOTSUP": NOT_SUPPORTED}
LOOKED_INTO = {numbers for numbers, _, _, _ in BY_ARGUMENTS.values()}


def answer(
    machine: str, number: int, *arguments: int, architecture: int | None = None, steps: bytes | None = None
) -> str:
    """What the filter says to a call: allowed, killed, or the name of an error."""
    instructions = list(struct.iter_unpack("<HBBI", seccomp_filter(machine) or b"" if steps is None else steps))
    given = architecture or ARCHITECTURES[machine][1]
    data = struct.pack("<IIQ6Q", number, given, 0, *(*arguments, *[0] * (6 - len(arguments))))
    held, k = 0, 0
    while True:
        code, if_true, if_false, value = instructions[k]
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
        return ALLOW
    return KILLED if value == 0x80000000 else errno.errorcode[value & 0xFFFF]


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_what_is_not_listed_is_refused(machine: str) -> None:
    column = ARCHITECTURES[machine][0]
    listed = {calls[name][column] for calls in (ALLOWED, *ANSWERED.values()) for name in calls}
    listed |= {numbers[column] for numbers in LOOKED_INTO}
    others = set(range(600)) - listed
    assert {answer(machine, number) for number in others if number < YOUNG} == {"EPERM"}
    assert {answer(machine, number) for number in others if number >= YOUNG} == {"ENOSYS"}


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("name", REFUSED)
def test_no_call_that_leads_out_is_allowed(machine: str, name: str) -> None:
    assert answer(machine, REFUSED[name][ARCHITECTURES[machine][0]]) in ("EPERM", "ENOSYS")


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("name", ALLOWED)
def test_every_listed_call_is_allowed_where_there_is_one(machine: str, name: str) -> None:
    number = ALLOWED[name][ARCHITECTURES[machine][0]]
    assert number is None or answer(machine, number) == ALLOW


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("error", ANSWERED)
def test_calls_that_libraries_do_without_fail_as_these_expect(machine: str, error: str) -> None:
    numbers = [numbers[ARCHITECTURES[machine][0]] for numbers in ANSWERED[error].values()]
    assert {answer(machine, number) for number in numbers if number is not None} == {error}


def test_no_number_stands_twice() -> None:
    for column in (0, 1):
        listed = [calls[name][column] for calls in (ALLOWED, *ANSWERED.values()) for name in calls]
        numbers = [number for number in listed if number is not None] + [pair[column] for pair in LOOKED_INTO]
        assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("call", BY_ARGUMENTS)
def test_arguments_decide_where_a_call_does_many_things(machine: str, call: str) -> None:
    numbers, allowed, refused, error = BY_ARGUMENTS[call]
    number = numbers[ARCHITECTURES[machine][0]]
    assert [answer(machine, number, *arguments) for arguments in allowed] == [ALLOW] * len(allowed)
    assert [answer(machine, number, *arguments) for arguments in refused] == [error] * len(refused)


def test_a_program_with_a_graphics_card_may_ask_its_driver_anything() -> None:
    filters = seccomp_filter("x86_64"), seccomp_filter("x86_64", devices=True)
    asked = [answer("x86_64", 16, 0, request, steps=steps) for steps in filters for request in (0xC020462A, 0x5412)]
    assert asked == ["ENOTTY", "ENOTTY", ALLOW, "EPERM"]


def test_the_other_doors_to_the_kernel_are_closed() -> None:
    assert answer("x86_64", 0x40000000 + 101) == "ENOSYS"
    assert answer("x86_64", 26, architecture=0x40000003) == KILLED
    assert answer("aarch64", 26, architecture=0x40000028) == KILLED


def test_every_namespace_flag_is_seen() -> None:
    assert bin(NEW_NAMESPACES).count("1") == 7


def test_a_machine_that_is_not_listed_has_no_filter() -> None:
    assert seccomp_filter("riscv64") is None


def test_a_graphics_cards_driver_may_share_memory() -> None:
    assert answer("x86_64", 9, 0, 4096, 3, 0x21, steps=seccomp_filter("x86_64", devices=True)) == ALLOW
