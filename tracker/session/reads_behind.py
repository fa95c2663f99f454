"""Finds the reads on the driver that rows of a plan may derive from."""

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

    All of them may, where the plan has rows that the script made after a read, or values that it may have taken from
    one: see `hidden_values`. Where these are made of numbers that were read, and of constants, the reads of
    numbers may. The models that the plan applies decide its values.

    Parameters
    ----------
    jvm : Jvm
    sessions : Sessions
    reads : DriverReads
    analysed : LogicalPlan
        The user's, what is cached not replaced.
    cut : int
        How many reads there were when it began.
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
    """Return why a plan may hold values of what was read, but for reads of one number at these lines."""
    try:
        hiding = hidden(jvm, plan, sessions.made(jvm), numbers=numbers)
    except Exception as e:
        log.debug("provspark: whether a plan holds values that were read is not known", exc_info=e)
        return Hidden("It is not known which values the query holds.")
    if hiding:
        log.debug("provspark: a plan may hold values that were read: %s", hiding.reason)
    return hiding


def _parts(jvm: Jvm, sessions: Sessions, analysed: Any) -> Iterator[Any]:
    """Yield a plan and those that its checkpoints and RDDs were computed from."""
    yield analysed
    for leaf in jvm.plans.computed(analysed):
        yield from sessions.caches(jvm).plans_of(leaf)
