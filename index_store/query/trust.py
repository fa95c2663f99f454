"""The `trust` parameter of questions: trusted tasks, operators, script lines and kinds of stops."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.nodes import WriteNode
from provspark.model.errors import ArgumentError
from provspark.model.stops import STOPS

if TYPE_CHECKING:
    from provspark.model.stops import Stop

__all__ = ["Trust", "Trusted", "log_unknown", "trusted_entries"]

_log = logging.getLogger("provspark")


@dataclass(frozen=True, slots=True, order=True)
class Trusted:
    """A stop, possible edge or end that is left out of an answer, and fails no check, because it is trusted.

    Parameters
    ----------
    by : str
        The entry that matched, such as ``clean.py:12``.
    what : str
        ``possible`` (rows may have gone on), ``end`` (rows reached a driver), or the kind of a stop.
    step, dataset : str
    why : str
    """

    by: str
    what: str
    step: str
    dataset: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} at {self.dataset}, step {self.step}: trusted by {self.by!r}"


class Trust:
    """Matches stops, possible edges and ends against trusted entries.

    Parameters
    ----------
    given : iterable of str, str or None
        See `trusted_entries`. Each entry is a task (``clean`` or ``dag.clean``), an operator's class
        (``BashOperator``), a script line (``clean.py:12``) or a kind of stop (``coarse``).

    Attributes
    ----------
    used : set of Trusted
        What was trusted so far.
    """

    def __init__(self, given: Iterable[str] | str | None = ()) -> None:
        self._given = trusted_entries(given)
        self.used: set[Trusted] = set()

    def __bool__(self) -> bool:
        return bool(self._given)

    def takes(
        self, node: WriteNode | None, what: str, why: str = "", sites: Iterable[str] = (), names: Iterable[str] = ()
    ) -> bool:
        """Return whether something at a write or read is trusted; if so, add it to `used`.

        Parameters
        ----------
        node : WriteNode, optional
            The write or read; None if it belongs to no step.
        what : str
            See `Trusted`.
        sites : iterable of str
            Further script lines, besides those of the write and of its reason.
        names : iterable of str
            Further tasks and operators, besides those of the write.
        """
        if not self._given:
            return False
        names = {what, *names, *(s for site in sites for s in _spellings(site))}
        if node is not None:
            key, write = node.manifest.key, node.write
            names |= {key.task_id, f"{key.dag_id}.{key.task_id}"}
            names |= {t.operator for t in node.manifest.dag if t.task_id == key.task_id}
            for site in (write.site, write.reason.site if write.reason else ""):
                names |= set(_spellings(site))
        by = next((one for one in self._given if one in names), None)
        if by is None:
            return False
        step, dataset = ("", "") if node is None else (node.step, str(node.write.output.dataset))
        self.used.add(Trusted(by, what, step, dataset, why))
        return True

    def takes_stop(self, graph: Graph, stop: Stop) -> bool:
        """Return whether `takes` trusts a stop of an answer at any write or read of its step and dataset."""
        if not self._given:
            return False
        at = [
            n
            for n in (*graph.nodes, *graph.reads)
            if n.step == stop.step and str(n.output.version.dataset) == stop.dataset
        ]
        return any(self.takes(node, stop.what, stop.why) for node in at) or self.takes(None, stop.what, stop.why)


def trusted_entries(given: Any) -> tuple[str, ...]:
    """Return the entries of a `trust` parameter, without surrounding blanks.

    Parameters
    ----------
    given : iterable of str, str or None
        A string contains entries separated by commas, as in the option ``trusted``. None and "" contain none.

    Raises
    ------
    ArgumentError
        It is not a list of strings, or one of them is blank.

    Examples
    --------
    >>> trusted_entries("clean, clean.py:12")
    ('clean', 'clean.py:12')
    """
    if given is None:
        return ()
    if isinstance(given, str):
        return tuple(entry for one in given.split(",") if (entry := one.strip()))
    if isinstance(given, (Mapping, bytes)) or not isinstance(given, Iterable):
        raise _bad_trust(given)
    entries = tuple(given)
    for one in entries:
        if not isinstance(one, str) or not one.strip():
            raise _bad_trust(one)
    return tuple(one.strip() for one in entries)


def log_unknown(entries: Iterable[str], graph: Graph) -> None:
    """Log a warning for each entry that matches nothing in a graph, with similar names.

    Parameters
    ----------
    entries : iterable of str
        From `trusted_entries`.
    """
    entries = list(entries)
    if not entries:
        return
    known = _names(graph)
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    for entry in entries:
        if entry in known:
            continue
        near = [by_lower[one] for one in get_close_matches(entry.lower(), by_lower, 3, 0.6)]
        advice = f"Did you mean {' or '.join(map(repr, near))}?" if near else "docs/stops.md lists what you can trust."
        _log.warning(
            "The trust entry %r has no effect: no task, operator, script line or kind of stop has this name. %s",
            entry,
            advice,
        )


def _names(graph: Graph) -> set[str]:
    """Return all names that an entry can match in a graph."""
    known: set[str] = {"possible", "end", *(kind.name for kind in STOPS)}
    for manifest in graph.manifests:
        known |= {manifest.key.task_id, f"{manifest.key.dag_id}.{manifest.key.task_id}"}
        known |= {name for reason in manifest.untracked for name in _spellings(reason.site)}
        for task in manifest.dag:
            known |= {task.task_id, f"{manifest.key.dag_id}.{task.task_id}", task.operator}
    for node in (*graph.nodes, *graph.reads):
        if node.declared:
            known |= {node.manifest.key.task_id, f"{node.manifest.key.dag_id}.{node.manifest.key.task_id}"}
        for site in (node.write.site, node.write.reason.site if node.write.reason else ""):
            known |= set(_spellings(site))
    return known


def _bad_trust(given: object) -> ArgumentError:
    return ArgumentError(
        f"trust takes a list of tasks, operators, script lines ('clean.py:12') and kinds of stops, found {given!r}"
    )


def _spellings(site: str) -> tuple[str, ...]:
    """Return a script line with the script's path, and with its file name only."""
    return (site, PurePosixPath(site).name) if site else ()
