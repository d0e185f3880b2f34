"""Which system calls a confined program may make, as a classic BPF filter for the kernel.

Only what metrics need is allowed, by number and, where a call does many things, by its arguments. All else is refused:
tracing, mounting, new namespaces, keys, kernel modules, io_uring, kinds of memory that no limit counts, whatever tells
or changes what is in the system's cache of files, locks that other programs can see, and sockets other than those of
the own (empty) network. A refused call fails with an error number as on a system that lacks it, so that libraries fall
back.

The filter is assembled here because libseccomp is under the LGPL.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


def _calls(listing: str) -> dict[str, tuple[int | None, int | None]]:
    """Name -> number on x86_64 and on aarch64, None where there is no such call."""
    rows = (row.split() for row in listing.replace("\n", " ").split(","))
    return {name: (_number(x86), _number(arm)) for name, x86, arm in rows}


def _number(word: str) -> int | None:
    return None if word == "-" else int(word)


#: Calls that every program may make.
ALLOWED = {
    # Files and folders.
    **_calls(
        """
        read 0 63, write 1 64, open 2 -, close 3 57, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx
        332 291, lseek 8 62, pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, preadv 295 69, pwritev
        296 70, access 21 -, faccessat 269 48, faccessat2 439 439, openat 257 56, openat2 437 437, creat 85 -,
        close_range 436 436, fsync 74 82, fdatasync 75 83, truncate 76 45, ftruncate 77 46, fallocate 285 47,
        getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, rename 82 -, renameat 264 38,
        renameat2 316 276, mkdir 83 -, mkdirat 258 34, rmdir 84 -, link 86 -, linkat 265 37, unlink 87 -,
        unlinkat 263 35, symlink 88 -, symlinkat 266 36, readlink 89 -, readlinkat 267 78, mknod 133 -, mknodat
        259 33, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown
        94 -, fchownat 260 54, umask 95 166, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
        statfs 137 43, fstatfs 138 44, copy_file_range 326 285, getxattr 191 8, lgetxattr 192 9, fgetxattr 193
        10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13, dup 32 23, dup2 33 -, dup3 292 24, pipe 22
        -, pipe2 293 59
        """
    ),
    # Waiting.
    **_calls(
        """
        poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
        epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -, eventfd2
        290 19, signalfd 282 -, signalfd4 289 74, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime
        287 87, pause 34 -, nanosleep 35 101, clock_nanosleep 230 115
        """
    ),
    # Memory.
    **_calls(
        """
        mprotect 10 226, munmap 11 215, mremap 25 216, brk 12 214, msync 26 227, mlock 149 228,
        mlock2 325 284, munlock 150 229, mlockall 151 230, munlockall 152 231, membarrier 324 283, pkey_mprotect
        329 288, pkey_alloc 330 289, pkey_free 331 290, get_mempolicy 239 236, set_mempolicy 238 237, mbind 237
        235, map_shadow_stack 453 453
        """
    ),
    # Signals.
    **_calls(
        """
        rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait
        128 137, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, rt_sigsuspend 130 133, sigaltstack 131 132,
        kill 62 129, tkill 200 130, tgkill 234 131, restart_syscall 219 128, pidfd_open 434 434,
        pidfd_send_signal 424 424
        """
    ),
    # Processes and threads.
    **_calls(
        """
        fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94, wait4 61 260,
        waitid 247 95, getpid 39 172, getppid 110 173, gettid 186 178, getpgid 121 155, getpgrp 111 -, setpgid
        109 154, getsid 124 156, setsid 112 157, set_tid_address 218 96, set_robust_list 273 99, get_robust_list
        274 100, futex 202 98, futex_waitv 449 449, futex_wake 454 454, futex_wait 455 455, futex_requeue 456
        456, rseq 334 293, arch_prctl 158 -, sched_yield 24 124, sched_getaffinity 204 123, sched_setaffinity
        203 122, sched_getparam 143 121, sched_setparam 142 118, sched_getscheduler 145 120, sched_setscheduler
        144 119, sched_get_priority_max 146 125, sched_get_priority_min 147 126, sched_rr_get_interval 148 127,
        sched_getattr 315 275, sched_setattr 314 274, getpriority 140 141, setpriority 141 140, ioprio_get 252
        31, ioprio_set 251 30, getcpu 309 168, getrusage 98 165, getrlimit 97 163, setrlimit 160 164, times 100
        153
        """
    ),
    # Clocks and timers.
    **_calls(
        """
        time 201 -, gettimeofday 96 169, clock_gettime 228 113, clock_getres 229 114, alarm 37 -, getitimer 36
        102, setitimer 38 103, timer_create 222 107, timer_settime 223 110, timer_gettime 224 108,
        timer_getoverrun 225 109, timer_delete 226 111
        """
    ),
    # Who and where one is; the launcher gives up its rights by the set… calls, which give nobody any.
    **_calls(
        """
        getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
        getgroups 115 158, capget 125 90, capset 126 91, setresuid 117 147, setresgid 119 149, setgroups 116
        159, uname 63 160, sysinfo 99 179, getrandom 318 278
        """
    ),
    # Sockets that were made already.
    **_calls(
        """
        connect 42 203, accept 43 202, accept4 288 242, bind 49 200, listen 50 201, shutdown 48 210, sendto 44
        206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243, getsockname 51
        204, getpeername 52 205, getsockopt 55 209
        """
    ),
}
#: Calls that are answered "not there", because libraries then take another way: one that the filter can look into
#: (clone3 hides its flags in memory), that the limits can count (a memfd belongs to no file system; what is spliced
#: into a pipe stays in memory), or that tells nothing of others (locks of whole files, what of a file is in memory).
NOT_THERE = _calls(
    """
    clone3 435 435, memfd_create 319 279, flock 73 32, mincore 27 232, preadv2 327 286, pwritev2 328 287,
    inotify_init 253 -, inotify_init1 294 26, io_setup 206 0, readahead 187 213
    """
)
#: Calls that are answered as if they didn't fit the files at hand; programs then copy by reading and writing.
UNFIT = _calls("sendfile 40 71, splice 275 76, tee 276 77, vmsplice 278 75")
#: Calls that are answered as by a file system without attributes, which programs that copy files know.
NOT_SUPPORTED = _calls("setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7")
#: Calls from this number on are younger than Linux 5.1. Libraries know how to do without them where they are not there.
YOUNG = 424
CLONE, SOCKET, SOCKETPAIR, SETSOCKOPT, IOCTL, MMAP = (56, 220), (41, 198), (53, 199), (54, 208), (16, 29), (9, 222)
FCNTL, PRCTL, PRLIMIT, PERSONALITY, MADVISE, FADVISE = (
    (72, 25),
    (157, 167),
    (302, 261),
    (135, 92),
    (28, 233),
    (221, 223),
)
#: CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET.
NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
#: MAP_SHARED and MAP_ANONYMOUS: together they make memory that stays when its pages are taken out of every process, so
#: that nobody can count it. Files in /dev/shm do the same within a bound. (Drivers of graphics cards need it.)
SHARED, ANONYMOUS = 0x01, 0x20
#: AF_UNIX. AF_INET and AF_INET6. Others, AF_VSOCK above all, may reach beyond the network namespace.
UNIX, INTERNET = 1, (2, 10)
#: By default, TCP, UDP. The buffers of others (MPTCP, SCTP) are listed nowhere.
PROTOCOLS = (0, 6, 17)
#: Options of sockets, by level: of all (addresses, keeping alive, time-outs), IP, TCP, IPv6. None that sets the size of
#: a buffer, keeps the program's memory in the kernel, or runs a filter there.
SOCKET_OPTIONS = {
    1: (2, 5, 6, 9, 10, 13, 15, 16, 20, 21, 66, 67),
    0: (1, 2, 10, 11),
    6: (1, 3, 4, 5, 6, 12, 18, 23),
    41: (26, 49, 67),
}
#: What can be asked of an open file: handles, flags, owners of signals, locks of ranges (6 and 7; who holds one can't
#: be asked, nobody else can write the file, and so nobody else can notice). No leases, notices, hints, sizes of pipes.
FILE_COMMANDS = (0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 15, 16, 1030, 1032)
#: Terminals, but for typing into them; handles; how much can be read; names and addresses of network interfaces.
REQUESTS = (
    *(0x5401, 0x5402, 0x5403, 0x5404, 0x5409, 0x540A, 0x540B, 0x540E, 0x540F, 0x5410, 0x5411, 0x5413, 0x5414, 0x541B),
    *(0x5421, 0x5422, 0x5429, 0x5441, 0x5450, 0x5451, 0x5452, 0x80045430, 0x40045431, 0x802C542A, 0x402C542B),
    *(0x8910, 0x8912, 0x8913, 0x8915, 0x8919, 0x891B, 0x8921, 0x8927, 0x8933),
)
#: Pushing characters into a terminal's input. A program with a graphics card is refused these alone: what its card's
#: driver is asked has numbers of its own.
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
#: Signal at the parent's death, memory open to others, name, capabilities given up, timers' slack, orphans, no new
#: privileges, huge pages, and aarch64's vectors and tagged addresses.
PROCESS_OPTIONS = (1, 2, 3, 4, 15, 16, 23, 24, 29, 30, 36, 37, 38, 39, 41, 42, 47, 50, 51, 55, 56)
#: What may be said of memory. Not: to merge equal pages (12, 13), which tells of others' pages, and to throw pages out
#: of memory (20, 21), which may be those of a file that others read.
ADVICE = (0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23, 24)
#: What may be said of a file: how it will be read. Not that its pages may go (4, 5).
FILE_ADVICE = (0, 1, 2, 3)
#: To be what one is, and to ask.
PERSONALITIES = (0, 0xFFFFFFFF)
#: Numbers from here up are the x32 calls of x86_64, a second door to the same kernel.
X32 = 0x40000000

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _JUMP_EQUAL, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, (16, 24, 32, 40)
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


_ALLOWED = Step(_RETURN, _ALLOW)


def seccomp_filter(machine: str = "", *, devices: bool = False) -> bytes | None:
    """The filter as the kernel reads it; None for a machine whose call numbers aren't listed here.

    With `devices` it is for a program that is given a graphics card.
    """
    call_numbers = ARCHITECTURES.get(machine or platform.machine())
    if call_numbers is None:
        return None
    column, architecture = call_numbers
    steps = [Step(_LOAD, _ARCHITECTURE), Step(_JUMP_EQUAL, architecture, 1), Step(_RETURN, _KILL)]
    steps += [Step(_LOAD, _NUMBER)]
    if column == 0:
        steps += _refuse_from(X32)
    for numbers, then in _by_arguments(devices=devices):
        steps += _when_number(numbers[column], then)
    refused = (NOT_THERE, errno.ENOSYS), (UNFIT, errno.EINVAL), (NOT_SUPPORTED, errno.EOPNOTSUPP)
    for calls, answer in (*((calls, _fail(error)) for calls, error in refused), (ALLOWED, _ALLOWED)):
        for name in calls:
            if (number := calls[name][column]) is not None:
                steps += _when_number(number, [answer])
    steps += _refuse_from(YOUNG)
    return b"".join(step.packed() for step in [*steps, _fail(errno.EPERM)])


def _by_arguments(*, devices: bool) -> Iterable[tuple[tuple[int, int], list[Step]]]:
    """Calls that are allowed with some arguments alone, and the steps that look."""
    yield CLONE, _refuse_namespaces()
    yield MMAP, [_ALLOWED] if devices else _refuse_shared_memory()
    yield FCNTL, _only(1, FILE_COMMANDS, errno.EINVAL)
    yield IOCTL, _refuse_requests((TIOCSTI, TIOCLINUX)) if devices else _only(1, REQUESTS, errno.ENOTTY)
    yield MADVISE, _only(2, ADVICE, errno.EINVAL)
    yield PRCTL, _only(0, PROCESS_OPTIONS, errno.EINVAL)
    # Limits of oneself; those of the launcher, who is the same user, are not the program's.
    yield PRLIMIT, _only(0, (0,), errno.EPERM)
    yield FADVISE, _only(3, FILE_ADVICE, errno.EINVAL)
    yield PERSONALITY, _only(0, PERSONALITIES, errno.EPERM)
    of_internet = _only(2, PROTOCOLS, errno.EPROTONOSUPPORT)
    families = {UNIX: [_ALLOWED], **dict.fromkeys(INTERNET, of_internet)}
    yield SOCKET, _by_value(0, families, errno.EAFNOSUPPORT)
    yield SOCKETPAIR, _only(0, (UNIX,), errno.EAFNOSUPPORT)
    options = {level: _only(2, names, errno.ENOPROTOOPT) for level, names in SOCKET_OPTIONS.items()}
    yield SETSOCKOPT, _by_value(1, options, errno.ENOPROTOOPT)


def _when_number(number: int, then: list[Step]) -> list[Step]:
    """Steps for one call; `then` ends in a return, and any other call jumps over it."""
    return [Step(_JUMP_EQUAL, number, 0, len(then)), *then]


def _refuse_from(number: int) -> list[Step]:
    return [Step(_JUMP_GE, number, 0, 1), _fail(errno.ENOSYS)]


def _only(argument: int, values: Iterable[int], error: int) -> list[Step]:
    """Allow a call whose argument has one of some values; any other fails."""
    return _by_value(argument, {value: [_ALLOWED] for value in values}, error)


def _by_value(argument: int, then: Mapping[int, list[Step]], error: int) -> list[Step]:
    """What follows from the value of an argument, of which the kernel itself reads 32 bits."""
    steps = [Step(_LOAD, _ARGUMENTS[argument])]
    for value, block in then.items():
        steps += _when_number(value, block)
    return [*steps, _fail(error)]


def _refuse_namespaces() -> list[Step]:
    flags = [Step(_LOAD, _ARGUMENTS[0]), Step(_JUMP_SET, NEW_NAMESPACES, 0, 1)]
    return [*flags, _fail(errno.EPERM), _ALLOWED]


def _refuse_shared_memory() -> list[Step]:
    flags = [Step(_LOAD, _ARGUMENTS[3]), Step(_JUMP_SET, SHARED, 0, 2), Step(_JUMP_SET, ANONYMOUS, 0, 1)]
    return [*flags, _fail(errno.EPERM), _ALLOWED]


def _refuse_requests(requests: Iterable[int]) -> list[Step]:
    steps = [Step(_LOAD, _ARGUMENTS[1])]
    for request in requests:
        steps += _when_number(request, [_fail(errno.EPERM)])
    return [*steps, _ALLOWED]


def _fail(number: int) -> Step:
    return Step(_RETURN, 0x00050000 | number)
