"""Boards from mirrors: folders of clones and archives, the shared data laid out as one, a server of the same files."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from catalogue_entries import TABLE, WriteEntry, sha256, toml
from file_server import FileServer, cut, status

import billboards as bb
from billboards.catalogue import read_catalogue
from billboards.cli.main import main
from billboards.errors import DownloadFailed, ImportRefused

COMMIT = "0123456789" * 4
FILES = {"data/ratings.csv": TABLE, "data/more.txt": b"more\n"}


def repository(entry_file: WriteEntry, **changed: str) -> Path:
    """An entry whose files lie in the repository some/body."""
    listed = "".join(f"{len(data)}\t{sha256(data)}\t{path}\n" for path, data in FILES.items())
    lines = {
        "repository": '"some/body"',
        "commit": f'"{COMMIT}"',
        "licence": '"CC0-1.0"',
        "files": '["data/*"]',
        "digests": '"list.tsv"',
        **changed,
    }
    source = "[[sources]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())
    return entry_file(toml("two", source, source='"body/data/ratings.csv"'), more={"list.tsv": listed})


def clone(folder: Path, files: dict[str, bytes] | None = None) -> Path:
    for path, data in (FILES if files is None else files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def get(entry: Path, mirror: Path | str, *, unverified: bool = False) -> bb.Board:
    return bb.get("two", catalogue=entry, mirror=mirror, unverified=unverified)


@pytest.mark.parametrize(
    "place", ["body", "some/body", "some-body", "body-main", f"body-{COMMIT}", f"some-body-{COMMIT[:7]}"]
)
def test_a_clone_may_have_any_of_the_usual_names(place: str, entry_file: WriteEntry, tmp_path: Path) -> None:
    clone(tmp_path / "mirror" / place)
    assert [row.name for row in get(repository(entry_file), tmp_path / "mirror").rows] == ["A", "B"]


def test_the_mirror_may_be_the_clone_itself(entry_file: WriteEntry, tmp_path: Path) -> None:
    assert len(get(repository(entry_file), clone(tmp_path / "anything")).judgments) == 6


@pytest.mark.parametrize(
    "name", ["body.tar.gz", "some/body.tgz", f"body-{COMMIT}.zip", f"{COMMIT}.tar.gz", "body-main.zip"]
)
def test_an_archive_does_as_well(name: str, entry_file: WriteEntry, tmp_path: Path) -> None:
    folder, archive = clone(tmp_path / "body-x"), tmp_path / "mirror" / name
    archive.parent.mkdir(parents=True)
    if name.endswith(".zip"):
        with zipfile.ZipFile(archive, "w") as opened:
            for path in FILES:
                opened.write(folder / path, f"body-x/{path}")
    else:
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(folder, "body-x")
    assert len(get(repository(entry_file), tmp_path / "mirror").judgments) == 6
    assert len(get(repository(entry_file), archive).judgments) == 6


def test_gzipped_files_are_unpacked(entry_file: WriteEntry, tmp_path: Path) -> None:
    folder = clone(tmp_path / "mirror" / "body")
    subprocess.run(["gzip", folder / "data/ratings.csv"], check=True)
    assert len(get(repository(entry_file), tmp_path / "mirror").judgments) == 6


def test_a_file_is_known_by_its_digest_wherever_it_lies(entry_file: WriteEntry, tmp_path: Path) -> None:
    clone(tmp_path / "mirror" / "body", {"data/ratings.csv": TABLE.replace(b"one", b"uno")})
    clone(tmp_path / "mirror" / "old" / "things", {"x.bin": TABLE, "y": b"more\n", "z": TABLE[::-1]})
    board = get(repository(entry_file), tmp_path / "mirror")
    assert board.rows[0].texts[0] == "one"


def test_of_two_clones_the_right_one_is_taken(entry_file: WriteEntry, tmp_path: Path) -> None:
    clone(tmp_path / "mirror" / "body", {**FILES, "data/ratings.csv": TABLE.replace(b"one", b"uno")})
    clone(tmp_path / "mirror" / f"body-{COMMIT}")
    assert get(repository(entry_file), tmp_path / "mirror").rows[0].texts[0] == "one"


def test_an_archive_with_a_longer_file_is_taken_if_that_is_asked_for(entry_file: WriteEntry, tmp_path: Path) -> None:
    folder = clone(tmp_path / "packing", {**FILES, "data/ratings.csv": TABLE + b"4,A,four,4\n4,B,vier,4\n"})
    with tarfile.open(tmp_path / "body.tar.gz", "w:gz") as tar:
        tar.add(folder, "body-main")
    shutil.rmtree(folder)
    with pytest.raises(DownloadFailed, match=r"ratings\.csv: is not the file that the catalogue names"):
        get(repository(entry_file), tmp_path)
    assert len(get(repository(entry_file), tmp_path, unverified=True).judgments) == 8


def test_a_file_that_differs_is_refused_unless_that_is_asked_for(
    entry_file: WriteEntry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = TABLE.replace(b"one", b"uno")
    clone(tmp_path / "body", {**FILES, "data/ratings.csv": other})
    with pytest.raises(
        DownloadFailed, match=f"ratings.csv: is not the file that the catalogue names: .*{sha256(other)}"
    ):
        get(repository(entry_file), tmp_path)
    assert get(repository(entry_file), tmp_path, unverified=True).rows[0].texts[0] == "uno"
    said = capsys.readouterr().err
    assert f"unverified: some/body: data/ratings.csv is not the catalogue's file; it has sha256 {sha256(other)}" in said


def test_windows_line_ends_are_recognised(entry_file: WriteEntry, tmp_path: Path) -> None:
    clone(tmp_path / "body", {**FILES, "data/ratings.csv": TABLE.replace(b"\n", b"\r\n")})
    with pytest.raises(
        DownloadFailed, match=r"only its line ends differ: clone with `git -c core\.autocrlf=false clone`"
    ):
        get(repository(entry_file), tmp_path)


def test_a_pointer_of_git_lfs_is_recognised(entry_file: WriteEntry, tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    clone(tmp_path / "body", {**FILES, "data/ratings.csv": pointer})
    with pytest.raises(DownloadFailed, match="run `git lfs pull` there"):
        get(repository(entry_file), tmp_path)


def test_a_file_that_lacks_is_named(entry_file: WriteEntry, tmp_path: Path) -> None:
    clone(tmp_path / "body", {"data/ratings.csv": TABLE})
    with pytest.raises(DownloadFailed, match=r"some/body: lacks data/more\.txt; --unverified goes on without"):
        get(repository(entry_file), tmp_path)
    assert len(get(repository(entry_file), tmp_path, unverified=True).judgments) == 6


def test_an_empty_mirror_says_what_to_put_there(entry_file: WriteEntry, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        DownloadFailed,
        match=r"holds nothing of some/body, such as data/ratings\.csv; put a clone body/ or an archive body\.tar\.gz",
    ):
        get(repository(entry_file), tmp_path / "empty")
    (tmp_path / "empty" / "body").mkdir()
    with pytest.raises(DownloadFailed, match=r"body: holds none of the files that are needed, such as data/ratings"):
        get(repository(entry_file), tmp_path / "empty")


def test_what_the_importer_refuses_is_told_with_the_entrys_paths(entry_file: WriteEntry, tmp_path: Path) -> None:
    clone(tmp_path / "body", {**FILES, "data/ratings.csv": b"item,system\n"})
    with pytest.raises(ImportRefused, match=r"^two: no column of body/data/ratings\.csv named 'output'"):
        get(repository(entry_file), tmp_path, unverified=True)


def test_a_mirror_is_not_written_to_and_fills_no_cache(entry_file: WriteEntry, tmp_path: Path, cache: Path) -> None:
    clone(tmp_path / "mirror" / "body")
    before = sorted(tmp_path.joinpath("mirror").rglob("*"))
    get(repository(entry_file), tmp_path / "mirror")
    assert sorted(tmp_path.joinpath("mirror").rglob("*")) == before
    assert not cache.exists()


def test_files_over_http_are_kept_by_repository_and_commit(
    server: FileServer, entry_file: WriteEntry, cache: Path
) -> None:
    for path, data in FILES.items():
        server.files[f"/raw.githubusercontent.com/some/body/{COMMIT}/{path}"] = data
    assert len(get(repository(entry_file), server.url).judgments) == 6
    assert (cache / "github.com/some/body" / COMMIT / "data/ratings.csv").read_bytes() == TABLE
    server.files.clear()
    assert len(get(repository(entry_file), server.url).judgments) == 6
    assert len(get(repository(entry_file), cache.parent).judgments) == 6
    assert len(server.requests) == 2


def packed(tmp_path: Path, files: dict[str, bytes]) -> bytes:
    folder = clone(tmp_path / "packing", files)
    with tarfile.open(tmp_path / "packed", "w:gz") as tar:
        tar.add(folder, f"body-{COMMIT}")
    shutil.rmtree(folder)
    return (tmp_path / "packed").read_bytes()


ARCHIVE = f"/codeload.github.com/some/body/tar.gz/{COMMIT}"


def test_an_archive_over_http_is_unpacked_once(
    server: FileServer, entry_file: WriteEntry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loose = {**FILES, "loose/1.txt": b"1", "loose/2.txt": b"2", "secret.txt": b"no"}
    server.files[ARCHIVE] = packed(tmp_path, loose)
    entry = repository(entry_file, files='["data/*", "loose/*"]')
    assert len(get(entry, server.url).judgments) == 6
    said = capsys.readouterr().err
    assert f"unverified: no digest of some/body: loose/1.txt is known; it has sha256 {sha256(b'1')}" in said
    assert len(get(entry, server.url).judgments) == 6
    assert f"it has sha256 {sha256(b'2')}" in capsys.readouterr().err
    assert len(server.requests) == 1


def test_an_archive_with_a_wrong_file_is_refused_and_fetched_again(
    server: FileServer, entry_file: WriteEntry, tmp_path: Path, cache: Path
) -> None:
    entry = repository(entry_file, files='["data/*", "loose/*"]')
    server.files[ARCHIVE] = packed(tmp_path, {**FILES, "data/ratings.csv": TABLE[:-3], "loose/1.txt": b"1"})
    with pytest.raises(DownloadFailed, match=r"data/ratings\.csv: is not the file that the catalogue names"):
        get(entry, server.url)
    assert list(cache.rglob("ratings.csv")) == list(cache.rglob("*.archive")) == []
    server.files[ARCHIVE] = packed(tmp_path, {**FILES, "loose/1.txt": b"1"})
    assert len(get(entry, server.url).judgments) == 6


def test_an_archive_that_lacks_a_file_is_refused(server: FileServer, entry_file: WriteEntry, tmp_path: Path) -> None:
    entry = repository(entry_file, files='["data/*", "loose/*"]')
    server.files[ARCHIVE] = packed(tmp_path, {"data/ratings.csv": TABLE, "loose/1.txt": b"1"})
    with pytest.raises(DownloadFailed, match=r"lacks data/more\.txt"):
        get(entry, server.url)


def test_a_large_archive_is_kept_when_a_name_in_it_is_wrong(
    server: FileServer, entry_file: WriteEntry, tmp_path: Path, cache: Path
) -> None:
    server.files[ARCHIVE] = packed(tmp_path, {"sets/en-de.csv": TABLE})
    wrong = repository(entry_file, files='["sets/en-fr.csv", "sets/en-fr/*"]')
    for _ in range(2):
        with pytest.raises(DownloadFailed, match=r"lacks sets/en-fr\.csv; is the name right\?"):
            get(wrong, server.url)
    assert len(server.requests) == 1
    assert len(list(cache.rglob("*.archive"))) == 1


def test_an_archive_that_is_a_web_page_is_refused(server: FileServer, entry_file: WriteEntry) -> None:
    server.files[ARCHIVE] = b"<html>Sign in to your network first</html>"
    with pytest.raises(DownloadFailed, match="is cut off or no archive"):
        get(repository(entry_file, files='["data/*", "loose/*"]'), server.url)


# The shared data, laid out as the repositories are.

PAIRWISE = "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
SAME = {
    "billboard": "billboard",
    "THumB": "THumB",
    "wmt-mqm-human-evaluation": "wmt-mqm-human-evaluation",
    "OPUS-MT-testsets/testsets/zho-eng/newstest2020.zho": "wmt20_references/zh-en/src.txt",
    "OPUS-MT-testsets/testsets/zho-eng/newstest2020.eng": "wmt20_references/zh-en/Human-A.txt",
    "OPUS-MT-testsets/testsets/zho-eng/newstestB2020.eng": "wmt20_references/zh-en/Human-B.txt",
    "asset/dataset": "asset",
    "asset/human_ratings/human_ratings.csv": "asset/human_ratings.csv",
    f"asset/human_ratings/{PAIRWISE}": "asset/pairwise_vs_turkcorpus_hsplit.csv",
    "natural-questions/nq_open": "efficientqa",
    "ImageCaptioning/data/Flickr8k_text": "flickr8k",
    "challenge-webnlg/data/webnlg2017/webnlg-human-evaluation-master": "webnlg2017",
    "ErrorSpanAnnotation/data/mt-metrics-eval-v2/wmt23": "mtme_wmt23_en-de",
    "ErrorSpanAnnotation/data/campaign-ruction-rc5/240315rc5ESA.scores.csv": "esa_campaign/240315rc5ESA.scores.csv",
    "ErrorSpanAnnotation/data/campaign-ruction-rc5/data": "esa_campaign",
    "llmft/data/paws_qqp": "paws_qqp",
    "Multi_SummEval/mturk/annotation_result": "multi_summeval/annotation_result",
}


@pytest.fixture(scope="module")
def mirror(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared data under the names and paths of the public repositories."""
    root = tmp_path_factory.mktemp("mirror")
    for place, path in SAME.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).symlink_to(shared_data / path)
    for line in (shared_data / "multi_summeval/texts.jsonl").read_text("utf-8").splitlines():
        texts = json.loads(line)
        for part in ("gold", "pred_BERT", "pred_PG"):
            text = root / "Multi_SummEval/resulting_data" / texts["lang"] / part / str(texts["doc_id"])
            text.parent.mkdir(parents=True, exist_ok=True)
            text.write_text(texts[part], "utf-8")
    for scores in (shared_data / "multi_summeval/resulting_data").glob("*/score.csv"):
        (root / "Multi_SummEval/resulting_data" / scores.parent.name / "score.csv").symlink_to(scores)
    return root


def judged_outputs(board: bb.Board) -> int:
    """How many outputs have a judgment."""
    every = board.judgments.each(tuple(i.id for i in board.instances), tuple(row.name for row in board.rows))
    return len({(judgment.instance, output) for judgment in every for output in judgment.outputs})


VERIFIED = [
    "wmt20-zh-en",
    "cnndm",
    "asset",
    "efficientqa",
    "esa",
    "flickr8k-crowd",
    "flickr8k-expert",
    "paws-qqp",
    "webnlg-2017",
    "wmt23-en-de",
]
LANGUAGES = ["de", "en", "es", "fr", "id", "ru", "tr", "zh"]


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("name", [*VERIFIED, *(f"multi-summeval-{language}" for language in LANGUAGES)])
def test_the_shared_data_become_the_boards_of_the_catalogue(
    name: str, mirror: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["get", name, "--from", str(mirror), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err
    entry = read_catalogue().entry(name)
    assert ("unverified" not in said) is entry.is_verified
    assert judged_outputs(bb.open(tmp_path / "out")) == entry.judged


def served(server: FileServer, name: str, mirror: Path, tmp_path: Path) -> None:
    """Put the files of an entry on the server, as GitHub has them, from a mirror."""
    for source in read_catalogue().entry(name).sources:
        folder = mirror / source.place
        if source.comes_as_archive:
            with tarfile.open(tmp_path / "packed", "w:gz") as tar:
                for file in source.files:
                    tar.add((folder / file.path).resolve(), f"{source.place}-{source.commit}/{file.path}")
            server.files[f"/codeload.github.com/{source.repository}/tar.gz/{source.commit}"] = (
                tmp_path / "packed"
            ).read_bytes()
        else:
            for file in source.files:
                server.files[f"/{source.file_url(file).removeprefix('https://')}"] = (folder / file.path).read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.study
@pytest.mark.data
def test_a_public_board_over_a_bad_line_is_the_one_of_the_mirror(
    mirror: Path, server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    served(server, "cnndm", mirror, tmp_path)
    archive, *raw = server.files
    assert [path.split("/")[1] for path in (archive, *raw)] == [
        "codeload.github.com",
        "raw.githubusercontent.com",
        "raw.githubusercontent.com",
    ]
    size = len(server.files[archive])
    server.tricks[archive] = [cut(size // 2), status(503, Retry_After="0"), cut(size // 4)]
    server.tricks[raw[0]] = [status(302, Location=f"{server.url}/elsewhere")]
    server.files["/elsewhere"] = server.files[raw[0]]
    assert main(["get", "cnndm", "--from", server.url, "-o", str(tmp_path / "over-http")]) == 0
    assert server.sent[archive] == size
    assert "licence: none stated" in capsys.readouterr().err
    assert main(["get", "cnndm", "--from", str(mirror), "-o", str(tmp_path / "from-folder")]) == 0
    assert contents(tmp_path / "over-http") == contents(tmp_path / "from-folder")
    assert main(["rank", str(tmp_path / "over-http"), "--draws", "0", "--json"]) == 0


@pytest.mark.data
@pytest.mark.parametrize("as_archive", [True, False])
def test_sets_of_mt_metrics_eval_come_by_year_and_pair(
    as_archive: bool, shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    for path in sorted((shared_data / "mtme_wmt23_en-de").rglob("*")):
        place = home / "mt-metrics-eval-v2" / "wmt23" / path.relative_to(shared_data / "mtme_wmt23_en-de")
        if path.is_file() and ("metric-scores" not in path.parts or path.name.startswith("chrF-refA")):
            place.parent.mkdir(parents=True, exist_ok=True)
            gzipped = path.suffix == ".gz"
            place.with_suffix("" if gzipped else path.suffix).write_bytes(
                gzip.decompress(path.read_bytes()) if gzipped else path.read_bytes()
            )
    if as_archive:
        with tarfile.open(tmp_path / "mt-metrics-eval-v2.tgz", "w:gz") as tar:
            tar.add(home / "mt-metrics-eval-v2", "mt-metrics-eval-v2")
    board = bb.get("mtme-wmt23-en-de", mirror=tmp_path if as_archive else home)
    assert (len(board.instances), [column.name for column in board.imported]) == (557, ["chrF-refA"])
    assert "unverified: no digests of" in capsys.readouterr().err
    with pytest.raises(
        DownloadFailed, match=r"holds nothing of mt-metrics-eval-v2\.tgz, such as mt-metrics-eval-v2/wmt24/"
    ):
        bb.get("mtme-wmt24-en-de", mirror=home)


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("name", ["asset", "esa", "flickr8k-expert", "paws-qqp", "wmt20-zh-en", "wmt23-en-de"])
def test_the_shared_folder_itself_is_a_mirror(name: str, shared_data: Path) -> None:
    assert judged_outputs(bb.get(name, mirror=shared_data)) == read_catalogue().entry(name).judged


@pytest.mark.data
def test_a_changed_file_of_the_shared_data_needs_a_word(mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DownloadFailed, match=r"hsplit\.csv: is not the file that the catalogue names"):
        bb.get("asset-pairwise", mirror=mirror)
    board = bb.get("asset-pairwise", mirror=mirror, unverified=True)
    assert judged_outputs(board) == read_catalogue().entry("asset-pairwise").judged
    assert "is not the catalogue's file; it has sha256" in capsys.readouterr().err


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "folder", "count"),
    [
        ("summeval", ".", 48),
        ("realsumm", ".", 75),
        ("newsroom", ".", 21),
        ("qags-cnn", ".", 3),
        ("bagel", ".", 3),
        ("wmt19-darr-gu-en", ".", 4),
        ("mscoco", ".", 30),
        ("pascal-50s", ".", 12),
        ("mqm-ted-zh-en", ".", 63),
        ("webnlg-2020-en", "webnlg2020", 9),
        ("webnlg-2020-ru", "webnlg2020", 9),
    ],
)
def test_a_shortened_sample_of_a_repository_imports_if_that_is_asked_for(
    name: str, folder: str, count: int, shared_data: Path
) -> None:
    samples = shared_data.parent / "samples" / folder
    with pytest.raises(DownloadFailed, match="is not the file that the catalogue names"):
        bb.get(name, mirror=samples)
    assert judged_outputs(bb.get(name, mirror=samples, unverified=True)) == count


@pytest.mark.data
def test_two_repositories_make_one_board(mirror: Path, shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "asset").symlink_to(mirror / "asset")
    with pytest.raises(DownloadFailed, match="holds nothing of feralvam/metaeval-simplification"):
        bb.get("simplicity-da", mirror=tmp_path, unverified=True)
    (tmp_path / "metaeval-simplification").symlink_to(shared_data.parent / "samples/metaeval-simplification")
    board = bb.get("simplicity-da", mirror=tmp_path, unverified=True)
    assert len(board.reference_names) == 10
    assert (judged_outputs(board), len(board.instances)) == (14, 14)
