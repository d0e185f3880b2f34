"""How BERTScore matches one output with one reference, token by token, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fastapi import APIRouter
from markupsafe import Markup

from billboards.errors import NotEnoughData, UnknownName
from billboards.site.pages.instances import instance_named, texts_of
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: A page that came too early asks again after so many seconds.
AGAIN = (("refresh", "3"),)


def show_matching(ask: Ask) -> Body:
    """The matching of an output with a reference, both of them texts that this reader may read."""
    look = ask.look()
    instance = instance_named(look, ask.params["instance"])
    texts = texts_of(look, instance, look.board.position[instance.id])
    references = {name: text for name, (kind, text) in texts.items() if kind == "reference"}
    outputs = {name: text for name, (kind, text) in texts.items() if kind != "reference"}
    if not references or not outputs:
        hidden = "" if look.referenced else ": this board keeps its references hidden"
        raise NotEnoughData(f"instance {instance.id} has no output or no reference to match here{hidden}")
    output = _chosen(ask.query.get("output"), "output of this instance", outputs)
    reference = _chosen(ask.query.get("reference"), "reference of this instance", references)
    matching = ask.pages.matcher.match(outputs[output], references[reference])
    body = ask.board_page(
        "matching",
        look,
        "instances",
        heading="How BERTScore matches",
        instance=instance,
        output=output,
        reference=reference,
        outputs=outputs,
        references=references,
        matching=matching,
        # The picture escapes its own words.
        picture=None if matching is None else Markup(matching.svg()),
    )
    return body if matching is not None else replace(body, status=202, headers=AGAIN)


def _chosen(asked: str | None, kind: str, texts: Mapping[str, str]) -> str:
    """The name asked for, or the first there is."""
    if asked and asked not in texts:
        raise UnknownName(kind, asked, texts)
    return asked or next(iter(texts))


router.add_route(
    "/boards/{board}/matching/{instance:path}",
    reading(show_matching, words=("output", "reference")),
    include_in_schema=False,
)
