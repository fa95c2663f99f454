"""What a user may see of values, operations, paths and messages. All answers of the API go through this."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from fastapi import HTTPException

from provspark import errors
from provspark.index_store.model import Dataset
from provspark.index_store.operations import Operation
from provspark.index_store.query.graph import Graph, Node, Sighting
from provspark.index_store.values.partitions import unescape
from provspark.index_store.values.paths import find_path
from provspark.web.masks import Masks
from provspark.web.policy import Policy

__all__ = ["HIDDEN", "Visible"]

HIDDEN = "•••"
"""Stands in a text for what is not shown."""
_FOLDER = re.compile(r"([^/=\s'\"]+)=([^/'\"\n]*(?=/)|[^/\s'\",;)]+)")
"""A folder that is named after a partition's value, in a path or in a text with paths in it."""
_QUOTED = re.compile(r"(?<!column )('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_FOREIGN = re.compile(r"\b(\w+(?:Error|Exception)): .*", re.DOTALL)
"""An error that is not ours: its message may tell anything."""


class Visible:
    """What users may see of what the store holds.

    Parameters
    ----------
    policy : Policy
        What the administrator has set.
    masks : Masks
        Over all steps.
    graph : Graph
        Of all steps.
    """

    def __init__(self, policy: Policy, masks: Masks, graph: Graph) -> None:
        self.policy, self._masks, self.graph = policy, masks, graph
        self._open = policy.show_values and not policy.masks
        self._folders: dict[tuple[Dataset, str], bool] = {}

    @property
    def values(self) -> bool:
        """Whether any values are shown."""
        return self.policy.show_values

    def masked(self, at: Sighting) -> list[bool]:
        """Of each column of a version whether its values are hidden."""
        if self._open or not self.values:
            return [not self.values] * len(at.version.fields)
        hidden = self._masks.columns(at)
        return [i in hidden for i in range(1, 1 + len(at.version.fields))]

    def columns(self, at: Sighting) -> list[str]:
        """Names of the columns of a version whose values are shown."""
        return [f.name for f, masked in zip(at.version.fields, self.masked(at), strict=True) if not masked]

    def ask(self, at: Sighting, column: str) -> None:
        """Refuse a question about the values of a hidden column, or of a field in one."""
        field = find_path(at.version, column).column
        if field.name not in self.columns(at):
            raise HTTPException(403, f"the values of column {field.name!r} are masked, so it can't be asked about")

    def name(self, name: str) -> str:
        """A column's name, unless it is a masked value itself, as names that a pivot makes are."""
        return HIDDEN if name in self._masks.names else name

    def name_of(self, dataset: str, version: str, name: str | None) -> str | None:
        """The same, of a version that need not be among those looked at so far."""
        if not self._open and name is not None:
            for at in self.graph.sightings(Dataset.parse(dataset)):
                if at.version.id == version:
                    self._masks.columns(at)
        return name if name is None else self.name(name)

    def names(self, at: Sighting) -> list[str]:
        """The names of a version's columns; each that is hidden has its number."""
        self.masked(at)
        names = [f.name for f in at.version.fields]
        return [n if self.name(n) == n else f"{HIDDEN}{i}" for i, n in enumerate(names, 1)]

    def within(self, node: Node) -> frozenset[int]:
        """The ids of the columns between a write's operations that are masked."""
        return self._masks.within(node)

    def operation(self, node: Node, operations: Iterable[int], text: str) -> str | None:
        """The text of operations of a write; None where it may tell values that are hidden."""
        if not self.values:
            return None
        if self._open:
            return text
        done = [node.operations[i] for i in operations if i < len(node.operations)]
        hidden = self.within(node)
        if any(not hidden.isdisjoint(_touched(operation)) for operation in done):
            return None
        if self._masks.handed(node) and any(t.node == "Literal" for o in done for e in o.expressions for t in e.terms):
            return None
        return self._nameless(self.path(text))

    def _nameless(self, text: str) -> str:
        for name in self._masks.names:
            text = text.replace(name, HIDDEN)
        return text

    def step_operations(self, step: str, write: int, operations: Iterable[int], text: str) -> str | None:
        """The same, of a write by its step and number."""
        numbers = tuple(operations)
        told = [self.operation(node, numbers, text) for node in self._nodes.get((step, write), ())]
        return told[0] if told and None not in told else None

    def nodes(self, step: str, write: int) -> Sequence[Node]:
        """The writes of a step and number: two stores may hold different ones."""
        return self._nodes.get((step, write), ())

    @cached_property
    def _nodes(self) -> dict[tuple[str, int], list[Node]]:
        found: dict[tuple[str, int], list[Node]] = {}
        for node in self.graph.nodes:
            found.setdefault((node.step, node.write.index), []).append(node)
        return found

    def path(self, text: str) -> str:
        """A path, or a text with paths in it, without the values of masked partition columns."""
        if self._open or "=" not in text:
            return text

        def told(match: re.Match[str]) -> str:
            return f"{match[1]}={HIDDEN}" if self._hides_folder(text, unescape(match[1])) else match[0]

        return _FOLDER.sub(told, text)

    def dataset(self, dataset: Dataset) -> str:
        """The URI of a data set, which may lie in a folder that is named after a value."""
        if self._open:
            return dataset.uri
        parts = [part.partition("=") for part in dataset.uri.split("/")]
        return "/".join(
            f"{name}={HIDDEN}"
            if is_value and self._hides_folder(dataset.uri, unescape(name))
            else name + is_value + value
            for name, is_value, value in parts
        )

    def paths(self, told: Any) -> Any:
        """Plain JSON, `path` of each text in it."""
        if isinstance(told, str):
            return self.path(told)
        if isinstance(told, list):
            return [self.paths(x) for x in told]
        return {k: self.paths(v) for k, v in told.items()} if isinstance(told, dict) else told

    def _hides_folder(self, text: str, name: str) -> bool:
        if not self.values:
            return True
        if self.policy.covers(name):
            return True
        return any(self._masked_in(d, name) for d in self._partitioned.get(name, ()) if d.name in text)

    def _masked_in(self, dataset: Dataset, name: str) -> bool:
        """Whether a partition column is masked in some version of a data set."""
        key = (dataset, name)
        if key not in self._folders:
            self._folders[key] = any(
                self._masks.columns(at) & {i for i, f in enumerate(at.version.fields, 1) if f.name == name}
                for at in self.graph.sightings(dataset)
            )
        return self._folders[key]

    @cached_property
    def _partitioned(self) -> dict[str, list[Dataset]]:
        """Data sets by the names of their partition columns."""
        found: dict[str, dict[Dataset, None]] = {}
        for index in (self.graph.written, self.graph.read):
            for dataset, sightings in index.by_name.items():
                for name in {n for s in sightings for n in s.version.partitions}:
                    found.setdefault(name, {})[dataset] = None
        return {name: list(datasets) for name, datasets in found.items()}

    def text(self, text: str) -> str:
        """A reason or message: without paths' values, quoted values, and what errors of others say."""
        if self._open:
            return text
        return _FOREIGN.sub(r"\1 (its message may tell masked values; it is in the step's log)", self.quoted(text))

    def quoted(self, text: str) -> str:
        """A text of ours that may quote values, without these."""
        return text if self._open else _QUOTED.sub(HIDDEN, self.path(text))

    def failure(self, text: str) -> str:
        """What a job's own error says, which may tell any value."""
        return text if self._open else ""

    def error(self, error: errors.ProvSparkError) -> str:
        """The message of an error."""
        try:
            return self._error(error)
        except errors.ProvSparkError:  # what is masked can't be told now
            return "the reason may contain masked values; the server's log has it"

    def _error(self, error: errors.ProvSparkError) -> str:
        if isinstance(error, (errors.ReplayError, errors.UntrackedError, errors.UnsupportedPlanError)):
            return self.text(str(error))
        if isinstance(error, errors.ValuesUnavailableError):
            return self.quoted(str(error))
        return self._nameless(self.path(str(error)))


def _touched(operation: Operation) -> set[int]:
    """The columns that an operation computes with, or makes."""
    found = {t.column for e in operation.expressions for t in e.terms} | {e.column for e in operation.expressions}
    return (found | {x for link in operation.links for x in (link.source, link.out)}) - {-1}
