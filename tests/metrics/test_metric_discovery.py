"""Metrics by name: what is found, how options are read, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest

from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.base import Metric
from billboards.metrics.bleu import BLEU
from billboards.metrics.chrf import ChrF
from billboards.metrics.discovery import board_metric, canonical, installed_metric, metric, metric_class, metric_names

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "third_party_metric"


def test_the_first_families_are_installed() -> None:
    families = ["BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-3", "ROUGE-L", "length"]
    counted = [f"{name}-{n}" for name in ("repetition", "abstractness") for n in (1, 2, 3)]
    assert {*families, *counted} <= set(metric_names())


def test_options_are_read_from_the_name() -> None:
    assert metric("BLEU") == BLEU()
    assert metric(" BLEU( tokenize = zh , lowercase=True )") == BLEU(tokenize="zh", lowercase=True)
    assert metric("chrF(beta=1)") == metric("chrF", beta=1) == ChrF(beta=1)
    assert metric("chrF(beta=1)", beta=3) == ChrF(beta=3)
    assert metric("BLEU(tokenize='13a')") == metric("BLEU(tokenize=13a)") == metric("BLEU()") == BLEU()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("BLEU(lowercase=no)", "BLEU: option lowercase must be of type bool, as in lowercase=False; found 'no'"),
        ("BLEU(lowercase=1)", "must be of type bool, as in lowercase=False; found 1"),
        ("chrF(beta=two)", "chrF: option beta must be of type int, as in beta=2; found 'two'"),
        ("chrF(beta=True)", "must be of type int, as in beta=2; found True"),
        ("chrF(beta=1.5)", "must be of type int, as in beta=2; found 1.5"),
        ("chrF(beta)", r"option 'beta' has no value; write NAME\(option=value\)"),
        ("chrF(beta=1", r"is not a metric; write NAME or NAME\(option=value,…\)"),
        ("", "is not a metric"),
    ],
)
def test_an_option_that_means_nothing_is_refused(spec: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        metric(spec)


def test_names_ignore_case_where_only_one_metric_can_be_meant() -> None:
    assert metric("bleu") == metric("Bleu") == BLEU()
    assert metric("CHRF(beta=1)") == ChrF(beta=1)
    assert metric("bertscore").card.name == "BERTScore"
    assert metric_class("rouge-l").card.name == "ROUGE-L"
    with pytest.raises(UnknownName, match=r"no option of chrF named 'Beta'; did you mean beta\?"):
        metric("chrf(Beta=1)")


def test_a_name_is_written_as_its_metric_writes_it() -> None:
    assert canonical("bleu(tokenize=zh)") == "BLEU(tokenize=zh)"
    assert [canonical(spec) for spec in ("BLEU", "pack:bleu", "./bleu.py", "(", "")] == [
        "BLEU", "pack:bleu", "./bleu.py", "(", ""
    ]  # fmt: skip


def test_a_name_that_came_with_data_opens_no_file(tmp_path: Path) -> None:
    """Whoever opens another's board runs installed metrics and packs that he built, nothing that lies beside it."""
    path = tmp_path / "mine.py"
    path.write_text("raise SystemExit('this was run')\n")
    with pytest.raises(InvalidInput, match=r"a board's file can't name a Python file; name it yourself, with --metric"):
        board_metric(str(path), None)
    for spec in (str(path), "pack:mine"):
        with pytest.raises(UnknownName):
            installed_metric(spec)


def test_every_metric_class_of_the_package_is_listed_by_its_module() -> None:
    """A class with a card of its own that no METRICS names could never be asked for."""
    listed = {metric_class(name) for name in metric_names()}
    cards = {each for each in _below(Metric) if "card" in vars(each) and each.__module__.startswith("billboards.")}
    assert cards == {each for each in listed if each.__module__.startswith("billboards.")}


def _below(parent: type[Any]) -> set[type[Any]]:
    return {each for child in parent.__subclasses__() for each in ({child} | _below(child))}


def test_an_unknown_metric_or_option_is_named_with_its_neighbours() -> None:
    with pytest.raises(UnknownName, match=r"no metric named 'ROUGE-10'; did you mean ROUGE-"):
        metric("ROUGE-10")
    with pytest.raises(UnknownName, match=r"no metric named 'METEO'; did you mean METEOR"):
        metric("METEO")
    with pytest.raises(UnknownName, match=r"no metric named 'rouge'; did you mean ROUGE-"):
        metric("rouge")
    with pytest.raises(UnknownName, match=r"no metric named 'bertscor'; did you mean BERTScore"):
        metric("bertscor")
    with pytest.raises(UnknownName, match=r"no metric named 'blue'; did you mean BLEU"):
        metric("blue")
    with pytest.raises(UnknownName, match=r"no option of chrF named 'betta'; did you mean beta\?"):
        metric("chrF(betta=1)")


def installed(folder: Path, package: str, points: dict[str, str]) -> None:
    """Lay down what an installer would: a package's metadata with its entry points."""
    metadata = folder / f"{package.replace('-', '_')}-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
    lines = (f"{name} = {value}" for name, value in points.items())
    (metadata / "entry_points.txt").write_text("\n".join(("[billboards.metrics]", *lines, "")))


def run_with(folders: list[Path], program: str) -> str:
    """What a fresh interpreter prints that has these folders on its path."""
    path = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_third_party_package_adds_a_metric_by_its_entry_point(tmp_path: Path) -> None:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed(tmp_path, project["name"], project["entry-points"]["billboards.metrics"])
    printed = run_with(
        [EXAMPLE, tmp_path],
        """
        from billboards.metrics.base import Batch, score_checked
        from billboards.metrics.discovery import metric_names, metric
        found = metric("type-token-ratio(lowercase=False)")
        print("BLEU" in metric_names(), found.name, found.signature, sep="\\n")
        print(*score_checked(found, Batch(["the cat the dog", "The the", ""]))[""])
        """,
    )
    assert printed.splitlines() == [
        "True",
        "type-token-ratio(lowercase=False)",
        "type-token-ratio|lowercase:False|type-token-ratio:0.1",
        "0.75 1.0 0.0",
    ]


def test_two_packages_with_one_metric_name_are_refused_where_it_is_asked_for(tmp_path: Path) -> None:
    installed(tmp_path, "other-bleu", {"BLEU": "billboards.metrics.ter:TER"})
    printed = run_with(
        [tmp_path],
        """
        from billboards.errors import InvalidInput
        from billboards.metrics.discovery import metric
        print(metric("TER").name)
        try:
            metric("BLEU")
        except InvalidInput as error:
            print(error)
        """,
    )
    assert printed.startswith("TER\n2 packages offer a metric named BLEU: ")
    assert "other-bleu" in printed
    assert printed.endswith("; keep one of them\n")


def test_entry_points_that_lead_nowhere_are_explained(tmp_path: Path) -> None:
    wrong = {"absent": "no_such_package:X", "nowhere": "json:NoSuch", "no-metric": "json:JSONDecoder"}
    installed(tmp_path, "broken", wrong)
    printed = run_with(
        [tmp_path],
        """
        from billboards.errors import BillboardsError
        from billboards.metrics.discovery import metric
        for name in ("absent", "nowhere", "no-metric"):
            try:
                metric(name)
            except BillboardsError as error:
                print(type(error).__name__, error)
        """,
    )
    assert printed.splitlines() == [
        "MissingPart metric absent needs a package that is not installed: No module named 'no_such_package'",
        "InvalidInput entry point nowhere = json:NoSuch leads nowhere: module 'json' has no attribute 'NoSuch'",
        "InvalidInput entry point no-metric = json:JSONDecoder is not a billboards Metric class",
    ]


def test_the_how_to_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / "docs" / "how-to-add-a-metric.md").read_text(encoding="utf-8")
    module = (EXAMPLE / "type_token_ratio.py").read_text(encoding="utf-8")
    assert module[module.index("@dataclass") :].strip() in page
    assert 'type-token-ratio = "type_token_ratio:TypeTokenRatio"' in page


def test_finding_metrics_by_name_imports_none_of_the_libraries_behind_them() -> None:
    printed = run_with(
        [],
        """
        import sys
        from billboards.metrics.discovery import metric_names, metric
        names = [metric(name).name for name in metric_names()]
        heavy = {"sacrebleu", "rouge_score", "nltk", "regex", "scipy"}
        print(len(names) >= 15, sorted(heavy & set(sys.modules)))
        """,
    )
    assert printed == "True []\n"


def test_every_class_says_the_name_it_is_found_by() -> None:
    assert {name: metric_class(name).card.name for name in metric_names()} == {name: name for name in metric_names()}
