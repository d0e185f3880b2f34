"""The folder that a site is published to: what is the same is not touched, what is not ours stays, lies are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from billboards.errors import InvalidInput, StoreFailed
from billboards.site.publishing.folders import LIST, Changes, publish_into


def writer(files: Mapping[str, str]) -> Callable[[Path], None]:
    """Writes these files, as a run of `billboards publish` would."""

    def write(work: Path) -> None:
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text, "utf-8")

    return write


def everything(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    }


def test_what_changed_is_written_what_is_gone_goes_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    target = tmp_path / "there" / "site"
    first = {"index.html": "home", "a/b/old.html": "old", "a/kept.html": "kept", "style.css": "red"}
    assert publish_into(target, writer(first)) == Changes(new=4, changed=0, same=0, gone=0)
    (target / "CNAME").write_text("boards.example.org", "utf-8")
    untouched = (target / "index.html").stat().st_mtime_ns
    second = {"index.html": "home", "a/kept.html": "kept", "style.css": "blue", "new.html": "new"}
    assert publish_into(target, writer(second)) == Changes(new=1, changed=1, same=2, gone=1)
    there = everything(target)
    assert set(json.loads(there.pop(LIST))["files"]) == set(second)
    assert there == {**second, "CNAME": "boards.example.org"}
    assert (target / "index.html").stat().st_mtime_ns == untouched
    assert not (target / "a" / "b").exists(), "an empty folder goes along"
    assert [path.name for path in target.parent.iterdir()] == ["site"], "nothing is left beside it"


def test_a_run_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "site"
    publish_into(target, writer({"index.html": "home"}))
    before = everything(target)

    def fail(work: Path) -> None:
        (work / "index.html").write_text("half", "utf-8")
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreFailed, match=r"site: can't be written: No space left on device; make room"):
        publish_into(target, fail)
    assert everything(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("name", ["../secret.txt", "/secret.txt", "a/../../secret.txt"])
def test_a_list_that_names_files_elsewhere_deletes_none_of_them(tmp_path: Path, name: str) -> None:
    secret, target = tmp_path / "secret.txt", tmp_path / "site"
    secret.write_text("mine", "utf-8")
    publish_into(target, writer({"index.html": "home"}))
    listed = str(secret) if name.startswith("/") else name
    document = {"kind": "billboards-published", "schema": 1, "files": {listed: ""}}
    (target / LIST).write_text(json.dumps(document), "utf-8")
    with pytest.raises(InvalidInput, match="is no list of published files; name another folder"):
        publish_into(target, writer({"index.html": "new"}))
    assert secret.read_text("utf-8") == "mine"
    assert (target / "index.html").read_text("utf-8") == "home"


def test_a_folder_of_somebody_elses_is_refused_and_hidden_files_are_none(tmp_path: Path) -> None:
    target = tmp_path / "site"
    (target / ".git").mkdir(parents=True)
    publish_into(target, writer({"index.html": "home"}))
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.tex").write_text("mine", "utf-8")
    with pytest.raises(InvalidInput, match=r"holds 'thesis\.tex' and was not written by `billboards publish`"):
        publish_into(strange, writer({"index.html": "home"}))
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(InvalidInput, match="link: is no folder"):
        publish_into(tmp_path / "link", writer({"index.html": "new"}))
    assert (target / "index.html").read_text("utf-8") == "home"
