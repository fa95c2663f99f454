"""Former columns: what a column was before some steps, found by the lineage of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from provspark.index_store.query.bits import ROWS, identity, named
from provspark.index_store.query.column_maps import names_of
from provspark.index_store.query.column_walk import ColumnsAt, carry
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.walk import plan
from provspark.model.datasets import Dataset
from provspark.model.errors import ConditionError, UnknownDatasetError
from provspark.model.operations import Dependence

__all__ = ["former_columns", "former_of", "is_value", "one_to_one", "upstream"]


def upstream(linker: Linker, after: VersionReference, dataset: Dataset) -> VersionReference:
    """Return the version of a dataset that a version was made from, through any number of steps.

    Raises
    ------
    UnknownDatasetError
        The version was not made from that dataset.
    ConditionError
        It was made from several versions of the dataset.
    """
    read = [at for node in plan(linker, [after], "backward").nodes for at in node.inputs.values()]
    same = {at.key: at for at in read if at.version.dataset == dataset}
    if not same:
        raise UnknownDatasetError(str(dataset), sorted({str(at.version.dataset) for at in read}))
    if len(same) > 1:
        ids = " and ".join(sorted({at.version.id for at in same.values()}))
        raise ConditionError(
            f"{after.version.dataset} came from several versions of {dataset} ({ids}), so it is not clear which one to "
            f"compare it with. Compare the steps in between one by one."
        )
    return next(iter(same.values()))


def former_columns(linker: Linker, after: VersionReference, before: VersionReference) -> dict[str, str]:
    """Return the column of `before` that columns of `after` were, perhaps renamed or computed anew.

    It is the one with the same name, if its value goes in or a CASE tests it; else the only one whose value goes in;
    else, if there is none, the only one that a CASE tests, unless that still exists under its name. A column made from
    several has none, nor has any column if a step in between stored no operations.
    """
    names, sources = names_of(after), names_of(before)
    start = ColumnsAt(after, identity(range(1, 1 + len(names))))
    carried = carry(linker, start, "backward", before.version.dataset, context=False)
    if any(stop.what == "columns" for stop in carried.stops):
        return {}
    made_of: dict[str, dict[str, bool]] = {}
    for part in carried.parts:
        for out, src, may, *_ in part.bits if part.at.key == before.key else ():
            if ROWS not in (out, src):
                olds = made_of.setdefault(names[out - 1], {})
                for _, dependence, _ in named(may):
                    goes_in = is_value(dependence)
                    if goes_in is not None:
                        olds[sources[src - 1]] = olds.get(sources[src - 1], False) or goes_in
    return former_of(made_of)


def is_value(dependence: Dependence) -> bool | None:
    """Return True if a value of this dependence goes in, False if a CASE tests it, and None for all others.

    Values aggregated from many rows, such as a sum, make a column of its own.
    """
    if dependence in ("identity", "transformation"):
        return True
    return False if dependence == "conditional" else None


def former_of(made_of: Mapping[str, Mapping[str, bool]]) -> dict[str, str]:
    """Choose, from the columns that each column was made of and whether their values went in, the one it was."""
    told = ((new, _own(new, olds)) for new, olds in made_of.items())
    former = {new: old for new, old in told if old is not None}
    still = {old for new, old in former.items() if new.lower() == old.lower()}
    return {new: old for new, old in former.items() if old not in still or new.lower() == old.lower()}


def one_to_one(former: Mapping[str, str]) -> dict[str, str]:
    """Leave out columns that came from one column, as in a one-hot encoding: none of them replaced it."""
    times = Counter(former.values())
    return {new: old for new, old in former.items() if times[old] == 1}


def _own(name: str, olds: Mapping[str, bool]) -> str | None:
    same = _only(old for old in olds if old.lower() == name.lower())
    return same or _only([old for old, goes_in in olds.items() if goes_in] or olds)


def _only(names: Iterable[str]) -> str | None:
    every = list(names)
    return every[0] if len(every) == 1 else None
