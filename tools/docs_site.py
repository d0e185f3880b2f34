"""What the documentation's site has beside the pages in docs/: the changelog, and files that pages link to.

mkdocs calls the functions here (`hooks` in mkdocs.yml). A link from a page to a file outside docs/ leads to a copy of
that file in the site, and search asks nobody else for a script, so that everything works from disk.

    python tools/docs_site.py     # writes docs/glossary.md
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
#: Pages of the checkout that are pages of the site, too.
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
#: A link to a file outside docs/, from a page in it; and one back into docs/ from the checkout's own pages.
OUTSIDE = re.compile(r"\]\(((?:\.\./)+)((?!\.\./)[^)#\s]+)(#[^)\s]*)?\)")
INSIDE = re.compile(r"\]\((?!https?:|#|mailto:)(?:\./)?([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Put pages and linked files of the checkout into the site."""
    for name in PAGES:
        files.append(File.generated(config, f"project/{name}", content=(ROOT / name).read_text("utf-8")))
    wanted = {path for file in list(files) if file.is_documentation_page() for path in _linked(file)}
    for path in sorted(wanted):
        files.append(File.generated(config, f"files/{path}{_ending(path)}", content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Lead links that leave docs/ to the copies."""
    place = PurePosixPath(page.file.src_uri)
    up = "../" * (len(place.parts) - 1)

    def outside(link: re.Match[str]) -> str:
        path, anchor = _checkout_path(place, link), link[3] or ""
        if path in PAGES:
            return f"]({up}project/{path}{anchor})"
        return f"]({up}files/{path}{_ending(path)})" if (ROOT / path).is_file() else link[0]

    def inside(link: re.Match[str]) -> str:
        path, anchor = link[1], link[2] or ""
        if path.startswith("docs/"):
            return f"](../{path.removeprefix('docs/')}{anchor})"
        if path in PAGES or path.startswith("../"):
            return link[0]
        return f"](../files/{path}{_ending(path)})"

    return INSIDE.sub(inside, markdown) if place.parts[0] == "project" else OUTSIDE.sub(outside, markdown)


def on_post_page(output: str, page: Any, **_: object) -> str:
    """Take the script that lets pages on disk be searched from the site itself (iframe-worker 1.0.4, MIT)."""
    up = "../" * (len(PurePosixPath(page.file.dest_uri).parts) - 1)
    return output.replace("https://unpkg.com/iframe-worker/shim", f"{up}assets/iframe-worker.js")


def _linked(file: File) -> set[str]:
    """The files of the checkout, no pages of the site, that a page links to."""
    place = PurePosixPath(file.src_uri)
    text = file.content_string
    if place.parts[0] == "project":
        paths = {link[1] for link in INSIDE.finditer(text) if not link[1].startswith(("docs/", "../"))}
    else:
        paths = {_checkout_path(place, link) for link in OUTSIDE.finditer(text)}
    return {path for path in paths if path not in PAGES and (ROOT / path).is_file()}


def _checkout_path(place: PurePosixPath, link: re.Match[str]) -> str:
    """The path in the checkout that a link of a page in docs/ leads to."""
    folder = (ROOT / "docs" / place).parent
    try:
        return (folder / link[1] / link[2]).resolve().relative_to(ROOT).as_posix()
    except ValueError:
        return link[2]


def _ending(path: str) -> str:
    """Texts that a browser would save, or that mkdocs would take for pages, are shown as plain texts."""
    return ".txt" if Path(path).suffix in ("", ".md", ".conf", ".sbatch", ".service", ".timer", ".SummEval") else ""


#: Words that are no numbers, and what they mean here.
TERMS = {
    "Board": "A task with its instances, the generators and metrics that compete on it, and what people said.",
    "Instance": "One input of a task, with its references: a source sentence, an article, a picture.",
    "Generator": "What writes texts: a translation system, a summariser, or a person. A submission is its outputs.",
    "Metric": "A program that gives each output a score. It may read the input, the references, both or neither.",
    "Reference": "A text that a person wrote as a good output. A named set of them is a reference set.",
    "Judgment": "What people said of one output: a rating, error spans, or a choice between two.",
    "Source of judgments": "Who judged, and how: a publication, or a campaign. Several can stand side by side.",
    "Dimension": "What was judged: fluency, adequacy, overall. Each has its own scale.",
    "Score": "One number of one metric for one output.",
    "Cell": "All scores of one metric for one generator. Which cells are missing is the work list.",
    "Signature": "A short text that says how a number was made: metric, version, options. Equal ones, equal numbers.",
    "Reference-free metric": "A metric that reads no reference. Outputs made for it can fool it: see the audit.",
    "Statistic of the text": "A column such as length that is no judgment of quality. It is shown and never leads.",
    "Sentinel": "A fit to the surface of outputs alone. A metric that can't beat it has not read the texts.",
    "Audit": "Outputs made to please a metric, shown to the other metrics: what does it reward?",
    "Campaign": "A round of human judgments: template, outputs, annotators, test questions, results.",
    "Template": "What annotators are asked: the question, its scale, its instructions.",
    "Test question": "An item whose right answer is known, mixed among the others, to notice careless answers.",
    "Phase": "A stretch of a shared task. Results of a blind phase are hidden until the owner reveals them.",
    "Suite": "Several boards on which the same metrics are judged, with one ranking over all.",
    "Ranking": "A snapshot: which scores were used, how, with which seed, and what came out. It never changes.",
}
GLOSSARY = ROOT / "docs" / "glossary.md"


def glossary() -> str:
    """The page of words: numbers as the site explains them, then terms."""
    from billboards.site.pages.explanations import EXPLANATIONS

    lines = ["# Glossary", "", "## Numbers", "", "A site says the same beside each number, and on its help page.", ""]
    for number in EXPLANATIONS.values():
        lines += [f"### {number.name}", "", number.what, ""]
        lines += [f"- **How to read it.** {number.reading}", f"- **When not to trust it.** {number.caution}", ""]
    lines += ["## Terms", ""]
    lines += [f"- **{term}**: {meaning}" for term, meaning in sorted(TERMS.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GLOSSARY.write_text(glossary(), "utf-8")
