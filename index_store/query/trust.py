"""What a question trusts: tasks, operators, lines of scripts and kinds of stops."""

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
    """Something that would have stood in an answer, or failed a check, and did not.

    Parameters
    ----------
    by : str
        What was given as trusted, such as ``clean.py:12``.
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
    """Matches places against what was given.

    Parameters
    ----------
    given : iterable of str, str or None
        As `trusted_entries` reads it. Each entry is a task (``clean`` or ``dag.clean``), an operator's class
        (``BashOperator``), a line of a script (``clean.py:12``) or a kind of stop (``coarse``).

    Attributes
    ----------
    used : set of Trusted
        What was trusted until now.
    """

    def __init__(self, given: Iterable[str] | str | None = ()) -> None:
        self._given = trusted_entries(given)
        self.used: set[Trusted] = set()

    def __bool__(self) -> bool:
        return bool(self._given)

    def takes(
        self, node: WriteNode | None, what: str, why: str = "", sites: Iterable[str] = (), names: Iterable[str] = ()
    ) -> bool:
        """Whether something at a write or read is trusted; if so, it is noted in `used`.

        Parameters
        ----------
        node : WriteNode, optional
            The write or read; None for what belongs to no step.
        what : str
            As in `Trusted`.
        sites : iterable of str
            Lines of the script beside those of the write and of its reason.
        names : iterable of str
            Tasks and operators beside those of the write.
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
        """Whether a stop of an answer is trusted at any write or read of its step and data set, as `takes` decides."""
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
        A text contains entries separated by commas, as the option ``trusted`` does. None and "" contain none.

    Raises
    ------
    ArgumentError
        It is not a list of texts, or one of them is blank.

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
    """Log a warning for each entry that matches nothing in a graph, such as a misspelled one, with the nearest names.

    Parameters
    ----------
    entries : iterable of str
        As `trusted_entries` returns them.
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
    """All that an entry can match in a graph."""
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
        f"trust takes a list of tasks, operators, lines such as 'clean.py:12' and kinds of stops, found {given!r}"
    )


def _spellings(site: str) -> tuple[str, ...]:
    """A line of a script with the script's path, and with its name alone."""
    return (site, PurePosixPath(site).name) if site else ()
