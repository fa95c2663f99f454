"""The API's description: the file is the app's own, and the app holds to it."""

import json
from pathlib import Path

import pytest
from _http import build, client

DESCRIPTION = Path(__file__).resolve().parents[3] / "docs" / "openapi.json"


def test_the_file_is_the_apps_own(tmp_path: Path) -> None:
    app = client(tmp_path).app
    assert json.loads(DESCRIPTION.read_text()) == json.loads(json.dumps(app.openapi())), "run make openapi"  # type: ignore[attr-defined]


@pytest.mark.long
def test_generated_requests_get_described_answers(tmp_path: Path) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, seed, settings

    # A description can't say which conditions fit which columns.
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    app = client(build(tmp_path)).app
    schema = schemathesis.openapi.from_asgi("/openapi.json", _with_description(app))

    for found in schema.get_all_operations():
        operation = found.ok()

        @seed(20)
        @settings(
            max_examples=60,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def check(case) -> None:  # type: ignore[no-untyped-def]
            case.call_and_validate(headers={"who": "me"}, excluded_checks=[positive_data_acceptance])

        check()


def _with_description(app):  # type: ignore[no-untyped-def]
    """The app below /provspark, with its description for the generator, as `provspark serve` has it."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Mount, Route

    from provspark.web.local import nothing_there

    routes = [Route("/openapi.json", lambda _: JSONResponse(app.openapi())), Mount("/provspark", app)]
    return Starlette(routes=routes, exception_handlers={404: nothing_there})
