"""Templates for programs of owners: those that come with the package; one's own, checked and as annotators meet it."""

from __future__ import annotations

from typing import Any

from fastapi import Depends
from pydantic import BaseModel, Field

from billboards.campaigns.preview import preview
from billboards.campaigns.template_files import (
    LARGEST,
    SentTemplate,
    open_template,
    parse_template,
    sent_template,
    shipped,
)
from billboards.campaigns.templates import Template
from billboards.site.accounts.permissions import Permission
from billboards.site.accounts.routes import Strict
from billboards.site.web.api_tagging import tagged_router

router = tagged_router("campaigns")
OWNERS = [Depends(Permission("administer"))]


class TemplateFacts(BaseModel):
    """A template: who it is, and what is asked."""

    name: str
    title: str
    signature: str = Field(description="name, version and digest")
    dimensions: list[str]


class TemplatePreview(TemplateFacts):
    preview: str = Field(description="in plain text, what annotators are told, shown and asked")


class OwnTemplate(Strict):
    """The text of a template file."""

    source: str = Field(max_length=LARGEST)


@router.get("/templates", dependencies=OWNERS)
def list_templates() -> list[TemplateFacts]:
    """The templates that come with the package."""
    return [TemplateFacts(**_facts(open_template(name))) for name in shipped()]


@router.post("/templates/preview", dependencies=OWNERS)
def preview_template(sent: OwnTemplate) -> TemplatePreview:
    """Your own template as annotators will meet it, or all that is wrong with it; nothing is kept."""
    found = own_template(sent.source)
    template = parse_template(found.text, found.name)
    return TemplatePreview(**_facts(template), preview=preview(template))


def own_template(source: str) -> SentTemplate:
    """A template that came as text; JSON may hold halves of a character, which no file can."""
    return sent_template(source.encode("utf-8", "surrogatepass"), "template_source")


def _facts(template: Template) -> dict[str, Any]:
    names = [question.name for question in template.dimensions]
    return {"name": template.name, "title": template.title, "signature": template.signature, "dimensions": names}
