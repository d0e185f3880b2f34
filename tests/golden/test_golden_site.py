"""A site that an older version made still opens, from its data folder and from its backup, says the same, and goes on.

The data folder and the backup are those of one moment; so is what was said to its owner, a team and visitors. Nobody is
at work while addresses are compared, so that nothing can be computed anew.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from frozen_documents import FITTED, RELATIVE, differences, normalised
from frozen_runs import run_differences, run_line
from frozen_site import asking, go_on, say, serving

HERE = Path(__file__).parent
VERSIONS = sorted(path.parents[1].name for path in HERE.glob("v*/site/site.json.gz"))


def kept_site(version: str) -> dict[str, Any]:
    """What was kept of a version's site: tokens, what goes on from there, and all that was said."""
    kept: dict[str, Any] = json.loads(gzip.decompress((HERE / version / "site" / "site.json.gz").read_bytes()))
    return kept


def data_folder(version: str, folder: Path) -> Path:
    """The data folder as it was left."""
    with zipfile.ZipFile(HERE / version / "site" / "data.zip") as files:
        files.extractall(folder)
    return folder / "data"


def restored(version: str, folder: Path) -> Path:
    """A data folder made from the backup."""
    backup, data = HERE / version / "site" / "backup.tar.gz", folder / "data"
    command = [sys.executable, "-m", "billboards", "restore", str(backup), str(data)]
    subprocess.run(command, check=True, capture_output=True)
    return data


@pytest.mark.long
@pytest.mark.parametrize("opened", [data_folder, restored])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_site_tells_everybody_what_it_told_them(version: str, opened: Any, tmp_path: Path) -> None:
    kept = kept_site(version)
    unlike = []
    with serving(opened(version, tmp_path), workers=0) as address, asking(address, kept["tokens"]) as askers:
        for told in kept["documents"]:
            now = say(askers[told["asker"]], told["path"]) | {"asker": told["asker"]}
            relative = FITTED if told["path"].endswith("/annotators") else RELATIVE
            found = differences(told, now, relative=relative)
            unlike += [f"{told['asker']} {told['path']} {one}" for one in found]
    assert len(kept["documents"]) > 100
    assert not unlike, "\n".join(unlike[:30])


def _without_new_kinds(now: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    """What tidying says, less kinds of rows that the older version did not have."""
    names = {kind["what"] for kind in kept["stdout"]["kinds"]}
    kinds = [kind for kind in now["stdout"]["kinds"] if kind["what"] in names]
    return {**now, "stdout": {**now["stdout"], "kinds": kinds}}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_command_line_says_the_same_of_a_site(version: str, tmp_path: Path) -> None:
    data_folder(version, tmp_path)
    unlike = []
    for kept in kept_site(version)["commands"]:
        now = run_line(kept["argv"], tmp_path)
        if kept["argv"][0] == "tidy":
            now = _without_new_kinds(now, kept)
        unlike += [f"{' '.join(kept['argv'])} {one}" for one in run_differences(kept, now)]
    assert not unlike, "\n".join(unlike[:30])


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_a_site_goes_on_where_it_was(version: str, tmp_path: Path) -> None:
    kept = kept_site(version)
    data = data_folder(version, tmp_path)
    with serving(data, workers=1) as address, asking(address, kept["tokens"]) as askers:
        for board in ("harbour", "versus"):
            # Version 0.1 tested with one side.
            askers["owner"].send("PATCH", f"/boards/{board}/settings", json={"sides": "one"})
        now = normalised(go_on(askers, kept["plan"]))
    assert now["kept"] == now["kept_still"]
    # A version that computes rankings in another way ranks its boards anew before anything else happens.
    anew = len(now["kept"]) - len(kept["went_on"]["kept"])
    went_on = {**now, "kept": now["kept"][anew:], "kept_still": now["kept_still"][anew:]}
    unlike = list(differences(kept["went_on"], went_on))
    assert not unlike, "\n".join(unlike[:30])
