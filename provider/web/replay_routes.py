"""Routes for replays and profiles of steps and operations."""

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
    """Return up to 20 rows before and after each operation of steps, by a replay.

    A replay runs the stored operations again, not the user's script. It takes seconds, since Spark has to start, and is
    cancelled if the client disconnects.
    """

    def asked() -> dict[str, Any]:
        at, ids = scope.asked(query)
        if not 0 < len(ids) <= models.MAX_REPLAYED:
            raise HTTPException(
                422, f"{len(ids):,} rows are selected for a replay. Select 1 to {models.MAX_REPLAYED} rows."
            )
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
    """Return the distributions of values in the input and the output of a step, column by column."""
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
    """Return the distributions of values before and after an operation, by a replay of the step.

    If the operation reads from several others, `child` chooses one of them. The replay takes seconds or longer,
    and is cancelled if the client disconnects.
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
    """Return the item of one operation that the operation reads from."""
    known: tuple[told.OperationSpreadJson | told.UntoldJson, ...] = (*spreads.spreads, *spreads.untold)
    matches = [s for s in known if child in (None, s.child)]
    if len(matches) != 1:
        children = " and ".join(str(s.child) for s in known if s.child is not None) or "none"
        raise ConditionError(f"The operation reads from operations: {children}. Choose one of them with `child`.")
    if isinstance(matches[0], told.UntoldJson):
        raise ReplayError(matches[0].why)
    return matches[0]


def _uri(scope: Seen, dataset: str | None) -> str | None:
    return None if dataset is None else str(scope.dataset(dataset))
