"""A site with a suite of three small boards, two on which people gave values and one on which they compared."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from api_sites import SmallSite, tokens_for
from small_suites import SUITE, compared_board, valued_board

from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.site.accounts import access
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings

BOARDS = ("one", "two", "pairs")
OVERLAP = """
def score(outputs, references, inputs):
    return [max(len(set(output.split()) & set(text.split())) for text in texts)
            for output, texts in zip(outputs, references)]
"""
DECLARED = {"higher_is_better": True, "needs": ["references"], "training_data": "none"}


def suite_site(home: Path, text: str = SUITE) -> SmallSite:
    """The site, with nothing submitted and nothing scored; boards lie beside its data folder."""
    write_board(valued_board("one", 12, seed=1), home / "one")
    write_board(valued_board("two", 10, seed=2, references=1, language="de"), home / "two")
    write_board(compared_board("pairs", 9, seed=3), home / "pairs")
    (home / "ports.toml").write_text(text)
    data = home / "data"
    (data / "suites").mkdir(parents=True)
    (data / "site.toml").write_text("reads_per_minute = 1000000\nchanges_per_minute = 1000000\n")
    (data / "suites" / "ports.toml").write_text(text.replace('folder = "', 'folder = "../../'))
    site = open_site(data, boards=[home / name for name in BOARDS], login_required=True)
    owner = access.new_owner_token(site, "owner")
    viewer = access.viewer_of_token(site, owner)
    assert viewer is not None
    for board in BOARDS:
        change_settings(site, viewer, board, {"draws": 20})
    return SmallSite(site, {"owner": owner, **tokens_for(site, viewer)})


def send_metric(small: SmallSite, asker: str = "owner", name: str = "overlap", raw: str = OVERLAP, **said: Any) -> Any:
    """A metric, sent to the suite; an owner vouches for it, so that it runs without a sandbox."""
    data = {"name": name, "manifest": json.dumps(DECLARED), "trusted": str(asker == "owner").lower(), **said}
    return small.ask(asker, "POST", "/suites/ports/metrics", data=data, files={"file": ("overlap.py", raw)})


def outputs_of(home: Path, board: str) -> str:
    """Outputs for every instance of a board, as JSON lines."""
    lines = ({"instance": i.id, "text": f"ferry {i.references[0].text}"} for i in open_board(home / board).instances)
    return "".join(json.dumps(line) + "\n" for line in lines)


def zipped(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def send_generator(small: SmallSite, files: Mapping[str, str], asker: str = "team", **said: Any) -> Any:
    """A generator's outputs, sent to the suite."""
    sent = {"file": ("outputs.zip", zipped(files))}
    return small.ask(asker, "POST", "/suites/ports/generators", data={"name": "mine", **said}, files=sent)
