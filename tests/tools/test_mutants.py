"""Mutation testing: which changes are made, how they are chosen, and which of them a tiny package's tests notice."""

from __future__ import annotations

import ast
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"

#: Each line's changes all have the same end.
CODE = '''\
"""A tiny package."""

from functools import cache

LIMIT = 3


def is_small(number: int) -> bool:
    return number < LIMIT


def motto() -> str:
    return "hello"


def forgotten() -> int:
    return 7


def spent(number: int) -> bool:
    while number:
        number -= 1
    return not number


def far() -> str:
    return "from afar"


def build() -> list[str]:
    return ["a", "b"]


@cache
def table() -> str:
    return "kept"


def broken() -> str:
    return "unchecked"
'''
TESTS = """\
import subprocess
import sys

import pytest
import tiny


def test_the_limit():
    assert [tiny.is_small(number) for number in (2, 3, 4)] == [True, False, False]


def test_a_motto():
    assert tiny.motto.__name__ == "motto" and tiny.motto is not tiny.motto()


def test_counting_ends():
    assert tiny.spent(2) is True


def test_a_process():
    done = subprocess.run([sys.executable, "-c", "import tiny; print(tiny.far())"], capture_output=True, text=True)
    assert done.stdout == "from afar\\n"


@pytest.fixture(scope="module")
def built():
    return tiny.build()


def test_a_fixture_is_made_for_the_first(built):
    pass


def test_a_fixture_is_looked_at_by_the_second(built):
    assert built == ["a", "b"]


def test_a_kept_value_is_made_for_the_first():
    tiny.table()


def test_a_kept_value_is_looked_at_by_the_second():
    assert tiny.table() == "kept"


def test_that_always_fails():
    assert tiny.broken() == ""
"""


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))


@pytest.fixture
def mutants(tools: None) -> ModuleType:
    return import_module("mutants")


@pytest.fixture
def operators(tools: None) -> ModuleType:
    return import_module("mutation.operators")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A checkout of a package of one file, and its tests."""
    # Loading these takes most of pytest's start.
    settings = "[pytest]\naddopts = -p no:schemathesis -p no:hypothesispytest\n"
    for name, text in (("src/tiny/__init__.py", CODE), ("tests/test_tiny.py", TESTS), ("pytest.ini", settings)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def call_tool(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOLS / "mutants.py"), "--root", str(root), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run_tool(root: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    done = call_tool(root, "--json", str(root / "out.json"), *options)
    assert done.returncode in (0, 1), done.stderr
    return done, json.loads((root / "out.json").read_text())


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("x = a == b", ["x = a != b"]),
        ("x = (a) < (b)", ["x = (a) <= (b)", "x = (a) >= (b)"]),
        ("x = a >= b > c", ["x = a > b > c", "x = a < b > c", "x = a >= b >= c", "x = a >= b <= c"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = a not  in b", ["x = a in b"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = a and b or c", ["x = a or b or c", "x = a and b and c"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = a"]),
        ("x = a + b", ["x = a - b"]),
        ("x = a * b / c", ["x = a / b / c", "x = a * b * c"]),
        ("x = a ** b", ["x = a * b"]),
        ("x += y", ["x -= y"]),
        ("x = 0", ["x = 1"]),
        ("x = 1", ["x = 0"]),
        ("x = 41", ["x = 42"]),
        ("x = 1.0", ["x = 0.0"]),
        ("x = 0.5", ["x = 1.5"]),
        ("x = True", ["x = False"]),
        ("x = 'ä' == b", ["x = 'XX' == b", "x = 'ä' != b"]),
        ('x = "XX"', ['x = ""']),
        ('x = b"raw"', ['x = b"XX"']),
        ("x = f\"a{b['c']}\"", ['x = "XX"', "x = f\"a{b['XX']}\""]),
        ("x = a[b:c]", ["x = a[:c]", "x = a[b:]"]),
        ("f(a)", ["pass"]),
        ("self.x = a", ["pass"]),
        ("x = a if b else c", ["x = a if not (b) else c"]),
        ("def f(a=b): g = a", ["def f(a=None): g = a"]),
        ("def f(*, a=None): g = a", ["def f(*, a=0): g = a"]),
        ("def f(): return a", ["def f(): return None"]),
        ("async def f(): await g()", ["async def f(): pass"]),
    ],
)
def test_a_line_is_changed_in_each_way_there_is(line: str, changed: list[str], operators: ModuleType) -> None:
    source = f"a = b\n{line}\nc = d\n".encode()
    made = [mutant.apply(source).decode() for mutant in operators.mutants_of("m.py", source)]
    assert sorted(made) == sorted(f"a = b\n{text}\nc = d\n" for text in changed)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        'def f():\n    """A docstring."""',
        'x: Literal["a"]',
        'def f(a: "A" = b) -> "B": ...',
        'X: TypeAlias = "A"',
        'if TYPE_CHECKING:\n    x = "a" == b',
        'if typing.TYPE_CHECKING:\n    x = "a" == b',
        '__all__ = ["a"]',
        '__all__ += ["a"]',
        'log.info("a %s", 1)',
        'logging.getLogger("a").warning("b")',
        '@f("a", b=1)\ndef g(): pass',
        "@f(1)\nclass A: pass",
        'T = TypeVar("T")',
        'x = cast("A", y)',
        'Kind = Literal["a", "b"]',
    ],
)
def test_what_changes_nothing_is_left_alone(source: str, operators: ModuleType) -> None:
    assert operators.mutants_of("m.py", source.encode()) == []


def test_the_guard_of_a_zip_is_left_alone(operators: ModuleType) -> None:
    texts = {mutant.text for mutant in operators.mutants_of("m.py", b"x = zip(a, b, strict=True)")}
    assert texts.isdisjoint({"False", "strict=False"})


def test_a_removed_statement_of_many_lines_is_shown_on_one(operators: ModuleType) -> None:
    source = b"if a == b:\r\n    f(\r\n        c,\r\n    )\r\n"
    (removed,) = [mutant for mutant in operators.mutants_of("m.py", source) if mutant.operator == "call removed"]
    assert removed.apply(source) == b"if a == b:\r\n    pass\r\n"
    assert (removed.line, removed.lines(source)) == (2, ("f( c, )", "pass"))


def test_a_seed_chooses_the_same_lines_each_time(mutants: ModuleType) -> None:
    files = {"p/a.py": b"".join(b"x%d = a == %d\n" % (k, k) for k in range(50))}
    first, again, other = (mutants.choose(files, count=10, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({mutant.line for mutant in first}) == 10


def test_every_line_has_the_same_chance(mutants: ModuleType) -> None:
    files = {"p/a.py": b"x = 5\ny = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"}
    lines = Counter(mutants.choose(files, count=1, seed=seed)[0].line for seed in range(400))
    assert 150 < lines[1] < 250


def test_changes_are_chosen_within_a_folder_or_a_file(mutants: ModuleType) -> None:
    files = {"p/a/b.py": b"x = 1\n", "p/ab.py": b"x = 2\n", "p/a/c/d.py": b"x = 3\n"}
    for within, chosen in (("a", ["p/a/b.py", "p/a/c/d.py"]), ("a/c", ["p/a/c/d.py"]), ("ab.py", ["p/ab.py"])):
        assert [mutant.path for mutant in mutants.choose(files, count=9, seed=1, within=within)] == chosen


def test_what_is_no_python_is_not_chosen(mutants: ModuleType) -> None:
    files = {"p/a.py": b"a[b:c] = 1\nfrom x import y\nprint(*z, sep='')\n"}
    for seed in range(20):
        for mutant in mutants.choose(files, count=3, seed=seed):
            ast.parse(mutant.apply(files["p/a.py"]))


def test_a_constant_matters_to_the_lines_that_mention_what_is_made_from_it(tools: None) -> None:
    names = import_module("mutation.names")
    source = b"A = 1\nB = [A]\nclass C(D):\n  e = B\n  def f(self, a: A):\n    return 0\ndef g():\n  return C\n"
    index = names.index_names({"p/a.py": source})
    assert index.dependent_lines(["A"]) == {"p/a.py": {6, 8}}
    assert index.dependent_lines(["g"]) == {}


def test_quick_files_come_first_and_runs_grow(tools: None) -> None:
    trials = import_module("mutation.trials")
    seconds = {"slow.py::a": 100.0, "b.py::b": 4.0, "b.py::a": 3.0, "a.py::a": 6.0, "c.py::a": 50.0, "d.py::a": 40.0}
    assert list(trials.batches(seconds)) == [
        ["a.py::a"],
        ["b.py::a", "b.py::b", "d.py::a", "c.py::a"],
        ["slow.py::a"],
    ]


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not show other processes")
def test_a_run_past_its_limit_ends_with_all_that_it_started(tmp_path: Path, tools: None) -> None:
    runs = import_module("mutation.runs")
    (tmp_path / "src").mkdir()
    (tmp_path / "test_hang.py").write_text(
        "import subprocess, time\n"
        "def test_quick(): pass\n"
        "def test_hang(tmp_path):\n"
        "    child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', str(tmp_path)], capture_output=True)\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "    time.sleep(600)\n"
    )
    began = time.monotonic()
    ended = runs.run_pytest(
        root=tmp_path, source=tmp_path / "src", folder=tmp_path / "run", arguments=["test_hang.py"], limit=5
    )
    assert time.monotonic() - began < 300
    assert ended.code == runs.TIMED_OUT
    assert [record["test"] for record in ended.records] == ["test_hang.py::test_quick"]
    assert not is_running(int((tmp_path / "pid").read_text()))
    assert str(tmp_path / "run") not in Path("/proc/self/mounts").read_text()


def is_running(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return False
        time.sleep(0.1)
    return True


@pytest.mark.long
def test_a_tiny_package_is_judged_line_by_line(tiny: Path) -> None:
    done, document = run_tool(tiny, "--count", "50", "--workers", "2", "--more-seconds", "10")
    lines = CODE.splitlines()
    outcomes = {lines[mutant["line"] - 1].strip(): mutant["outcome"] for mutant in document["mutants"]}
    assert outcomes == {
        "LIMIT = 3": "killed",
        "return number < LIMIT": "killed",
        'return "hello"': "survived",
        "return 7": "not reached",
        "while number:": "killed",
        "number -= 1": "timeout",
        "return not number": "killed",
        'return "from afar"': "killed",
        'return ["a", "b"]': "killed",
        'return "kept"': "killed",
        'return "unchecked"': "not reached",
    }
    assert (document["killed"], document["survived"], document["share"]) == (8, 3, 8 / 11)
    assert done.returncode == 1
    assert (
        "1 tests fail without any change and are left out:\n  tests/test_tiny.py::test_that_always_fails" in done.stderr
    )
    assert "src/tiny/__init__.py:13  " in done.stdout
    assert 'return "hello"  ->  return ' in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["all", "11", "8", "3", "2", "0.727"]
    assert (tiny / "src/tiny/__init__.py").read_text() == CODE


@pytest.mark.long
def test_a_new_test_is_measured_alone_and_the_goal_decides(tiny: Path) -> None:
    (tiny / "src/tiny/__init__.py").write_text('def motto() -> str:\n    return "hello"\n')
    (tiny / "tests/test_tiny.py").write_text("import tiny\ndef test_a_motto():\n    tiny.motto()\n")
    for options, code in (((), 1), (("--goal", "0"), 0)):
        done, document = run_tool(tiny, "--workers", "0", *options)
        assert (document["survived"], done.returncode) == (1, code)
        assert ("measuring which lines 1 test files reach" in done.stderr) is (options == ())
    (tiny / "tests/test_more.py").write_text("import tiny\ndef test_words():\n    assert tiny.motto() == 'hello'\n")
    done, document = run_tool(tiny, "--workers", "0")
    assert "measuring which lines 1 test files reach" in done.stderr
    assert (document["survived"], document["mutants"][0]["killed_by"]) == (0, "tests/test_more.py::test_words")


@pytest.mark.long
def test_a_request_to_end_leaves_nothing_behind(tiny: Path) -> None:
    (tiny / "tests/test_tiny.py").write_text(
        "import pathlib, time\nimport tiny\ndef test_waits():\n"
        "    tiny.motto()\n    pathlib.Path('waits').touch()\n    time.sleep(600)\n"
    )
    command = [sys.executable, str(TOOLS / "mutants.py"), "--root", str(tiny), "--workers", "0"]
    (tiny / "scratch").mkdir()
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tiny / "scratch")}) as tool:
        while not (tiny / "waits").exists():
            assert tool.poll() is None
            time.sleep(0.1)
        tool.terminate()
        assert tool.wait(60) == 128 + signal.SIGTERM
    assert list((tiny / "scratch").iterdir()) == []


def test_nothing_to_change_is_said(tiny: Path) -> None:
    done = call_tool(tiny, "--within", "nowhere")
    assert (done.returncode, done.stderr) == (1, "nothing to change in nowhere; name a folder of the package\n")


#: Two modules, of which one is used through the other, and a test file for each.
NEAR_FILES = {
    "src/tiny/__init__.py": "",
    "src/tiny/greeting.py": 'def greet(name: str) -> str:\n    return f"hello, {name}"\n',
    "src/tiny/counting.py": "def halve(number: int) -> int:\n    return number // 2\n",
    "src/tiny/_spelling.py": 'def spell() -> str:\n    return "abc"\n',
    "src/tiny/letters.py": "from tiny._spelling import spell\ndef alphabet() -> list[str]:\n    return list(spell())\n",
    "tests/test_words.py": "from tiny.greeting import greet\ndef test_a_name(): assert greet('Ann') == 'hello, Ann'\n",
    "tests/test_numbers.py": "from tiny import counting\ndef test_four(): assert counting.halve(4) == 2\n",
    "tests/test_letters.py": "from tiny.letters import alphabet\ndef test_c(): assert alphabet()[-1] == 'c'\n",
}


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("module", "nearest"),
    [
        ("greeting", "tests/test_words.py"),
        ("counting", "tests/test_numbers.py"),
        ("_spelling", "tests/test_letters.py"),
    ],
)
def test_the_nearest_tests_are_those_that_name_the_module_or_who_calls_it(
    module: str, nearest: str, tools: None
) -> None:
    near, names, operators = (import_module(f"mutation.{name}") for name in ("near", "names", "operators"))
    files = {name.removeprefix("src/"): text.encode() for name, text in NEAR_FILES.items() if name.startswith("src/")}
    texts = {name: text for name, text in NEAR_FILES.items() if name.startswith("tests/")}
    path = f"tiny/{module}.py"
    mutant = operators.mutants_of(path, files[path])[0]
    assert near.NearTests(texts, files, names.index_names(files)).order(mutant)[0] == nearest


@pytest.mark.study
def test_without_a_map_mutants_meet_the_nearest_tests_and_survivors_are_tried_again(tiny: Path) -> None:
    (tiny / "tests/test_tiny.py").unlink()
    write_files(
        tiny, {**NEAR_FILES, "tests/test_letters.py": "def test_that_always_fails(): assert 'spell' == 'letters'"}
    )
    done, document = run_tool(tiny, "--near", "60", "--jobs", "1", "--goal", "0.5")
    outcomes = {(mutant["file"].rpartition("/")[2], mutant["outcome"]) for mutant in document["mutants"]}
    assert outcomes == {
        ("greeting.py", "killed"),
        ("counting.py", "killed"),
        ("_spelling.py", "survived"),
        ("letters.py", "survived"),
    }
    assert (done.returncode, document["near"], document["share"]) == (0, 60.0, 0.5)
    assert "left out:\n  tests/test_letters.py::test_that_always_fails" in done.stderr
    assert not (tiny / ".coverage-contexts").exists()
    write_files(tiny, NEAR_FILES)
    (tiny / "first.json").write_text(json.dumps(document))
    _, again = run_tool(tiny, "--near", "60", "--again", str(tiny / "first.json"))
    assert [(mutant["file"], mutant["killed_by"]) for mutant in again["mutants"]] == [
        ("src/tiny/_spelling.py", "tests/test_letters.py::test_c"),
        ("src/tiny/letters.py", "tests/test_letters.py::test_c"),
    ]
    (tiny / "src/tiny/_spelling.py").write_text('def spell() -> str:\n    return "abcd"\n')
    done = call_tool(tiny, "--near", "60", "--again", str(tiny / "first.json"))
    assert (done.returncode, done.stderr) == (
        1,
        "not in this source: src/tiny/_spelling.py:2; --again needs the source that the file was made of\n",
    )


@pytest.mark.study
def test_what_the_nearest_tests_leave_meets_all_that_reach_it(tiny: Path) -> None:
    """The last file shares no word with what it reaches, so it is near to nothing."""
    (tiny / "tests/test_tiny.py").unlink()
    unnamed = 'import importlib\ndef test_it(): assert vars(importlib.import_module("ti" + "ny"))["le" + "ft"]() == 3\n'
    write_files(
        tiny,
        {
            "src/tiny/__init__.py": "left = lambda: 3\n",
            "src/tiny/greeting.py": NEAR_FILES["src/tiny/greeting.py"],
            "src/tiny/unused.py": "def forgotten() -> int:\n    return 7\n",
            "tests/test_words.py": NEAR_FILES["tests/test_words.py"],
            "tests/test_unnamed.py": unnamed,
        },
    )
    done, document = run_tool(tiny, "--first", "60", "--workers", "0")
    outcomes = {mutant["before"]: (mutant["outcome"], mutant["killed_by"]) for mutant in document["mutants"]}
    assert outcomes == {
        "left = lambda: 3": ("killed", "tests/test_unnamed.py::test_it"),
        'return f"hello, {name}"': ("killed", "tests/test_words.py::test_a_name"),
        "return 7": ("not reached", None),
    }
    assert "2 are left and meet all tests that reach their lines" in done.stderr
    with closing(sqlite3.connect(tiny / ".coverage-contexts")) as database:
        assert {file for (file,) in database.execute("select file from reached")} == {"tiny/__init__.py"}
    done = call_tool(tiny, "--first", "1", "--near", "1")
    assert (done.returncode, done.stderr.count("give one of them")) == (1, 1)


@pytest.mark.study
def test_near_tests_that_hang_on_a_mutant_kill_it(tiny: Path) -> None:
    write_files(tiny, {"src/tiny/__init__.py": "def spent(number):\n    while number:\n        number -= 1\n"})
    (tiny / "tests/test_tiny.py").write_text("import tiny\ndef test_counting_ends(): tiny.spent(2)\n")
    _, document = run_tool(tiny, "--near", "8", "--more-seconds", "2")
    outcomes = {mutant["before"]: mutant["outcome"] for mutant in document["mutants"]}
    assert outcomes == {"while number:": "survived", "number -= 1": "timeout"}
