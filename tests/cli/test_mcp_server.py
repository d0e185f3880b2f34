"""The MCP server, driven by the official client over standard input and output as assistants do."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from apart import run_apart

import billboards as bb
from billboards.cli.main import main
from billboards.cli.mcp_server import readers
from billboards.demo import build_board


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp") / "demo"
    bb.score(bb.save(replace(build_board(), metrics=("BLEU", "ROUGE-1")), folder))
    return folder


async def asked(folder: Path, *calls: tuple[str, dict[str, Any]]) -> tuple[Any, list[Any]]:
    """The tools of a server, and what it answers to some calls."""
    from mcp import ClientSession, StdioServerParameters, stdio_client

    command = StdioServerParameters(command=sys.executable, args=["-m", "billboards", "mcp", str(folder)])
    async with (
        stdio_client(command, errlog=sys.__stderr__ or sys.stderr) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        tools = (await session.list_tools()).tools
        return tools, [await session.call_tool(name, given) for name, given in calls]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # the client's own packages deprecate things of theirs
def test_an_assistant_finds_out_whether_a_metric_is_really_better(folder: Path) -> None:
    comparison = {"board": "demo-summeval", "first": "ROUGE-1", "second": "BLEU", "shown": 1}
    tools, (boards, compared, unknown) = run_apart(
        asked(
            folder,
            ("boards", {}),
            ("compare", comparison),
            ("compare", {**comparison, "first": "rouge1x"}),
        )
    )
    assert {tool.name for tool in tools} == {"boards", *readers()}
    assert {"rank", "compare", "power", "sensitivity"} <= set(readers())
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert boards.structured_content == {"schema": 1, "boards": ["demo-summeval"]}
    direct = bb.compare(bb.open(folder), "ROUGE-1", "BLEU", shown=1)
    assert compared.structured_content["schema"] == 1
    assert "correlation of ROUGE-1" in compared.content[0].text
    assert direct.tables[0].title in compared.content[0].text
    assert unknown.is_error
    assert "did you mean ROUGE-1" in unknown.content[0].text


def test_nothing_is_written_into_the_board(folder: Path) -> None:
    assert not list((folder / "rankings").glob("*")) if (folder / "rankings").exists() else True


def test_a_folder_that_is_no_board_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
