"""Templates as annotators meet them: instructions, worked examples and every question, to look at, not to answer."""

from __future__ import annotations

from fastapi import APIRouter

from billboards.campaigns.template_files import open_template, shipped, template_source
from billboards.campaigns.templates import Template
from billboards.errors import UnknownName
from billboards.site.campaigns.item_view import paragraphs, view_examples
from billboards.site.campaigns.views import preview_item
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def show_templates(ask: Ask) -> Body:
    """The templates that come with the package."""
    return ask.page("campaign_templates", templates=[open_template(name) for name in shipped()])


def show_template(ask: Ask) -> Body:
    """One of them; only a shipped name leads anywhere, never a path."""
    name = ask.params["template"]
    if name not in shipped():
        raise UnknownName("template", name, shipped())
    return preview_page(ask, open_template(name), back=("/templates", "Templates"))


def send_file(ask: Ask) -> Body:
    """A shipped template's file, to begin one's own with."""
    name = ask.params["template"]
    if name not in shipped():
        raise UnknownName("template", name, shipped())
    head = (("content-disposition", f'attachment; filename="{name}.toml"'),)
    return Body(template_source(name).encode(), "application/toml", headers=head)


def preview_page(ask: Ask, template: Template, *, back: tuple[str, str]) -> Body:
    """A template's page, with a way back."""
    return ask.page(
        "campaign_preview",
        about=template,
        back=back,
        instructions=paragraphs(template.instructions),
        examples=view_examples(template),
        item=preview_item(template),
        steps=len(template.stages),
        first_shows=_shown_first(template),
        previewed=True,
    )


def _shown_first(template: Template) -> str:
    """What the first stage shows, where a later one shows more."""
    first = template.visible(0)
    return " and ".join(sorted(first)) if first != template.visible(len(template.stages) - 1) else ""


router.add_route("/templates", reading(show_templates), include_in_schema=False)
router.add_route("/templates/{template}/file", reading(send_file), include_in_schema=False)
router.add_route("/templates/{template}", reading(show_template), include_in_schema=False)
