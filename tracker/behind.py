"""Which reads on the driver stand behind the rows of a plan that is about to run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from provspark.tracker.after_reads import Behind

if TYPE_CHECKING:
    from provspark.tracker.caches import Caches
    from provspark.tracker.driver_reads import DriverReads
    from provspark.tracker.jvm import Jvm

__all__ = ["behind"]


def behind(jvm: Jvm, caches: Caches, reads: DriverReads, analysed: Any, cut: int) -> Behind:
    """Return what of the first `cut` reads stands behind the rows of an analysed plan.

    Parameters
    ----------
    jvm : Jvm
    caches : Caches
    reads : DriverReads
    analysed : LogicalPlan
        The user's, what is cached not replaced.
    cut : int
        How many reads there were when it began.
    """
    size = reads.rows(cut)
    if not size:
        return Behind()
    plans = list(parts(jvm, caches, analysed))
    models = {int(number) for plan in plans for number in str(jvm.plans.models(plan)).split()}
    context = tuple(reads.span(number) for number in sorted(models) if number < cut)
    return Behind(size, 0, context)


def parts(jvm: Jvm, caches: Caches, analysed: Any) -> Iterator[Any]:
    """Yield a plan and those that its checkpoints and RDDs were computed from."""
    yield analysed
    for plan in jvm.plans.computed(analysed):
        yield from caches.plans_of(plan)
