"""Programs that want out: other people's data, the network, the server, the kernel."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import is_running

from billboards.run.program_metrics import ProgramRun

pytestmark = pytest.mark.usefixtures("kind_of_user")

Attack = Callable[..., ProgramRun]

#: Attempts by system call, as Python lines; each must raise or return less than 0, and prints what it got away with.
CALLS = {
    "ptrace the parent": "call('ptrace', 16, os.getppid(), 0, 0)",
    "read the parent's memory": "memory_of(os.getppid(), 'rb').read(8)",
    "read the first process's memory": "memory_of(1, 'rb').read(8)",
    "write into the parent's memory": "memory_of(os.getppid(), 'r+b').write(bytes(8))",
    "write into the first process's memory": "memory_of(1, 'r+b').write(bytes(8))",
    "see where the parent is": "open(f'/proc/{os.getppid()}/syscall').read()",
    "the parent's files": "os.open(f'/proc/{os.getppid()}/fd/0', os.O_RDONLY)",
    "be spared when memory runs out": "open('/proc/self/oom_score_adj', 'w').write('0')",
    "spare the parent": "open(f'/proc/{os.getppid()}/oom_score_adj', 'w').write('0')",
    "mount": "call('mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None)",
    "remount the root writable": "call('mount', b'none', b'/', None, 32 | 4096, None)",
    "unmount": "call('umount2', b'/proc', 2)",
    "a new user namespace": "call('unshare', 0x10000000)",
    "a new mount namespace": "call('unshare', 0x00020000)",
    "a clone in a new namespace": "call('syscall', {'x86_64': 56}.get(os.uname().machine, 220), 0x10000011, 0, 0)",
    "join the first process's namespaces": "call('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
    "change the root": "call('chroot', b'/tmp')",
    "become root": "os.setuid(0)",
    "become another group": "os.setgroups([0])",
    "load keys": "call('syscall', {'x86_64': 250}.get(os.uname().machine, 219), 0, -3, 1)",
    "a BPF program": "call('syscall', {'x86_64': 321}.get(os.uname().machine, 280), 0, 0, 0)",
    "watch the processor": "call('syscall', {'x86_64': 298}.get(os.uname().machine, 241), 0, 0, -1, -1, 0)",
    "io_uring": "call('syscall', 425, 8, ctypes.create_string_buffer(256))",
    "user faults": "call('syscall', {'x86_64': 323}.get(os.uname().machine, 282), 0)",
    "set the clock": "time.clock_settime(time.CLOCK_REALTIME, 0)",
    "rename the host": "socket.sethostname('own')",
    "reboot": "call('reboot', 0x1234567)",
    "load a kernel module": "call('syscall', {'x86_64': 175}.get(os.uname().machine, 105), b'', 0, b'')",
    "make a device": "os.mknod('/tmp/disk', 0o60666, os.makedev(254, 0))",
    "physical memory": "os.open('/dev/mem', os.O_RDONLY)",
    "kernel messages": "os.open('/dev/kmsg', os.O_RDONLY)",
    "a kernel setting": "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
    "the system request key": "os.open('/proc/sysrq-trigger', os.O_WRONLY)",
    "raw packets": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "a socket to the hypervisor": "socket.socket(40, socket.SOCK_STREAM)",
    "TCP to the world": "socket.create_connection(('192.0.2.1', 80), 2)",
    "UDP to the world": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    "IPv6 to the world": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
    "a name server": "socket.getaddrinfo('example.org', 80)",
    "write into its own folder": "open('/metric/attack.py', 'w')",
    "make its own folder writable": "os.chmod('/metric', 0o777)",
    "replace the interpreter": "open(os.path.realpath(sys.executable), 'wb')",
    "hide a package in the interpreter": "open(os.path.dirname(os.__file__) + '/site-packages/x.pth', 'w')",
    "write into what it is given": "open(sys.argv[2], 'w')",
    "replace what it is given": "os.replace('/tmp', sys.argv[2])",
    "read the shadow file": "open('/etc/shadow')",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))",
    "raise its priority": "os.nice(-5)",
    "type into the terminal": "fcntl.ioctl(os.open('/dev/ptmx', os.O_RDWR), 0x5412, b'x')",
    "the server's packages": "__import__('numpy')",
}
CALLING = """
import ctypes, fcntl, os, resource, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    got = getattr(libc, name)(*arguments)
    if got < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got
def memory_of(pid, mode):
    # At an address that is in use: one that isn't fails for everybody. Where the map is closed, any program's will do.
    try: first = open(f'/proc/{pid}/maps').readline()
    except OSError: first = open('/proc/self/maps').readline()
    file = open(f'/proc/{pid}/mem', mode, buffering=0)
    file.seek(int(first.split('-')[0], 16))
    return file
for line in ATTEMPTS:
    try: print('GOT AWAY WITH', line, eval(line))
    except (OSError, ValueError, ImportError) as error: print('refused', line, error)
print('tried', len(ATTEMPTS))
raise SystemExit('nothing to be had')
"""


def test_no_system_call_leads_out(attack: Attack) -> None:
    done = attack(py=CALLING.replace("ATTEMPTS", repr(list(CALLS.values()))), output_bytes=1 << 16)
    refused = [line for line in done.outcome.stdout.splitlines() if line.startswith("refused")]
    assert "GOT AWAY WITH" not in done.outcome.stdout
    assert len(refused) == len(CALLS) == 50, done.outcome.stderr
    assert "nothing to be had" in str(done.problem)


def test_a_program_has_no_capability_and_can_gain_none(attack: Attack) -> None:
    done = attack(sh="grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; exit 1")
    status = dict(line.split(":\t") for line in done.outcome.stdout.splitlines())
    assert {status.pop(name) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert status == {"NoNewPrivs": "1", "Seccomp": "2"}


def test_a_setuid_shell_stays_nobodys(attack: Attack) -> None:
    done = attack(sh="cp /bin/sh $TMPDIR/sh; chmod 4755 $TMPDIR/sh; $TMPDIR/sh -p -c 'id -u'; id -u; exit 1")
    seen = done.outcome.stdout.split()
    assert len(set(seen)) == 1
    assert "0" not in seen


def test_judgments_databases_and_other_submissions_are_out_of_sight(attack: Attack, secrets: Path) -> None:
    done = attack(
        sh=f"cat {secrets}/*.sqlite {secrets}/boards/*/*/* {secrets}/metrics/*/* {secrets}/.ssh/*; ls {secrets}"
    )
    assert done.outcome.verdict == "exit code"
    assert "No such file or directory" in done.outcome.stderr


def test_a_search_of_all_files_finds_only_its_own(attack: Attack) -> None:
    """Everything outside the system's and the interpreter's read-only folders is listed."""
    done = attack(
        py="""
import os, sys
for where, folders, names in os.walk('/'):
    known = ('/usr', '/proc', '/dev', sys.base_prefix)
    folders[:] = [name for name in folders if os.path.join(where, name) not in known]
    for name in names: print(os.path.join(where, name))
raise SystemExit(1)
""",
        output_bytes=1 << 16,
    )
    found = {line for line in done.outcome.stdout.splitlines() if not line.startswith("/etc/alternatives/")}
    own = {"/metric/run.sh", "/metric/attack.py", "/billboards/plan.json", "/billboards/launcher.py"}
    given = {f"/given/{name}.jsonl" for name in ("source", "generator", "references")}
    assert found <= own | given | {"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/ld.so.cache"}
    assert own | given <= found


def test_no_variable_of_the_server_is_seen(attack: Attack) -> None:
    done = attack(sh="env; cat /proc/*/environ; exit 1")
    names = {line.partition("=")[0] for line in done.outcome.stdout.replace("\ufffd", "\n").splitlines()}
    assert "PATH" in names
    assert names <= {
        "PATH", "HOME", "TMPDIR", "LANG", "PWD", "OLDPWD", "_", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE",
        "PYTHONNOUSERSITE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
        "JAVA_TOOL_OPTIONS",
    }  # fmt: skip


def test_only_its_own_processes_are_in_proc(attack: Attack, kind_of_user: str) -> None:
    """Beside it: the launcher, which is first where the program is the server's user; else bubblewrap is."""
    done = attack(
        py="import os\nprint(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))\nraise SystemExit(1)"
    )
    assert done.outcome.stdout == ("[1, 2]\n" if kind_of_user == "in a user namespace" else "[1, 2, 3]\n")


def test_the_first_process_tells_nothing_of_the_server(attack: Attack) -> None:
    done = attack(
        sh="tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/environ; ls /proc/1/root/home /proc/1/cwd/home; exit 1"
    )
    assert "/site/" not in done.outcome.stdout
    assert done.outcome.stdout.startswith(("bwrap", "/"))


def test_the_servers_own_ports_and_sockets_are_out_of_reach(attack: Attack) -> None:
    hidden = f"\0billboards-test-{time.monotonic_ns()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(hidden)
        abstract.listen()
        port = tcp.getsockname()[1]
        done = attack(
            py=f"""
import socket
for family, address in ((socket.AF_INET, ('127.0.0.1', {port})), (socket.AF_UNIX, {hidden!r})):
    try: socket.socket(family).connect(address)
    except ConnectionRefusedError as error: print(error)
raise SystemExit(1)
"""
        )
        tcp.setblocking(False)
        abstract.setblocking(False)
        for listening in (tcp, abstract):
            with pytest.raises(BlockingIOError):
                listening.accept()
    assert done.outcome.stdout.count("Connection refused") == 2


def test_without_network_the_message_says_so(attack: Attack) -> None:
    done = attack(py="import urllib.request\nurllib.request.urlopen('http://192.0.2.1/')")
    assert "there is no network; ship what it needs with the metric" in str(done.problem)


@pytest.mark.parametrize(
    ("signals", "words", "words_in_a_user_namespace"),
    [
        ("kill -9 -1; sleep 30", "ended its own sandbox by a signal", "ran longer than 1 s"),
        ("kill -9 $PPID; sleep 30", "ended its own sandbox by a signal", "ran longer than 1 s"),
        ("kill -9 0", "was ended by the signal SIGKILL", "was ended by the signal SIGKILL"),
        ("kill -9 1; exit 3", "ended with exit code 3", "ended with exit code 3"),
        ("kill -STOP $PPID; kill -STOP 1; sleep 30", "ran longer than 1 s", "ran longer than 1 s"),
        ("for k in 1 2 3 6 10 12 14 15 17 20; do kill -$k 1; done; exit 3", "exit code 3", "exit code 3"),
        ("kill -STOP $$", "ran longer than 1 s", "ran longer than 1 s"),
    ],
)
def test_signals_reach_nobody_outside(
    signals: str, words: str, words_in_a_user_namespace: str, attack: Attack, kind_of_user: str
) -> None:
    """In a user namespace not even the launcher, which is the first process there."""
    done = attack(sh=signals, wall_seconds=1)
    assert (words_in_a_user_namespace if kind_of_user == "in a user namespace" else words) in str(done.problem)


@pytest.mark.parametrize(
    "daemon",
    [
        "(setsid sleep {mark} >/dev/null 2>&1 &) &",
        "nohup sleep {mark} > $TMPDIR/out 2>&1 &",
        "trap '' HUP TERM INT; sh -c 'trap \"\" TERM HUP; exec sleep {mark}' &",
    ],
)
def test_no_daemon_outlives_its_program(daemon: str, attack: Attack) -> None:
    mark = f"3600.{time.monotonic_ns()}"
    done = attack(sh=f'{daemon.format(mark=mark)}\nfor k in 1 2 3; do echo $k; done > "$4"\n')
    assert done.scores is not None
    assert done.scores.tolist() == [1, 2, 3]
    assert not wait_for_end(mark)


def test_a_preloaded_library_is_the_programs_own_matter(attack: Attack) -> None:
    done = attack(sh='export LD_PRELOAD=$TMPDIR/evil.so PYTHONSTARTUP=$TMPDIR/x; seq 3 > "$4"')
    assert done.scores is not None
    assert done.scores.tolist() == [1, 2, 3]


def test_a_program_is_handed_nothing_but_its_three_streams(attack: Attack) -> None:
    done = attack(py="import os\nprint(sorted(os.listdir('/proc/self/fd'), key=int)[:-1])\nraise SystemExit(1)")
    assert done.outcome.stdout == "['0', '1', '2']\n"


def test_a_report_forged_over_the_launchers_pipe_is_still_checked(attack: Attack) -> None:
    """Whoever gets at the launcher's pipe can only say what it could have written as scores."""
    done = attack(
        py=r"""
import os, json
said = json.dumps({"status": 0, "found": "file", "size": 8}) + "\nnan\n1\n2\n"
for fd in range(3, 20):
    try: os.write(os.open(f"/proc/{os.getppid()}/fd/{fd}", os.O_WRONLY), said.encode())
    except OSError: pass
raise SystemExit(1)
"""
    )
    assert done.scores is None


def wait_for_end(mark: str) -> bool:
    """Whether a process with this mark among its arguments is left after a while."""
    deadline = time.monotonic() + 10
    while is_running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_running(mark)
