"""Every entry says what it must, names an importer that takes its options, and has digests that are right."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from catalogue_entries import TABLE, WriteEntry, sha256, toml, url_source

from billboards.catalogue import Catalogue, Entry, check_entry, import_command, read_catalogue, read_entries
from billboards.catalogue._catalogue import OWN
from billboards.catalogue._paths import is_safe, matches
from billboards.errors import InvalidInput

CATALOGUE = read_catalogue()
ENTRIES = {entry.name: entry for entry in CATALOGUE}
#: An entry of each shape that stands for boards of any name.
MADE = ["mtme-wmt24-en-de", "mtme-wmt21.tedtalks-zh-en", "mtme-wmt25-en-sr_Cyrl_RS"]


@pytest.mark.parametrize("name", [*(name for name in ENTRIES if "SET" not in name), *MADE])
def test_an_entry_names_an_importer_that_takes_its_options(name: str) -> None:
    entry = CATALOGUE.entry(name)
    assert check_entry(entry).name == entry.importer
    assert entry.name == name
    roots = {source.place for source in entry.sources}
    assert entry.source == "." or entry.source.split("/")[0] in roots | {"mt-metrics-eval-v2"}
    assert all(re.fullmatch("[a-z]{2,3}", language) for language in entry.languages)
    assert entry.licence
    assert all(source.licence for source in entry.sources)
    assert re.search(r"\(\d{4}\):|: Results of", entry.citation)


@pytest.mark.parametrize("name", ENTRIES)
def test_files_come_from_public_hosts_by_pinned_addresses(name: str) -> None:
    for source in ENTRIES[name].sources:
        urls = [source.archive_url] if source.comes_as_archive else [source.file_url(file) for file in source.files]
        for url in urls:
            parts = urlsplit(url)
            assert parts.scheme == "https"
            assert parts.hostname in ("codeload.github.com", "raw.githubusercontent.com", "storage.googleapis.com")
            assert source.commit is None or source.commit in url


@pytest.mark.parametrize("name", ENTRIES)
def test_a_file_with_a_digest_has_a_size(name: str) -> None:
    entry = ENTRIES[name]
    for source in entry.sources:
        assert all((file.size is None) == (file.sha256 is None) for file in source.files)
        assert all(is_safe(file.path) for file in source.files)
    if entry.is_verified:
        assert entry.size is not None
        assert entry.size > 10_000


def test_files_of_an_entry_are_those_of_its_name() -> None:
    entry = ENTRIES["wmt20-zh-en"]
    files = [file.path for source in entry.sources for file in source.files]
    assert (len(files), sum("results/" in path for path in files)) == (19 * 16 + 20 + 1 + 3, 19 * 16)
    assert entry.sources[0].comes_as_archive
    assert not entry.sources[1].comes_as_archive
    assert entry.sources[1].file_url(entry.sources[1].files[0]) == (
        "https://raw.githubusercontent.com/google/wmt-mqm-human-evaluation/7fadea281aff8db61cc72fc3d469a4dca78b82a6/"
        "newstest2020/zhen/mqm_newstest2020_zhen.avg_seg_scores.tsv"
    )


def test_addresses_are_quoted() -> None:
    files = ENTRIES["webnlg-2020-en"].sources[0].files
    (file,) = (file for file in files if file.path.endswith("rdf2text/en/Amazon_AI_(Shanghai)/primary.en"))
    assert ENTRIES["webnlg-2020-en"].sources[0].file_url(file).endswith("/en/Amazon_AI_%28Shanghai%29/primary.en")


def test_no_digest_is_kept_that_no_entry_needs() -> None:
    used = {(source.repository, file.path) for entry in CATALOGUE for source in entry.sources for file in source.files}
    for path in OWN.with_name("digests").glob("*.tsv"):
        kept = {(path.stem.replace("--", "/"), line.split("\t")[2]) for line in path.read_text("utf-8").splitlines()}
        assert kept - used == set()


@pytest.mark.data
def test_digests_are_those_of_the_shared_list(shared_data: Path) -> None:
    with (shared_data.parent / "catalogue" / "files.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    listed = {(row["repository"], row["path"]): (row["commit"], int(row["size"]), row["sha256"]) for row in rows}
    ours = {
        (source.repository, file.path): (source.commit, file.size, file.sha256)
        for entry in CATALOGUE
        for source in entry.sources
        for file in source.files
    }
    both = ours.keys() & listed.keys()
    assert len(both) > 1300
    assert {key: ours[key] for key in both} == {key: listed[key] for key in both}


def test_a_name_in_another_case_is_known_and_a_wrong_one_is_answered_with_near_ones() -> None:
    assert CATALOGUE.entry("SummEval").name == "summeval"
    with pytest.raises(InvalidInput, match=r"no public board named 'sumeval'; did you mean summeval"):
        CATALOGUE.entry("sumeval")


def test_one_entry_may_stand_for_boards_of_any_name_of_a_shape() -> None:
    entry = CATALOGUE.entry("mtme-wmt24-en-de")
    assert (entry.source, entry.options["language_pair"]) == ("mt-metrics-eval-v2/wmt24", "en-de")
    assert "mt-metrics-eval-v2/wmt24/system-outputs/en-de/*.txt" in entry.sources[0].patterns
    assert not entry.is_verified
    with pytest.raises(InvalidInput, match="no public board named"):
        CATALOGUE.entry("mtme-2024-en-de")


def test_the_import_command_of_an_entry_is_what_one_would_type() -> None:
    assert import_command(ENTRIES["cnndm"]) == (
        "billboards import billboard billboard --board cnndm --judgments THumB -o cnndm"
    )


def read(path: Path) -> Entry:
    (entry,) = read_entries(path)
    assert isinstance(entry, Entry)
    return entry


def test_an_entry_of_ones_own_is_a_small_file(entry_file: WriteEntry) -> None:
    entry = read(entry_file(toml("two", url_source("https://example.org/ratings.csv", TABLE))))
    assert (entry.size, entry.is_verified) == (len(TABLE), True)
    assert entry.sources[0].files[0].sha256 == sha256(TABLE)


def test_digests_may_stand_in_a_list_beside_the_entry(entry_file: WriteEntry) -> None:
    source = (
        '[[sources]]\nrepository = "some/body"\ncommit = "' + "0" * 40 + '"\nlicence = "CC0-1.0"\n'
        'files = ["a/*.csv", "b.csv"]\ndigests = "list.tsv"\n'
    )
    listed = f"5\t{'a' * 64}\ta/x.csv\n6\t{'b' * 64}\ta/deep/y.csv\n-\t-\tb.csv\n"
    entry = read(entry_file(toml("two", source), more={"list.tsv": listed}))
    assert [(file.path, file.size) for file in entry.sources[0].files] == [("a/x.csv", 5), ("b.csv", None)]
    assert not entry.is_verified
    for wrong in ("5 a/x.csv\n", "five\t-\ta/x.csv\n", "5\t-\ta/x.csv\tmore\n"):
        with pytest.raises(InvalidInput, match=r"list\.tsv:2: must hold size, sha256 and path with tabs between"):
            read(entry_file(toml("three", source), more={"list.tsv": "-\t-\tb.csv\n" + wrong}))


URL = "https://example.org/ratings.csv"


@pytest.mark.parametrize(
    ("sources", "changed", "words"),
    [
        ("", {}, "sources"),
        (url_source(URL, TABLE), {"extra": "1"}, "extra"),
        (url_source(URL, TABLE), {"judged": '"many"'}, "judged"),
        (url_source(URL, TABLE), {"name": '"../up"'}, "name"),
        (url_source(URL, TABLE, sha256='"ABC"'), {}, "sha256"),
        (url_source("ftp://example.org/x", TABLE), {}, "must be an https address"),
        (url_source("https://me:secret@example.org/x", TABLE), {}, "must be an https address without a user"),
        (url_source("http://example.org/x", None), {}, "an http address needs the sha256"),
        (url_source(URL, TABLE, files='["../ratings.csv"]'), {}, "must be a relative path"),
        (url_source(URL, TABLE, files='["/etc/passwd"]'), {}, "must be a relative path"),
        (url_source(URL, None, files='["a.csv", "b.csv"]'), {}, "is one file; give it one path"),
        (url_source(URL, None, files="[]"), {}, "is one file; give it one path"),
        (url_source(URL, TABLE, commit='"' + "0" * 40 + '"'), {}, "a repository needs its commit"),
        (url_source(URL, TABLE).replace("url =", "repository ="), {}, "repository"),
        (url_source(URL, TABLE), {"source": '"../../etc/passwd"'}, "must be a relative path"),
        (url_source(URL, TABLE), {"licence": '"\\u001b[31mred"'}, "must be a line of text"),
        (url_source(URL, TABLE), {"title": '"{pair}"'}, r"\{pair\} has no value"),
    ],
)
def test_a_mistake_in_an_entry_is_named_with_its_file(
    sources: str, changed: dict[str, str], words: str, entry_file: WriteEntry
) -> None:
    with pytest.raises(InvalidInput, match=rf"entry\.toml: .*{words}"):
        read_entries(entry_file(toml("two", sources, **changed)))


def test_options_that_the_importer_does_not_know_are_refused_before_a_download(entry_file: WriteEntry) -> None:
    entry = read(entry_file(toml("two", url_source(URL, TABLE), options='{ colour = "red" }')))
    with pytest.raises(InvalidInput, match="entry two: no option of table named 'colour'"):
        check_entry(entry)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x"])
def test_options_that_are_paths_stay_among_the_sources(path: str, entry_file: WriteEntry) -> None:
    options = f'{{ board = "x", judgments = "{path}" }}'
    entry = read(entry_file(toml("two", url_source(URL, TABLE), importer='"billboard"', options=options)))
    with pytest.raises(InvalidInput, match="must be a relative path"):
        check_entry(entry)


def test_entries_with_parameters_are_several(entry_file: WriteEntry) -> None:
    text = toml("two-{pair}", url_source("https://example.org/{long}.csv", TABLE)).replace("judged = 6\n", "")
    text += '[parameters.pair.en-de]\nlong = "german"\njudged = 3\n[parameters.pair.en-fr]\nlong = "french"\n'
    entries = [entry for entry in read_entries(entry_file(text)) if isinstance(entry, Entry)]
    assert [(entry.name, entry.judged, entry.sources[0].url) for entry in entries] == [
        ("two-en-de", 3, "https://example.org/german.csv"),
        ("two-en-fr", None, "https://example.org/french.csv"),
    ]


def test_a_named_entry_comes_before_one_of_the_package(entry_file: WriteEntry) -> None:
    path = entry_file(toml("summeval", url_source(URL, TABLE)))
    assert read_catalogue([path]).entry("summeval").title == "Two systems"
    assert read_catalogue([path.parent]).entry("summeval").title == "Two systems"


def test_a_folder_without_entries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no entry such as"):
        read_catalogue([tmp_path])


def test_two_packages_that_offer_the_same_name_are_told() -> None:
    twice = Catalogue(entries={"cnndm": (ENTRIES["cnndm"], ENTRIES["cnndm"])}, templates=())
    with pytest.raises(InvalidInput, match="2 packages offer a board cnndm"):
        twice.entry("cnndm")


@pytest.mark.parametrize(
    ("path", "pattern", "is_meant"),
    [
        ("a/b.csv", "a/*.csv", True),
        ("a/b/c.csv", "a/*.csv", False),
        ("a/b/c.csv", "a/**", True),
        ("a/b.tsv", "a/*.csv", False),
        ("a/x(1).csv", "a/x(1).*", True),
    ],
)
def test_patterns_are_those_of_a_shell(path: str, pattern: str, is_meant: bool) -> None:
    assert matches(path, pattern) is is_meant
