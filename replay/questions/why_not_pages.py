"""Why no row satisfies these conditions, page by page."""

from __future__ import annotations

from collections.abc import Iterator

from provspark.index_store.query.parameter_types import Conditions, DatasetName, Moment, RunId, VersionId
from provspark.index_store.query.question import question
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.why_not import WhyNot, look_for

__all__ = ["why_not_pages"]


@question(pages_of="why_not")
def why_not_pages(
    prov: Replaying,
    dataset: DatasetName,
    where: Conditions,
    *,
    version: VersionId | None = None,
    run: RunId | None = None,
    as_of: Moment | None = None,
    progress: Progress | None = None,
    functions: bool = False,
) -> Iterator[WhyNot]:
    """Explain page by page why no row satisfies a condition, if many input rows do.

    Parameters are those of `why_not`.
    """
    looked = look_for(prov, dataset, where, {"version": version, "run": run, "as_of": as_of})
    first, more = 0, True
    while more:
        with prov.following(progress, functions) as replayer:
            page = looked.page(replayer, first)
        yield page
        first, more = first + replayer.most, any(m.rest for m in page.missed)
