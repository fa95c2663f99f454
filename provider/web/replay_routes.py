"""Routes of what steps did: to records, by replay; to the distribution of values, by profiles."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import Response
from pydantic import TypeAdapter

from provspark.index_store.profiles.profile import ColumnProfile, Profile
from provspark.model.datasets import Dataset
from provspark.model.json_form import jsonable
from provspark.model.steps import Manifest
from provspark.web import describe, models
from provspark.web import replay_models as told
from provspark.web.login import Viewer
from provspark.web.problems import RESPONSES, TOO_MANY
from provspark.web.replays import Replays
from provspark.web.routes import Seen
from provspark.web.scope import UserScope
from provspark.web.threads import Route, as_json, in_thread

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)

_TOP = 12
_COLUMNS = 200
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
        return {
            "dataset": str(at.version.dataset),
            "version": at.version.id,
            "rows": ids.tolist(),
            "step": query.step,
            "direction": query.direction,
        }

    def answer(passages: list[dict[str, Any]]) -> Response:
        made = told.ReplayJson(passages=[told.PassageJson.model_validate(_named(scope, p)) for p in passages])
        return as_json(made, _REPLAY)

    return await in_thread(answer, await _run(request, scope, await in_thread(asked)))


@router.get("/steps/{step}/profiles")
def step_profiles(
    scope: Seen,
    step: Annotated[str, Path(max_length=200)],
    output: DatasetQuery = None,
    source: DatasetQuery = None,
) -> told.ProfilesJson:
    """Tell the distribution of values in what a step read and in what it wrote, column by column."""
    manifest = scope.step(step)
    if not scope.visible.values:
        raise HTTPException(403, "values are not shown here, nor how they are distributed")
    impact = scope.prov.impact(manifest.step, source=_uri(scope, source), output=_uri(scope, output))
    pairs = impact.pairs()
    hidden = [_hidden(scope, manifest.step, profile) for profile in (impact.before, impact.after)]
    return told.ProfilesJson(
        step=manifest.step,
        before=describe.dataset(Dataset.parse(impact.before.dataset), scope.visible),
        before_rows=impact.before.rows,
        after=describe.dataset(Dataset.parse(impact.after.dataset), scope.visible),
        after_rows=impact.after.rows,
        columns=[
            told.ProfilePairJson(name=_name(scope, manifest, name), masked=True, before=None, after=None)
            if (old is not None and old.name in hidden[0]) or (new is not None and new.name in hidden[1])
            else told.ProfilePairJson(name=name, masked=False, before=_column(old), after=_column(new))
            for name, old, new in pairs[:_COLUMNS]
        ],
        total=len(pairs),
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
        if not scope.visible.values:
            raise HTTPException(403, "values are not shown here, nor how they are distributed")
        return {"step": manifest.step, "operation": operation, "child": child, "output": _uri(scope, output)}

    def answer(spread: dict[str, Any]) -> Response:
        pairs = spread.pop("columns")
        columns = [
            told.ProfilePairJson(
                name=p["name"], masked=p["masked"], before=_column_of(p["before"]), after=_column_of(p["after"])
            )
            for p in pairs[:_COLUMNS]
        ]
        made = told.OperationSpreadJson(step=step, columns=columns, total=len(pairs), **spread)
        return as_json(made, _SPREAD)

    return await in_thread(answer, await _run(request, scope, await in_thread(asked)))


async def _run(request: Request, scope: UserScope, question: dict[str, Any]) -> Any:
    """Have a process of replays answer, over what may be seen."""
    replays: Replays = request.app.state.replays
    viewer: Viewer = request.state.provspark_viewer
    whole = {
        "url": scope.prov.url,
        "dags": None if scope.dags is None else sorted(scope.dags),
        "policy": jsonable(scope.visible.policy),
        **question,
    }
    return await replays.run(whole, viewer.user)


def _name(scope: UserScope, manifest: Manifest, name: str) -> str:
    told = (scope.visible.name_in(manifest.step, w.index, name) for w in manifest.writes)
    return next((t for t in told if t != name), name)


def _hidden(scope: UserScope, step: str, profile: Profile) -> set[str]:
    """The columns of a profile that are masked in its version, as the step knows it."""
    nodes = (n for n in scope.prov.graph.nodes if n.step == step)
    known = (at for n in nodes for at in (n.output, *n.inputs.values()))
    same = [at for at in known if (str(at.version.dataset), at.version.id) == (profile.dataset, profile.version)]
    names = {c.name for c in profile.columns}
    return set[str]().union(*(names.difference(scope.visible.columns(at)) for at in same)) if same else names


def _uri(scope: Seen, dataset: str | None) -> str | None:
    return None if dataset is None else str(scope.dataset(dataset))


def _column(profile: ColumnProfile | None) -> told.ColumnProfileJson | None:
    return None if profile is None else _column_of(jsonable(profile))


def _column_of(profile: dict[str, Any] | None) -> told.ColumnProfileJson | None:
    if profile is None:
        return None
    names = ("type", "count", "nulls", "distinct", "mean", "deviation", "low", "high", "histogram")
    top = [(s["value"], s["count"]) for s in profile["top"][:_TOP]]
    return told.ColumnProfileJson(**{name: profile[name] for name in names}, top=top)


def _named(scope: Seen, passage: dict[str, Any]) -> dict[str, Any]:
    """Name data sets and steps as the API does."""
    stages = [
        {**s, "lines": [{**line, "sources": [_dataset(scope, x) for x in line["sources"]]} for line in s["lines"]]}
        for s in passage["stages"]
    ]
    return {**_dataset(scope, passage), "step": describe.step(scope.step(passage["step"])), "stages": stages}


def _dataset(scope: Seen, what: dict[str, Any]) -> dict[str, Any]:
    described: models.DatasetJson = describe.dataset(Dataset.parse(what["dataset"]), scope.visible)
    return {**what, "dataset": described}
