"""Let an assistant ask boards: a server of the Model Context Protocol on standard input and output.

billboards mcp BOARD …    the boards that may be asked; an assistant sees no other folder

Every analysis that only reads is a tool, made from its declaration: options, help and answer are those of the command.
Nothing is computed that is not there, kept or written.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.errors import BillboardsError, InvalidInput, MissingPart, UnknownName
from billboards.extras import install_command

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from billboards.analyses._analysis import Analysis
    from billboards.options import Option

LIST = "boards"
INSTRUCTIONS = (
    "Leaderboards that rank text generators and the metrics that judge them. Ask `boards` for the names; `rank` says "
    "who leads and which metrics agree with people, `compare` whether a difference is real. Quote intervals and p."
)
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("boards", nargs="+", type=Path, metavar="BOARD", help="board folders that may be asked")


def run(arguments: Namespace) -> int:
    try:
        import anyio
        from mcp.server.stdio import stdio_server
    except ModuleNotFoundError as error:
        raise MissingPart(
            f"the MCP server needs mcp, which is not installed; install it with `{install_command('mcp')}`"
        ) from error

    made = server(boards_by_name(arguments.boards))

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await made.run(reading, writing, made.create_initialization_options())

    anyio.run(serve)
    return 0


def boards_by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Board folders by the boards' names; two of one name are refused."""
    from billboards.board.folder import open_board

    named: dict[str, Path] = {}
    for folder in folders:
        name = open_board(folder).name
        if name in named:
            raise InvalidInput(f"{folder} and {named[name]} are both named {name}; serve one of them")
        named[name] = folder
    return named


def readers() -> dict[str, Analysis[Any, Any]]:
    """The analyses that only read, by name."""
    from billboards.analyses import analysis_named, own_analyses

    every = {name: analysis_named(name) for name in own_analyses() if " " not in name}
    return {name: asked for name, asked in every.items() if not asked.scores}


def input_schema(asked: Analysis[Any, Any], boards: Sequence[str]) -> dict[str, Any]:
    """What a tool takes, from the options of its analysis."""
    properties: dict[str, Any] = {"board": {"type": "string", "enum": list(boards), "description": "the board to ask"}}
    if "aggregate" in asked.view:
        properties["aggregate"] = {"type": "string", "description": "which judgments (default: the board's)"}
    properties |= {option.name: _property(option) for option in asked.options}
    required = ["board", *(option.name for option in asked.options if option.required)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _property(option: Option) -> dict[str, Any]:
    single: dict[str, Any] = {"type": _TYPES.get(option.type, "string")}
    if option.choices:
        single["enum"] = list(option.choices)
    described = {"description": option.help}
    return {"type": "array", "items": single, **described} if option.many else {**single, **described}


def answer(boards: Mapping[str, Path], name: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What a tool says: sentences and tables, and the JSON document of the command."""
    from billboards.analyses._view import look_at
    from billboards.board.folder import open_board
    from billboards.show.documents import SCHEMA

    if name == LIST:
        listed = {board: repr(open_board(folder)) for board, folder in boards.items()}
        return "\n".join(listed.values()), {"schema": SCHEMA, "boards": list(listed)}
    tools = readers()
    if name not in tools:
        raise UnknownName("tool", name, [LIST, *tools])
    options = dict(given)
    board = options.pop("board", None)
    if board not in boards:
        raise UnknownName("board", str(board), boards)
    chosen = {"aggregate": options.pop("aggregate")} if "aggregate" in options else {}
    result = tools[name].run(look_at(open_board(boards[board]), **chosen), **options)
    text = "\n\n".join(filter(None, ("\n".join(result.words), result.to_text(), "\n".join(result.notes))))
    return text, {"schema": SCHEMA, **result.document}


def server(boards: Mapping[str, Path]) -> Server[Any]:
    """A server whose tools are the analyses that only read."""
    import json
    from importlib.metadata import version

    import anyio.to_thread
    from mcp import types
    from mcp.server.lowlevel import Server

    from billboards.show.documents import dumps

    hints = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    listing = types.Tool(name=LIST, description="the boards that can be asked", input_schema=nothing, annotations=hints)

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=name,
                description=asked.explanation,
                input_schema=input_schema(asked, list(boards)),
                annotations=hints,
            )
            for name, asked in readers().items()
        ]
        return types.ListToolsResult(tools=[listing, *tools])

    async def call_tool(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            # A ranking takes seconds; meanwhile the server answers others.
            text, document = await anyio.to_thread.run_sync(answer, boards, asked.name, asked.arguments or {})
        except BillboardsError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=json.loads(dumps(document))
        )

    return Server(
        "billboards",
        version=version("billboards"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
