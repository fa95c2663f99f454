"""Checks of the columns and the direction of a question."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import get_args

from provspark.index_store.query.arguments import several
from provspark.index_store.query.asking import Asked
from provspark.index_store.query.bits import ROWS
from provspark.index_store.query.column_maps import names_of
from provspark.index_store.query.dropped_columns import Drop, drops_of
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.parameter_types import ColumnNames
from provspark.index_store.query.walk import plan
from provspark.model.errors import ConditionError, UnknownColumnError

__all__ = ["chosen", "known_direction", "positions"]


def known_direction(direction: str, known: Sequence[str] = get_args(Direction)) -> None:
    """Raise `ConditionError` for an unknown direction."""
    if direction not in known:
        *first, last = map(repr, known)
        raise ConditionError(f"direction must be {', '.join(first)} or {last}, found {direction!r}")


def positions(asked: Asked, columns: ColumnNames, direction: Direction, existence: bool) -> list[int]:
    """Return the positions of the columns, and of the rows themselves if the question includes them.

    It does backward with `existence`, and forward if no columns are selected.
    """
    rows = existence if direction == "backward" else columns is None
    return [*chosen(asked, columns), *([ROWS] if rows else [])]


def chosen(asked: Asked, columns: ColumnNames) -> list[int]:
    """Return the positions of columns in a version, from 1.

    Raises
    ------
    UnknownColumnError, ConditionError
    """
    names = names_of(asked.at)
    if columns is None:
        if not names:
            raise ConditionError(
                f"The store does not know the columns of {asked.at.version.dataset}. Use backward or forward for its "
                f"rows."
            )
        return list(range(1, 1 + len(names)))
    return [_position(asked, name, names) for name in several(columns, "columns")]


def _position(asked: Asked, name: str, names: tuple[str, ...]) -> int:
    same = [i for i, n in enumerate(names) if n == name] or [
        i for i, n in enumerate(names) if n.lower() == name.lower()
    ]
    if len(same) == 1:
        return 1 + same[0]
    ends = _ends(asked, name)
    if ends:
        hint = " and ".join(
            f"it was dropped on the way by {d.text}{f' ({d.site})' if d.site else ''} of step {d.step}" for d in ends
        )
    else:
        near = get_close_matches(name, names, 3, 0.6)
        hint = "did you mean " + " or ".join(near) + "?" if near else "it has " + ", ".join(names)
    raise UnknownColumnError(f"{asked.at.version.dataset} has no column {name!r}; {hint}")


def _ends(asked: Asked, name: str) -> list[Drop]:
    """Return where a column of the version's sources was dropped before the version was written."""
    back = asked.view.back
    route = plan(back, [asked.at], "backward").nodes
    steps = {(n.step, n.write.index) for n in route}
    read: list[VersionReference] = [at for n in route for at in n.inputs.values() if name in names_of(at)]
    drops = {d for at in read for d in drops_of(back, at, [1 + names_of(at).index(name)]).lines}
    return sorted(d for d in drops if (d.step, d.write) in steps)
