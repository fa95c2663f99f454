"""Conversion of profiles to the API's models. Masked columns appear with their names only."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import ColumnProfile, Profile
from provspark.model.datasets import Dataset
from provspark.model.json_form import jsonable
from provspark.web import describe
from provspark.web import replay_models as told
from provspark.web.scope import UserScope
from provspark.web.visible import Visible

__all__ = ["COLUMNS", "column", "impact", "profile", "shown"]

COLUMNS = 200
"""Maximum number of columns in a response."""
_TOP = 12


def shown(visible: Visible) -> None:
    """Raise an error if values are hidden, since their distribution would reveal them."""
    if not visible.values:
        raise HTTPException(
            403, "Values and their distributions are hidden ([provspark] show_values is False). Ask an administrator."
        )


def impact(scope: UserScope, compared: Impact) -> told.ProfilesJson:
    """Describe the distributions of values before and after a step, column by column."""
    shown(scope.visible)
    pairs = compared.pairs()
    hidden = [_hidden(scope, p, compared.step) for p in (compared.before, compared.after)]
    return told.ProfilesJson(
        step=compared.step,
        before=describe.named(compared.before.dataset, scope.visible),
        before_rows=compared.before.rows,
        after=describe.named(compared.after.dataset, scope.visible),
        after_rows=compared.after.rows,
        columns=[
            told.ProfilePairJson(name=_name(scope, compared.step, name), masked=True, before=None, after=None)
            if (old is not None and old.name in hidden[0]) or (new is not None and new.name in hidden[1])
            else told.ProfilePairJson(name=name, masked=False, before=column(old), after=column(new))
            for name, old, new in pairs[:COLUMNS]
        ],
        total=len(pairs),
    )


def profile(scope: UserScope, of: Profile) -> told.ProfileJson:
    """Describe the distribution of values in a version, or in some of its rows."""
    shown(scope.visible)
    hidden = _hidden(scope, of)
    columns = [
        told.ColumnDistributionJson(
            name=str(scope.visible.name_of(of.dataset, of.version, c.name)),
            masked=c.name in hidden,
            profile=None if c.name in hidden else column(c),
        )
        for c in of.columns
    ]
    return told.ProfileJson(
        dataset=describe.named(of.dataset, scope.visible),
        version=of.version,
        rows=of.rows,
        columns=columns[:COLUMNS],
        total=len(columns),
        left_out=[str(scope.visible.name_of(of.dataset, of.version, name)) for name, _ in of.left_out],
    )


def column(of: ColumnProfile | None) -> told.ColumnProfileJson | None:
    """Describe the distribution of values in a column."""
    if of is None:
        return None
    content: dict[str, Any] = jsonable(of)
    names = ("type", "count", "nulls", "distinct", "mean", "deviation", "low", "high", "histogram")
    top = [(s["value"], s["count"]) for s in content["top"][:_TOP]]
    return told.ColumnProfileJson(**{name: content[name] for name in names}, top=top)


def _hidden(scope: UserScope, of: Profile, step: str = "") -> set[str]:
    """Return the masked columns of a profile: as `step` knows its version, else as any step does, else all columns."""
    known = [at for at in scope.prov.graph.references(Dataset.parse(of.dataset)) if at.version.id == of.version]
    nodes = [n for n in scope.prov.graph.nodes if n.step == step]
    mine = [at for n in nodes for at in (n.output, *n.inputs.values())]
    same = [at for at in mine if (str(at.version.dataset), at.version.id) == (of.dataset, of.version)] or known
    names = {c.name for c in of.columns}
    return set[str]().union(*(names.difference(scope.visible.columns(at)) for at in same)) if same else names


def _name(scope: UserScope, step: str, name: str) -> str:
    told = (scope.visible.name_in(step, w.index, name) for w in scope.step(step).writes)
    return next((t for t in told if t != name), name)
