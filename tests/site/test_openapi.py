"""Requests made from the interface's own description: none of them may bring the server down."""

from __future__ import annotations

import os
from typing import Any

import pytest
import schemathesis
from api_sites import SmallSite, small_site
from hypothesis import HealthCheck, Phase, given, seed, settings

from billboards.site.web.routers import ROUTERS

#: Every answer that is an answer; nothing from 500 on is.
ANSWERS = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 410, 413, 422}
#: Requests made up for each route; `make studies` makes up more.
EXAMPLES = max(6, int(os.environ.get("BILLBOARDS_FUZZ", "0")) // 20)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    found = small_site(tmp_path_factory.mktemp("site"))
    (found.site.data / "suites").mkdir()
    (found.site.data / "suites" / "0.toml").write_text('[[boards]]\nfolder = "../../small"\n')
    found.submit()
    found.work()
    return found


@pytest.fixture(scope="module")
def operations(small: SmallSite) -> dict[str, Any]:
    """What can be asked, by its method and path."""
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", small.client.app)
    found: list[Any] = [result.ok() for result in schema.get_all_operations()]  # type: ignore[union-attr]
    return {operation.label: operation for operation in found}


LABELS = sorted(f"{method} {route.path}" for router in ROUTERS for route in router.routes for method in route.methods)  # type: ignore[attr-defined]


@pytest.mark.parametrize("label", LABELS)
def test_no_request_that_is_described_brings_the_server_down(
    small: SmallSite, operations: dict[str, Any], label: str
) -> None:
    operation = operations[label]
    answered = []

    @seed(0)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        response = case.call(headers={"authorization": f"Bearer {small.tokens['owner']}"})
        assert response.status_code in ANSWERS, f"{response.status_code}: {response.text[:300]}"
        if response.status_code in (200, 201):
            operation.validate_response(response)
        answered.append(response.status_code)

    ask()
    assert answered


def test_every_operation_is_explained(operations: dict[str, Any], small: SmallSite) -> None:
    found = small.client.get("/api/v1/openapi.json").json()
    described = [operation for path in found["paths"].values() for operation in path.values()]
    assert len(described) == len(operations) > 30
    assert all(operation.get("description") for operation in described)


#: What may hold anything, because a template, a program, a model or an older version decides it.
OPEN = {
    "AnswerLine.answers", "Answered.answers", "BoardFacts.settings", "EndpointSent.manifest", "Ensemble.model",
    "EnsembleDocument.model", "EntryFacts.detail", "HubModel.manifest", "ImageSent.manifest", "ItemFacts.answers",
    "JudgmentFacts.details", "PageLine.answers", "Ruling.detail", "SubmissionFacts.settings", "Surveyed.answers",
}  # fmt: skip


def test_what_may_hold_anything_is_named(small: SmallSite) -> None:
    """Everything else has a type: no route takes or gives an object of which nothing is said."""
    described = small.client.get("/api/v1/openapi.json").json()

    def untyped(schema: Any) -> bool:
        if isinstance(schema, list):
            return any(map(untyped, schema))
        if not isinstance(schema, dict):
            return False
        is_any = schema.get("type") == "object" and schema.get("additionalProperties") in (True, {})
        return (is_any and "properties" not in schema) or any(map(untyped, schema.values()))

    assert [path for path, operations in described["paths"].items() if untyped(operations)] == []
    parts = {
        f"{name.rpartition('__')[2]}.{word}"
        for name, schema in described["components"]["schemas"].items()
        for word, inner in schema.get("properties", {}).items()
        if untyped(inner)
    }
    assert parts == OPEN
