"""Programs for graphics cards: who may send them, who runs them, and what they are given.

There is no card here: a plain file stands in for its device, which shows that the file named in `[workers.gpu]` is in
sight of a vetted program and of no other, and which workers take its jobs.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from small_sites import DECLARED, Harbour, MakeHarbour

from billboards.errors import InvalidInput, InvalidSettings, Refused
from billboards.run.confinement import Work, _walls
from billboards.run.limits import Limits
from billboards.site.boards.live import live_board
from billboards.site.settings import read_site_settings
from billboards.site.submissions import sending
from billboards.site.submissions.metric_folders import most_bytes_sent
from billboards.site.submissions.records import Submission
from billboards.site.web.streams import status_of
from billboards.site.work import leases
from billboards.site.work.worker import check_gpu, work_once, work_until_done
from billboards.site.work.worklist import everything

#: Scores by what stands in the device file, and prints when it is loaded; `together` tells that no fork was made.
PROGRAM = """
import os
def load():
    print("loading")
    return open(DEVICE).read().strip(), os.getpid()
def score(outputs, references, inputs, loaded):
    word, process = loaded
    together = 0.5 if os.getpid() == process else 0.0
    return [together + len(set(o.split()) & set(r[0].split())) + len(word) for o, r in zip(outputs, references)]
"""


@pytest.fixture
def device(tmp_path: Path) -> Path:
    made = tmp_path / "stand-in-for-nvidia0"
    made.write_text("card")
    made.chmod(0o644)
    return made


def settings(device: Path, more: str = 'accounts = ["ann"]') -> str:
    return f'[workers.gpu]\ndevices = ["{device}"]\n{more}\n'


def program(device: Path) -> bytes:
    return PROGRAM.replace("DEVICE", repr(str(device))).encode()


def send(harbour: Harbour, device: Path, who: str = "ann", name: str = "carded") -> Submission:
    manifest = {**DECLARED, "gpu": True}
    return sending.submit_metric(
        harbour.site, harbour.person(who), "ferry", program(device), name=name, manifest=manifest
    ).submission


def run_all(harbour: Harbour) -> None:
    while work_once(harbour.site, "carded-worker", None, everything):
        pass


def test_a_vetted_program_waits_for_a_worker_with_a_card_and_then_ends_in_a_ranked_column(
    make_harbour: MakeHarbour, device: Path
) -> None:
    harbour = make_harbour(settings=settings(device))
    one = send(harbour, device)
    work_until_done(harbour.site)
    waiting = harbour.now(one)
    assert waiting.state == "trial"
    assert status_of(harbour.site, waiting).words == "waiting for a worker with a graphics card; none is there now"
    with harbour.site.database.claiming() as connection:
        leases.note_alive(connection, "carded-worker", now=harbour.clock(), seconds=60, gpu=True)
    assert "waiting for a worker with a graphics" not in status_of(harbour.site, waiting).words
    run_all(harbour)
    now = harbour.now(one)
    assert now.state == "scored", now.reason
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    (column,) = [m for m in document["ranking"]["metrics"] if m["name"] == "carded"]
    assert column["rank"] is not None
    assert "device:gpu|company:one process" in column["signature"]
    (g0,) = [g for g in document["ranking"]["generators"] if g["name"] == "g0"]
    # Half a point more than whole words: all generators were scored in the process that was loaded.
    assert all(score % 1 == 0.5 for score in _scores(harbour, "carded"))
    assert g0["scores"]["carded"] > 4.5
    log = "".join(line.text for line in sending.read_log(harbour.site, harbour.owner, one.id))
    # Twice in the trial, once for each of the two sets of references that the board is scored against, and once for
    # outputs that are scored again.
    assert log.count("loading") == 5


def _scores(harbour: Harbour, name: str) -> list[float]:
    live = live_board(harbour.site, "ferry")
    key = next(key for key in live.cells.columns() if key.column.name == name)
    cells = live.cells.load(key, [row.version for row in live.board.rows])
    return [float(score) for scores in cells.values() for score in scores]


def test_a_program_that_asks_for_no_card_sees_none(make_harbour: MakeHarbour, device: Path) -> None:
    harbour = make_harbour(settings=settings(device))
    one = sending.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", program(device), name="plain", manifest=DECLARED
    ).submission
    work_until_done(harbour.site)
    now = harbour.now(one)
    assert now.state == "rejected"
    assert "FileNotFoundError" in str(now.reason)


def test_a_program_that_nobody_vetted_is_refused_with_its_digest(make_harbour: MakeHarbour, device: Path) -> None:
    harbour = make_harbour(settings=settings(device))
    digest = hashlib.sha256(program(device)).hexdigest()
    with pytest.raises(Refused, match=f"vetted by the site's owner first.*it is {digest}"):
        send(harbour, device, who="bob")
    vetted = make_harbour(settings=settings(device, f'programs = ["{digest}"]'), name="other")
    assert send(vetted, device, who="bob").state == "received"


def test_a_site_without_cards_says_so(harbour: Harbour, device: Path) -> None:
    with pytest.raises(Refused, match="has no graphics card for programs"):
        send(harbour, device)


def test_only_vetted_accounts_may_send_weights_beyond_the_usual_limit(make_harbour: MakeHarbour, device: Path) -> None:
    harbour = make_harbour(settings=f"metric_bytes = 1000\n{settings(device)}metric_bytes = 5000\n")
    assert (most_bytes_sent(harbour.site, "ann"), most_bytes_sent(harbour.site, "bob")) == (5000, 1000)
    weights = b"# def score\n" + b"#" * 2000
    with pytest.raises(InvalidInput, match="more than the 1,000 bytes that are taken"):
        sending.submit_metric(harbour.site, harbour.person("bob"), "ferry", weights, name="b", manifest=DECLARED)
    taken = sending.submit_metric(harbour.site, harbour.person("ann"), "ferry", weights, name="a", manifest=DECLARED)
    assert taken.submission.state == "received"


def test_device_files_are_bound_before_the_folder_of_devices_is_closed(tmp_path: Path) -> None:
    work = Work(tmp_path, lambda _: (), devices=("/dev/nvidia0", "/dev/nvidiactl"))
    words = list(_walls(work, Limits(), {}))
    bound = [words[k + 1 : k + 3] for k, word in enumerate(words) if word == "--dev-bind"]
    zeros = ["/dev/full", "/dev/zero"]
    assert bound == [zeros, ["/dev/nvidia0", "/dev/nvidia0"], ["/dev/nvidiactl", "/dev/nvidiactl"]]
    closed = next(k for k, word in enumerate(words) if words[k : k + 2] == ["--remount-ro", "/dev"])
    assert words.index("--dev") < words.index("--dev-bind") < closed
    words = list(_walls(Work(tmp_path, lambda _: ()), Limits(), {}))
    assert [words[k + 1 : k + 3] for k, word in enumerate(words) if word == "--dev-bind"] == [zeros]


def test_a_worker_declares_only_cards_that_are_named_and_there(
    make_harbour: MakeHarbour, harbour: Harbour, device: Path
) -> None:
    with pytest.raises(InvalidInput, match="names no devices under"):
        check_gpu(harbour.site)
    named = make_harbour(settings=settings(device), name="named")
    check_gpu(named.site)
    device.unlink()
    with pytest.raises(InvalidInput, match="stand-in-for-nvidia0: not on this machine"):
        check_gpu(named.site)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[workers.gpu]\ndevices = []\n", "devices"),
        ('[workers.gpu]\ndevices = ["/dev/nvidia0"]\ndevice = 1\n', "device is no setting; did you mean devices"),
    ],
)
def test_settings_of_cards_are_checked(tmp_path: Path, text: str, wrong: str) -> None:
    (tmp_path / "site.toml").write_text(text)
    with pytest.raises(InvalidSettings, match=wrong):
        read_site_settings(tmp_path)
