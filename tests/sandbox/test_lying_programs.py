"""Programs whose results are not what was asked for: each is refused by name, and nothing is filled in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from billboards.metrics.base import Batch
from billboards.run.program import ProgramMetric
from billboards.run.program_metrics import ProgramRun
from billboards.run.trial import try_program

Attack = Callable[..., ProgramRun]

#: What the program does about its scores file ($4), for three outputs, and words of the message.
LIES = {
    "nan": (r'printf "0.5\nnan\n1\n" > $4', "scores line 2: nan is not finite"),
    "infinity": (r'printf "0.5\n1\n-inf\n" > $4', "scores line 3: -inf is not finite"),
    "a number too large": (r'printf "1e999\n1\n2\n" > $4', "scores line 1: 1e999 is too large to be finite"),
    "too few": (r'printf "1\n2\n" > $4', "wrote 2 scores for 3 outputs; write one line for each"),
    "too many": (r'printf "1\n2\n3\n4\n" > $4', "wrote 4 scores for 3 outputs"),
    "an empty file": (": > $4", "wrote an empty scores file; 3 lines with one score each are needed"),
    "no file": (
        "true",
        "ended without writing scores.txt; write one score per line to the path in the fourth argument",
    ),
    "a file taken back": ("seq 3 > $4; rm $4", "ended without writing scores.txt"),
    "words": (r'printf "good\nbad\n1\n" > $4', "scores line 1: 'good' is no number"),
    "two numbers on a line": (r'printf "1 2\n3\n4\n" > $4', "scores line 1: '1 2' is no number"),
    "an empty line": (r'printf "1\n\n2\n3\n" > $4', "scores line 2: an empty line is no number"),
    "a decimal comma": (r'printf "0,5\n1\n2\n" > $4', "scores line 1: '0,5' is no number"),
    "Python's own numbers": (r'printf "1_000\n1\n2\n" > $4', "scores line 1: '1_000' is no number"),
    "hexadecimal": (r'printf "0x10\n1\n2\n" > $4', "scores line 1: '0x10' is no number"),
    "digits of another script": (r'printf "١\n1\n2\n" > $4', "is no number"),
    "JSON": ('echo "[1, 2, 3]" > $4', "scores line 1: '[1, 2, 3]' is no number"),
    "a huge line": ("head -c 60k /dev/zero | tr '\\0' 1 > $4", "characters long; write one number per line"),
    "not UTF-8": (r'printf "1\n\377\376\n2\n" > $4', "scores line 2: not UTF-8 text"),
    "null bytes": (r'printf "1\000\n2\n3\n" > $4', "is no number"),
    "a failure in spite of good scores": ("seq 3 > $4; exit 1", "ended with exit code 1; 0 is needed"),
    "a syntax error": ("if", "its last words: run.sh: "),
    "a link to what it was given": ("ln -s $2 $4", "left scores.txt as a link; write a plain file"),
    "a link to the host": ("ln -s /etc/passwd $4", "left scores.txt as a link"),
    "a link to endless zeros": ("ln -s /dev/zero $4", "left scores.txt as a link"),
    "a folder": ("mkdir $4", "left scores.txt as a folder; write a plain file"),
    "a named pipe": ("mkfifo $4", "left scores.txt as a named pipe; write a plain file"),
    "a socket": (
        "python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' $4",
        "left scores.txt as a socket",
    ),
    "a locked file": ("seq 3 > $4; chmod 0 $4", "left scores.txt as a file that can't be read; write a plain file"),
    "an unreachable file": ("mkdir $4 && seq 3 > $4/x && chmod 0 $4", "left scores.txt as a folder"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_wrong_result_is_refused_by_name(name: str, attack: Attack) -> None:
    script, words = LIES[name]
    done = attack(sh=script)
    assert words in str(done.problem)
    assert done.scores is None


def test_a_program_that_goes_on_writing_after_its_end_changes_nothing(attack: Attack) -> None:
    done = attack(sh="seq 3 > $4; (while true; do echo 9 >> $4; sleep 0.01; done) &\nexit 0")
    assert done.scores is None or len(done.scores) == 3


def test_random_scores_do_not_pass_the_trial(program: Callable[..., ProgramMetric]) -> None:
    metric = program(
        py="import random, sys\nopen(sys.argv[4], 'w').writelines(f'{random.random()}\\n' for _ in open(sys.argv[2]))"
    )
    trial = try_program(metric, Batch(["one", "two", "three"], [["a"]] * 3, ["x"] * 3))
    assert not trial.repeatable
    assert str(trial.problem).startswith("own: scored '")
    assert "fix its seeds, or declare `deterministic = false`" in str(trial.problem)


def test_scores_of_the_time_do_not_pass_the_trial(program: Callable[..., ProgramMetric]) -> None:
    metric = program(sh='while read -r line; do date +%s.%N; done < "$2" > "$4"')
    assert "run again" in str(try_program(metric, Batch(["one", "two", "three"], [["a"]] * 3, ["x"] * 3)).problem)
