"""Routes of what steps did: to records, by replay; to the distribution of values, by profiles."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import Response
from pydantic import TypeAdapter

from provspark.model.errors import ConditionError, ReplayError
from provspark.web import models, profile_forms
from provspark.web import replay_models as told
from provspark.web.paging import capped
from provspark.web.problems import RESPONSES, TOO_MANY
from provspark.web.replays import replayed
from provspark.web.routes import Seen
from provspark.web.threads import Route, as_json, in_thread

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)

_REPLAY, _SPREAD = TypeAdapter(told.ReplayJson), TypeAdapter(told.OperationSpreadJson)
DatasetQuery = Annotated[str | None, Query(pattern="^[0-9a-f]{16}$")]


@router.post("/replay", response_model=told.ReplayJson, responses=TOO_MANY)
async def replay(request: Request, scope: Seen, query: told.ReplayQuery) -> Response:
    """Tell rows before and after each operation of steps, by running stored operations again; at most 20 rows.

    Never the user's script: see `provspark.replay`. Takes seconds, as Spark has to start; ends where nobody waits.
    """

    def asked() -> dict[str, Any]:
        at, ids = scope.asked(query)
        if not 0 < len(ids) <= models.MAX_REPLAYED:
            raise HTTPException(422, f"{len(ids):,} rows were selected to replay; select 1 to {models.MAX_REPLAYED}")
        if query.step is not None:
            scope.step(query.step)
        which = {"step": query.step} if query.step is not None else {"direction": query.direction}
        return {"dataset": str(at.version.dataset), "version": at.version.id, "rows": ids.tolist(), **which}

    arguments = await in_thread(asked)
    answer = await replayed(request, scope, "history" if query.step is None else "replay", arguments, 0, capped(None))
    return await in_thread(lambda: as_json(told.ReplayJson.model_validate(answer), _REPLAY))


@router.get("/steps/{step}/profiles")
def step_profiles(
    scope: Seen,
    step: Annotated[str, Path(max_length=200)],
    output: DatasetQuery = None,
    source: DatasetQuery = None,
) -> told.ProfilesJson:
    """Tell the distribution of values in what a step read and in what it wrote, column by column."""
    manifest = scope.step(step)
    profile_forms.shown(scope.visible)
    return profile_forms.impact(
        scope, scope.prov.impact(manifest.step, source=_uri(scope, source), output=_uri(scope, output))
    )


@router.get(
    "/steps/{step}/operations/{operation}/profiles", response_model=told.OperationSpreadJson, responses=TOO_MANY
)
async def operation_profiles(
    request: Request,
    scope: Seen,
    step: Annotated[str, Path(max_length=200)],
    operation: Annotated[int, Path(ge=0, le=1_000_000)],
    child: Annotated[int | None, Query(ge=0, le=1_000_000)] = None,
    output: DatasetQuery = None,
) -> Response:
    """Tell how values are distributed before and after an operation, by running the step's operations again.

    `child` is one of the operations whose rows it read, where there are several. Takes seconds or, over many rows,
    longer; ends where nobody waits.
    """

    def asked() -> dict[str, Any]:
        manifest = scope.step(step)
        profile_forms.shown(scope.visible)
        which = {} if output is None else {"output": _uri(scope, output)}
        return {"step": manifest.step, "operations": [operation], **which}

    arguments = await in_thread(asked)
    answer = await replayed(request, scope, "operation_profiles", arguments, 0, capped(None))
    return await in_thread(lambda: as_json(_chosen(told.OperationSpreadsJson.model_validate(answer), child), _SPREAD))


def _chosen(spreads: told.OperationSpreadsJson, child: int | None) -> told.OperationSpreadJson:
    """The rows before that are asked about: those of one operation."""
    known: tuple[told.OperationSpreadJson | told.UntoldJson, ...] = (*spreads.spreads, *spreads.untold)
    matches = [s for s in known if child in (None, s.child)]
    if len(matches) != 1:
        children = " and ".join(str(s.child) for s in known if s.child is not None) or "none"
        raise ConditionError(f"the operation reads the rows of operations: {children}; say which with child=")
    if isinstance(matches[0], told.UntoldJson):
        raise ReplayError(matches[0].why)
    return matches[0]


def _uri(scope: Seen, dataset: str | None) -> str | None:
    return None if dataset is None else str(scope.dataset(dataset))
