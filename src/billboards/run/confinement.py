"""The walls of a sandbox: the bubblewrap command that shows a program what it needs and nothing else.

Inside there are the system's programs and libraries, the server's Python interpreter without the server's packages, the
metric's folder and environment, all read-only, and three small private file systems that vanish with the program. A
server that runs as root makes the program an own user that owns nothing; any other server makes it nobody in a user
namespace of its own.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from billboards.errors import MissingPart
from billboards.run.control_groups import ControlGroup, control_group
from billboards.run.limits import Limits
from billboards.run.seccomp import seccomp_filter

FOLDER, GIVEN, OUT, ENVIRONMENT, OWN = "/metric", "/given", "/out", "/environment", "/billboards"
#: Private file systems, each bounded, all gone when the program has ended.
PRIVATE = ("/tmp", "/dev/shm", OUT)
#: Users that no system hands out: above all ranges of people, services and containers.
FIRST_USER, USERS = 0x70000000, 1 << 24
NOBODY = 65534
#: Of root's rights the launcher keeps those with which it gives up the rest.
KEPT_TO_GIVE_UP = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
#: What happens before the walls stand, because it can't be undone inside: when memory runs out for everybody, these
#: processes go first, and all of them are in one control group, where there is one.
START = """
echo 1000 > /proc/self/oom_score_adj || exit 1
[ -z "$1" ] || echo 0 > "$1/cgroup.procs" || exit 1
shift
exec "$@"
"""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a program finds its things, as it sees them."""

    folder: str
    inputs: str
    result: str
    python: str
    environment: str | None


@dataclass(frozen=True)
class Work:
    """A program to run: its folder, what it is given, and the name of the file it shall write."""

    folder: Path
    command: Callable[[Places], Sequence[str]]
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Path | None = None
    result: str = "scores.txt"
    #: Device files that it may use, as they are here: those of graphics cards.
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Started:
    """A program that has been started: its outermost process, the launcher's pipe, and who is first inside."""

    process: subprocess.Popen[bytes]
    pipe: int
    info: int | None
    #: How many of the processes inside are ours.
    own_processes: int = 0
    #: The control group that everything inside is in, where the server may make one.
    group: ControlGroup | None = None


def interpreter() -> Path:
    """The server's Python, behind any virtual environment."""
    return Path(sys.executable).resolve()


def program_environment(environment: str | None, tmp: str) -> dict[str, str]:
    """All variables that a program gets; the fixed seed and single threads help it to repeat itself."""
    variables = {
        "PATH": f"{interpreter().parent}:/usr/bin:/bin",
        "HOME": tmp,
        "TMPDIR": tmp,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        # Java's counters for other programs lock a file, which can't be, and it would say so where scores are expected.
        "JAVA_TOOL_OPTIONS": "-XX:-UsePerfData",
    }
    return variables if environment is None else {**variables, "PYTHONPATH": environment}


@cache
def bubblewrap() -> str:
    """The path of a bubblewrap that is new enough."""
    program = shutil.which("bwrap")
    if platform.system() != "Linux":
        raise MissingPart("submitted programs are confined by bubblewrap, which needs Linux; run the server there")
    if program is None:
        raise MissingPart(
            "bubblewrap is not installed, so submitted programs can't be confined; install it "
            "(`apt-get install bubblewrap`, `dnf install bubblewrap`), or mark programs as trusted"
        )
    options = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
    if "--disable-userns" not in options:
        raise MissingPart(f"{program} is too old to confine submitted programs; install bubblewrap 0.8 or later")
    return program


def start_confined(work: Work, limits: Limits, stack: ExitStack) -> Started:
    """Start a program behind walls, as the kind of user that the server can make it."""
    uid = FIRST_USER + secrets.randbelow(USERS) if os.geteuid() == 0 else None
    environment = None if work.environment is None else ENVIRONMENT
    places = Places(FOLDER, GIVEN, f"{OUT}/{work.result}", str(interpreter()), environment)
    plan = launch_plan(work, places, limits, uid=uid, confined=True, tmp="/tmp")
    with ExitStack() as handed:
        (pipe, pipe_in), (info, info_in) = _pipe(stack, handed), _pipe(stack, handed)
        data = {path: _memory_file(content, handed) for path, content in _files_inside(work, plan, uid).items()}
        guard = _memory_file(filter_, handed) if (filter_ := seccomp_filter(devices=bool(work.devices))) else None
        arguments = [*_user(uid), *_walls(work, limits, data), "--info-fd", str(info_in)]
        arguments += [] if guard is None else ["--seccomp", str(guard)]
        options = _memory_file("".join(f"{argument}\0" for argument in arguments).encode(), handed)
        group = stack.enter_context(control_group(limits))
        outermost = ["/bin/sh", "-c", START, "sh", "" if group is None else str(group.folder), bubblewrap()]
        inside = [places.python, "-I", "-S", "-B", f"{OWN}/launcher.py", f"{OWN}/plan.json", str(pipe_in)]
        files = [pipe_in, info_in, options, *data.values(), *([] if guard is None else [guard])]
        process = _popen([*outermost, "--args", str(options), "--", *inside], files, "/")
    return Started(process, pipe, info, 1 if uid is None else 2, group)


def start_unconfined(work: Work, limits: Limits, stack: ExitStack, tmp: Path) -> Started:
    """Start a trusted program as ourselves, with the kernel's limits alone, in a session of its own."""
    for name in ("given", "out", "tmp"):
        (tmp / name).mkdir()
    for name, content in work.files.items():
        (tmp / "given" / name).write_bytes(content)
    environment = None if work.environment is None else str(work.environment.resolve())
    folder, inputs, result = str(work.folder.resolve()), str(tmp / "given"), str(tmp / "out" / work.result)
    places = Places(folder, inputs, result, str(interpreter()), environment)
    plan = launch_plan(work, places, limits, uid=None, confined=False, tmp=str(tmp / "tmp"))
    (tmp / "plan.json").write_bytes(plan)
    launcher = str(Path(__file__).with_name("launcher.py"))
    with ExitStack() as handed:
        pipe, pipe_in = _pipe(stack, handed)
        command = [places.python, "-I", "-S", "-B", launcher, str(tmp / "plan.json"), str(pipe_in)]
        process = _popen(command, [pipe_in], folder)
    return Started(process, pipe, None)


def launch_plan(work: Work, places: Places, limits: Limits, *, uid: int | None, confined: bool, tmp: str) -> bytes:
    """What the launcher is told."""
    plan = {
        "uid": uid,
        "confined": confined,
        "folder": places.folder,
        "command": list(work.command(places)),
        "environment": program_environment(places.environment, tmp),
        "limits": limits.of_one_process(confined=confined),
        "nice": 5,
        "seconds": limits.wall_seconds + 10,
        "result": places.result,
        "result_bytes": limits.result_bytes,
    }
    return json.dumps(plan).encode()


def _files_inside(work: Work, plan: bytes, uid: int | None) -> dict[str, bytes]:
    """Every file that is made for this run: what the launcher needs, who the program is, what it is given."""
    own = {f"{OWN}/plan.json": plan, f"{OWN}/launcher.py": Path(__file__).with_name("launcher.py").read_bytes()}
    user = NOBODY if uid is None else uid
    accounts = {
        "/etc/passwd": f"nobody:x:{user}:{user}:nobody:/tmp:/bin/sh\n".encode(),
        "/etc/group": f"nogroup:x:{user}:\n".encode(),
        "/etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n",
    }
    return {**own, **accounts, **{f"{GIVEN}/{name}": content for name, content in work.files.items()}}


def _user(uid: int | None) -> Iterator[str]:
    """Who the program is, and which worlds of its own it lives in."""
    if uid is not None:
        yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
        yield from ("--cap-drop", "ALL")
        for capability in KEPT_TO_GIVE_UP:
            yield from ("--cap-add", capability)
    else:
        yield from ("--unshare-all", "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY))
        # Else the first process is bubblewrap's, as the same user as the program, which can then write into its memory.
        # Root's stays bubblewrap's, since the death of a root without rights can end no other user.
        yield from ("--disable-userns", "--cap-drop", "ALL", "--as-pid-1")
    yield from ("--hostname", "sandbox", "--new-session", "--die-with-parent", "--clearenv")


def _walls(work: Work, limits: Limits, data: Mapping[str, int]) -> Iterator[str]:
    """What is in sight."""
    for folder in ("/etc", *reversed([str(parent) for parent in interpreter_home().parents][:-1])):
        # Made here with open doors; bubblewrap would copy those of a home folder that is closed to others.
        yield from ("--perms", "0755", "--dir", folder)
    yield from _system()
    yield from ("--proc", "/proc", "--dev", "/dev", "--ro-bind", "/proc/sys", "/proc/sys")
    # It reads as zeros, too, but can't be mapped: shared mappings of /dev/zero are memory that nobody can count.
    yield from ("--dev-bind", "/dev/full", "/dev/zero")
    for folder in PRIVATE:
        size = limits.result_bytes + (1 << 20) if folder == OUT else limits.tmp_bytes
        yield from ("--perms", "1777", "--size", str(size), "--tmpfs", folder)
    for device in work.devices:
        for folder in reversed([str(parent) for parent in Path(device).parents][:-1]):
            if folder not in ("/dev", *PRIVATE):
                yield from ("--perms", "0755", "--dir", folder)
        yield from ("--dev-bind", device, device)
    yield from _interpreter()
    yield from ("--ro-bind", str(work.folder.resolve()), FOLDER)
    if work.environment is not None:
        yield from ("--ro-bind", str(work.environment.resolve()), ENVIRONMENT)
    for path, file in data.items():
        yield from ("--perms", "0444", "--ro-bind-data", str(file), path)
    for folder in ("/dev", "/proc", "/"):
        yield from ("--remount-ro", folder)
    yield from ("--chdir", "/")


def _system() -> Iterator[str]:
    """The system's programs and libraries, laid out as they are here."""
    yield from ("--ro-bind", "/usr", "/usr")
    for folder in map(Path, ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")):
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), str(folder))
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
    for path in ("/etc/ld.so.cache", "/etc/alternatives"):
        yield from ("--ro-bind-try", path, path)
    if interpreter_home() != Path("/usr/local"):
        yield from _hidden(Path("/usr/local"))


def _interpreter() -> Iterator[str]:
    """The server's Python without the packages installed into it."""
    home = interpreter_home()
    if home != Path("/usr") and home != Path("/usr/local"):
        yield from ("--ro-bind", str(home), str(home))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for library in (f"lib/{version}", f"lib64/{version}", "lib/python3"):
        for packages in ("site-packages", "dist-packages"):
            yield from _hidden(home / library / packages)
    if home != Path("/usr"):
        yield from _hidden(Path("/usr/lib/python3/dist-packages"))


def interpreter_home() -> Path:
    return Path(sys.base_prefix).resolve()


def _hidden(folder: Path) -> Iterator[str]:
    """An empty folder over one that is none of the program's business."""
    if folder.is_dir() and not folder.is_symlink():
        yield from ("--perms", "0755", "--size", "4096", "--tmpfs", str(folder), "--remount-ro", str(folder))


def _popen(command: Sequence[str], handed: Sequence[int], folder: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=tuple(handed),
        env={},
        cwd=folder,
        start_new_session=True,
    )


def _pipe(kept: ExitStack, handed: ExitStack) -> tuple[int, int]:
    """A pipe whose reading end we keep and whose writing end is handed on."""
    reading, writing = os.pipe()
    kept.callback(os.close, reading)
    handed.callback(os.close, writing)
    return reading, writing


def _memory_file(content: bytes, handed: ExitStack) -> int:
    """Content to hand over that never touches a disk, so that a kill leaves nothing behind."""
    file = os.memfd_create("billboards")
    handed.callback(os.close, file)
    with os.fdopen(os.dup(file), "wb") as writer:
        writer.write(content)
    os.lseek(file, 0, os.SEEK_SET)
    return file
