"""Why no row satisfies these conditions, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from provspark.index_store.query.question import question
from provspark.index_store.values.conditions import Condition
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.why_not import WhyNot, look_for

__all__ = ["why_not_pages"]


@question()
def why_not_pages(
    prov: Replaying,
    dataset: str,
    where: Sequence[Condition | tuple[str, str, Any]],
    *,
    version: str | None = None,
    run: str | None = None,
    as_of: datetime | str | None = None,
    progress: Progress | None = None,
    functions: bool = False,
) -> Iterator[WhyNot]:
    """Tell why no row satisfies a condition page by page, where many input rows do.

    Parameters are those of `why_not`.
    """
    looked = look_for(prov, dataset, where, {"version": version, "run": run, "as_of": as_of})
    first, more = 0, True
    while more:
        with prov.following(progress, functions) as replayer:
            page = looked.page(replayer, first)
        yield page
        first, more = first + replayer.most, any(m.rest for m in page.missed)
