"""Search for the reads on the driver that the rows of a plan may derive from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from provspark.tracker.script.hidden_values import Hidden, hidden
from provspark.tracker.session.fitted_models import UNSHOWN
from provspark.tracker.session.possible_edges import Behind
from provspark.tracker.session.troubles import log

if TYPE_CHECKING:
    from provspark.tracker.session.driver_reads import DriverReads
    from provspark.tracker.session.sessions import Sessions
    from provspark.tracker.spark.jvm import Jvm

__all__ = ["behind"]


def behind(jvm: Jvm, sessions: Sessions, reads: DriverReads, analysed: Any, cut: int) -> Behind:
    """Return which rows of the first `cut` reads the rows of an analysed plan may derive from.

    If the plan has rows that the script created after a read, or values that may come from one (see `hidden_values`),
    it may derive from all of them. If these rows and values derive only from constants and from reads of one number, it
    may derive from those reads. The models that the plan applies are context.

    Parameters
    ----------
    jvm : Jvm
    sessions : Sessions
    reads : DriverReads
    analysed : LogicalPlan
        The user's plan, with cached parts not replaced.
    cut : int
        Number of reads when the plan's write or read began.
    """
    unshown = sessions.holds_unshown(analysed)
    size = reads.rows(cut)
    if not size:
        return Behind(unshown=unshown)
    plans = list(_parts(jvm, sessions, analysed))
    models = {number for plan in plans for number in str(jvm.plans.models(plan)).split()}
    transformed = UNSHOWN in models
    context = tuple(reads.span(number) for number in sorted(map(int, models - {UNSHOWN})) if number < cut)
    hiding = [_hidden(jvm, sessions, plan, frozenset()) for plan in plans]
    learned = next(filter(None, map(sessions.holds_learned, plans)), "")
    if not any(hiding) and not transformed:
        return Behind(size, (), context, learned, unshown)
    numbers = reads.numbers(cut)
    if (
        numbers
        and not transformed
        and not any(_hidden(jvm, sessions, plan, numbers) for plan, h in zip(plans, hiding, strict=True) if h)
    ):
        singles = tuple(reads.span(number) for number in range(cut) if reads.is_single(number))
        return Behind(size, singles, context, learned, unshown)
    made = next((h.reason for h in hiding if h.made), "") if reads.of_rows(cut) else ""
    return Behind(size, (range(size),), context, made or learned, unshown)


def _hidden(jvm: Jvm, sessions: Sessions, plan: Any, numbers: frozenset[str]) -> Hidden:
    """Return why a plan may contain values that were read, except for single numbers read at the lines `numbers`."""
    try:
        hiding = hidden(jvm, plan, sessions.made(jvm), numbers=numbers)
    except Exception as e:
        log.debug("provspark: capture can't tell whether a plan contains values that were read", exc_info=e)
        return Hidden("Capture can't tell which values the query contains.")
    if hiding:
        log.debug("provspark: a plan may contain values that were read: %s", hiding.reason)
    return hiding


def _parts(jvm: Jvm, sessions: Sessions, analysed: Any) -> Iterator[Any]:
    """Yield a plan and the plans from which its checkpoints and RDDs were computed."""
    yield analysed
    for leaf in jvm.plans.computed(analysed):
        yield from sessions.caches(jvm).plans_of(leaf)
