"""The Python client and `billboards submit`, against a site on loopback."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_sites import SmallSite, small_site
from serving import served

from billboards.cli.main import main
from billboards.client import Client
from billboards.errors import InvalidInput, SiteFailed
from billboards.site.boards.live import live_board


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    return small_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(small: SmallSite) -> Iterator[str]:
    with served(small) as found:
        yield found


@pytest.mark.long
def test_a_generator_is_sent_waited_for_and_read_back(small: SmallSite, address: str, tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_bytes(small.outputs())
    with Client(address, small.tokens["team"]) as site:
        sent = site.submit_generator("small", "by-client", path, description="a test")
        states: list[str] = []
        done = site.wait(sent["id"], timeout=60, poll=0.05, on_progress=lambda found: states.append(found["state"]))
        assert done["state"] == states[-1] == "scored"
        texts = [output["text"] for output in site.outputs("small", "by-client")]
        assert len(texts) == 12
        assert "by-client" in [item["generator"] for item in site.scores("small", "BLEU")]
        assert next(one["id"] for one in site.submissions(board="small")) == sent["id"]
        assert any("scored" in line["text"] for line in site.log(sent["id"]))
        assert site.act(sent["id"], "withdraw")["state"] == "withdrawn"


def test_pages_are_followed_to_their_end(address: str) -> None:
    with Client(address) as site:
        assert len(list(site.instances("small"))) == 12
        assert len(list(site.judgments("small"))) == 72


def test_plain_lists_are_followed_to_their_end_too(small: SmallSite, address: str) -> None:
    with Client(address) as site:
        every = [one["name"] for one in site.generators("small")]
        assert [one["name"] for one in site._lists("/boards/small/generators", limit=2)] == every
        assert [one["name"] for one in site.boards()] == ["small"]
        assert len(every) > 4


def test_every_mistake_comes_back_in_words(small: SmallSite, address: str, tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text('{"instance": "nowhere", "text": "odd"}\n')
    with Client(address, small.tokens["team"]) as site, pytest.raises(InvalidInput, match="nowhere"):
        site.submit_generator("small", "broken", path)


def test_a_refusal_says_what_the_site_said(address: str, tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text("x\n")
    with Client(address) as site, pytest.raises(SiteFailed, match="log in"):
        site.submit_generator("small", "mine", path)


@pytest.mark.long
def test_a_site_that_is_not_there_is_named(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:9", timeout=1) as site, pytest.raises(SiteFailed, match="can't be reached"):
        site.boards()


def test_the_command_submits_and_tells_how_it_ends(
    small: SmallSite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "from-command.jsonl"
    path.write_bytes(small.outputs(word="indeed"))
    monkeypatch.setenv("BILLBOARDS_TOKEN", small.tokens["team"])
    code = main(["submit", "generator", str(path), "--to", address, "--board", "small"])
    said = capsys.readouterr()
    assert code == 0
    assert "from-command is on the board" in said.out
    assert "received as" in said.err
    # Its outputs are the references with a word behind them, which the board's rules bar.
    assert "  It has no rank: kept out by the board's owner: 12 of 12 outputs are references, or nearly" in said.out
    assert "  Nobody else changed place." in said.out


def test_the_command_prints_the_rank(
    small: SmallSite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "honest.txt"
    path.write_text("".join(f"a boat of {k} people sails past the old pier\n" for k in range(12)))
    monkeypatch.setenv("BILLBOARDS_TOKEN", small.tokens["team"])
    assert main(["submit", "generator", str(path), "--to", address, "--board", "small"]) == 0
    document = live_board(small.site, "small").document
    assert document is not None
    ranking = document["ranking"]
    ranks = {g["name"]: g["rank"] for g in ranking["generators"] if g["rank"] is not None}
    assert f"  Rank {ranks['honest']} of {len(ranks)} by {ranking['ranked_by']} (" in capsys.readouterr().out


def test_the_command_leaves_at_once_where_it_is_told_to(
    small: SmallSite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "left.jsonl"
    path.write_bytes(small.outputs(word="later"))
    monkeypatch.setenv("BILLBOARDS_TOKEN", small.tokens["team"])
    assert main(["submit", "generator", str(path), "--to", address, "--board", "small", "--no-wait", "--json"]) == 0
    sent = json.loads(capsys.readouterr().out)
    assert (sent["state"], sent["outcome"]) == ("received", None)
    with Client(address, small.tokens["team"]) as site:
        assert site.wait(sent["id"], timeout=60, poll=0.05, ranked=True)["outcome"]["state"] == "unranked"


def test_the_command_tells_doubts_about_what_was_sent(
    small: SmallSite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "with-gaps.txt"
    with Client(address) as site:
        path.write_text("".join("\n" if k % 3 else f"output {k}\n" for k, _ in enumerate(site.instances("small"))))
    monkeypatch.setenv("BILLBOARDS_TOKEN", small.tokens["team"])
    assert main(["submit", "generator", str(path), "--to", address, "--board", "small"]) == 0
    said = capsys.readouterr().err
    assert said.count("doubt: ") == 1
    assert "is this what you meant to send?" in said


def test_the_command_ends_with_2_for_a_mistake(
    small: SmallSite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "short.txt"
    path.write_text("one line only\n")
    monkeypatch.setenv("BILLBOARDS_TOKEN", small.tokens["team"])
    assert main(["submit", "generator", str(path), "--to", address, "--board", "small"]) == 2
    assert "12" in capsys.readouterr().err


@pytest.mark.long
def test_the_command_sends_a_python_file_as_a_metric_once_it_says_what_it_was_trained_on(
    small: SmallSite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "words.py"
    path.write_text("def score(outputs, references, inputs):\n    return [float(len(o.split())) for o in outputs]\n")
    monkeypatch.setenv("BILLBOARDS_TOKEN", small.tokens["team"])
    command = ["submit", "metric", str(path), "--to", address, "--board", "small", "--needs", "nothing"]
    assert main(command) == 2
    assert "--training-data none" in capsys.readouterr().err
    assert main([*command, "--training-data", "none"]) == 0
    # It is ranked right after its last score.
    deadline = time.monotonic() + 60
    with Client(address) as site:
        while "words" not in [metric["name"] for metric in site.ranking("small")["ranking"]["metrics"]]:
            assert time.monotonic() < deadline, "never ranked"
            time.sleep(0.05)


def test_many_mistakes_come_one_to_a_line_and_the_rest_is_counted(
    small: SmallSite, address: str, tmp_path: Path
) -> None:
    outputs = tmp_path / "wrong.jsonl"
    outputs.write_text("".join(f'{{"instance": "nobody{k}", "text": "x"}}\n' for k in range(30)))
    with pytest.raises(InvalidInput) as refused, Client(address, small.tokens["team"]) as site:
        site.submit_generator("small", "wrong", outputs)
    lines = str(refused.value).splitlines()
    assert len(lines) == 11
    assert lines[-1].strip().endswith("more mistakes")


def test_a_metrics_folder_goes_by_the_name_that_it_states(
    small: SmallSite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "draft-3"
    folder.mkdir()
    stated = 'name = "Shared"\nhigher_is_better = true\nneeds = ["references"]\ntraining_data = "none"\n'
    (folder / "metric.toml").write_text(stated)
    (folder / "metric.py").write_text("def score(outputs, references, inputs):\n    return [1.0 for _ in outputs]\n")
    monkeypatch.setenv("BILLBOARDS_TOKEN", small.tokens["team"])
    sent = ["submit", "metric", str(folder), "--to", address, "--board", "small", "--no-wait", "--json"]
    assert main(sent) == 0
    assert '"name": "Shared"' in capsys.readouterr().out
