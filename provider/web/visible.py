"""Masking of values, operations, paths and messages. All responses of the API go through this module."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from fastapi import HTTPException

from provspark import errors
from provspark.index_store.query.helper_columns import behind
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.values.partitions import unescape
from provspark.index_store.values.paths import find_path
from provspark.index_store.values.row_reader import find_column
from provspark.model.datasets import Dataset, Field
from provspark.model.driver_datasets import is_driver
from provspark.model.operations import Operation
from provspark.web.masks import Masks
from provspark.web.policy import Policy

__all__ = ["HIDDEN", "Visible"]

HIDDEN = "•••"
"""Placeholder for hidden text."""
_FOLDER = re.compile(r"((?<=/)[^/='\"\n]+|[^/=\s'\"]+)=([^/'\"\n]*(?=/)|[^/'\"\n,;)]+)")
"""Folder named after a partition value, in a path or in a text that contains paths."""
_RANGE = "memory://range/"
_QUOTED = re.compile(r"(?<!column )('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_FOREIGN = re.compile(r"\b(\w+(?:Error|Exception)): .*", re.DOTALL)
"""Third-party error; its message may contain any value."""


class Visible:
    """Masking rules for the contents of a store.

    Parameters
    ----------
    policy : Policy
        The administrator's settings.
    linker : Linker
        Linker of all steps.
    """

    def __init__(self, policy: Policy, linker: Linker) -> None:
        self.policy, self.graph = policy, linker.graph
        self._masks = Masks(policy, linker)
        self._open = policy.show_values and not policy.masks
        self._folders: dict[str, bool] = {}
        self._renamed: dict[tuple[str, str], dict[str, str]] = {}

    @property
    def values(self) -> bool:
        """Whether values are shown."""
        return self.policy.show_values

    @property
    def open(self) -> bool:
        """Whether nothing is masked."""
        return self._open

    def masked(self, at: VersionReference) -> list[bool]:
        """Return for each column of a version whether its values are hidden."""
        if self._open or not self.values:
            return [not self.values] * len(at.version.fields)
        hidden = self._masks.columns(at)
        return [i in hidden for i in range(1, 1 + len(at.version.fields))]

    def columns(self, at: VersionReference) -> list[str]:
        """Return the names of the columns of a version whose values are shown."""
        return [f.name for f, masked in zip(at.version.fields, self.masked(at), strict=True) if not masked]

    def ask(self, at: VersionReference, column: str) -> None:
        """Raise an error if a column, or the column that contains a field, is masked."""
        field = self._finding(at, lambda: find_path(at.version, column).column)
        if field.name not in self.columns(at):
            raise HTTPException(403, f"Column {field.name!r} is masked, so it can't be queried. Choose another column.")

    def names(self, at: VersionReference) -> list[str]:
        """Return the names of a version's columns. The column's number replaces a name made from a masked value."""
        names = [f.name for f in at.version.fields]
        if is_driver(at.version.dataset) and any(self.masked(at)):
            known = {name for read in at.node.inputs.values() for name in self.names(read)}
            return [name if name in known else f"{HIDDEN}{i}" for i, name in enumerate(names, 1)]
        values = self._masks.named_after(at)
        if not values:
            return names
        told = zip(names, self.masked(at), strict=True)
        return [f"{HIDDEN}{i}" if masked and _named_after(n, values) else n for i, (n, masked) in enumerate(told, 1)]

    def name_at(self, at: VersionReference, name: str | None) -> str | None:
        """Return the visible name of a version's column."""
        if name is None or self._open:
            return name
        return self._hidden_names(at).get(name, name)

    def _hidden_names(self, at: VersionReference) -> dict[str, str]:
        told = zip((f.name for f in at.version.fields), self.names(at), strict=True)
        return {name: shown for name, shown in told if name != shown}

    def name_of(self, dataset: str, version: str, name: str | None) -> str | None:
        """Return the visible name of a column, by the dataset's name and the version's id."""
        if name is None or self._open:
            return name
        key = (dataset, version)
        if key not in self._renamed:
            same = (s for s in self.graph.references(Dataset.parse(dataset)) if s.version.id == version)
            self._renamed[key] = {name: told for at in same for name, told in self._hidden_names(at).items()}
        return self._renamed[key].get(name, name)

    def name_in(self, step: str, write: int, name: str, *, read: bool = False) -> str:
        """Return the visible name of a column between the operations of a write, or of a read on a driver."""
        return HIDDEN if any(name in self._secret(node) for node in self.nodes(step, write, read=read)) else name

    def _secret(self, node: WriteNode) -> frozenset[str]:
        """Return the names of a write's columns that are made from masked values."""
        if self._open:
            return frozenset()
        values, hidden = self._masks.named_within(node), self._masks.within(node)
        if not values:
            return frozenset()
        columns = {c for op in node.operations for c in op.columns if c.id in hidden}
        return frozenset(c.name for c in columns if _named_after(c.name, values))

    def type(self, at: VersionReference, position: int) -> str:
        """Return the type of a column, without field names that are made from masked values."""
        kind = at.version.fields[position - 1].type
        if is_driver(at.version.dataset) and any(self.masked(at)):
            return kind.partition("<")[0]
        values = self._masks.named_after(at) if "<" in kind else frozenset()
        return _without(kind, values)

    def find(self, at: VersionReference, column: str) -> Field:
        """Return a column by its name.

        Raises
        ------
        UnknownColumnError
            The message suggests similar names, without names that are made from masked values.
        """
        return self._finding(at, lambda: find_column(at.version, column))

    def _finding(self, at: VersionReference, find: Callable[[], Field]) -> Field:
        try:
            return find()
        except errors.UnknownColumnError as e:
            raise errors.UnknownColumnError(_without(str(e), self._hidden_names(at))) from None

    def within(self, node: WriteNode) -> frozenset[int]:
        """Return the ids of the masked columns between a write's operations."""
        return self._masks.within(node)

    def operation(self, node: WriteNode, operations: Iterable[int], text: str) -> str | None:
        """Return the text of a write's operations; None if it may contain masked values."""
        if not self.values:
            return None
        if self._open:
            return text
        numbers = {i for i in operations if i < len(node.operations)}
        numbers |= {told for i in numbers for told in behind(node.operations, i)}
        done = [node.operations[i] for i in numbers]
        hidden = self.within(node)
        if any(not hidden.isdisjoint(_touched(operation)) for operation in done):
            return None
        if self._masks.handed(node) and any(t.node == "Literal" for o in done for e in o.expressions for t in e.terms):
            return None
        return _without(self.path(text), self._secret(node))

    def step_operations(
        self, step: str, write: int, operations: Iterable[int], text: str, *, read: bool = False
    ) -> str | None:
        """Return the text of operations of a write or of a read on a driver, by step and number; None if masked."""
        numbers = tuple(operations)
        told = [self.operation(node, numbers, text) for node in self.nodes(step, write, read=read)]
        return told[0] if told and None not in told else None

    def nodes(self, step: str, write: int, *, read: bool = False) -> Sequence[WriteNode]:
        """Return the writes or reads with this step and number; two stores may contain different ones."""
        return self._nodes.get((step, write, read), ())

    @cached_property
    def _nodes(self) -> dict[tuple[str, int, bool], list[WriteNode]]:
        nodes: dict[tuple[str, int, bool], list[WriteNode]] = {}
        for node in (*self.graph.nodes, *self.graph.reads):
            nodes.setdefault((node.step, node.write.index, node.is_read), []).append(node)
        return nodes

    def path(self, text: str) -> str:
        """Return a path, or a text that contains paths, without values of masked partition columns."""
        if self._open:
            return text
        text = re.sub(rf"{_RANGE}[-\d,]+", f"{_RANGE}{HIDDEN}", text)
        if "=" not in text:
            return text

        def told(match: re.Match[str]) -> str:
            return f"{match[1]}={HIDDEN}" if self._hides_folder(unescape(match[1])) else match[0]

        return _FOLDER.sub(told, text)

    def dataset(self, dataset: Dataset) -> str:
        """Return the URI of a dataset, without masked values in names of folders or in ranges of numbers."""
        if self._open:
            return dataset.uri
        if dataset.uri.startswith(_RANGE):
            return f"{_RANGE}{HIDDEN}"
        parts = [part.partition("=") for part in dataset.uri.split("/")]
        return "/".join(
            f"{name}={HIDDEN}" if is_value and self._hides_folder(unescape(name)) else name + is_value + value
            for name, is_value, value in parts
        )

    def paths(self, told: Any) -> Any:
        """Return plain JSON with `path` applied to each text in it."""
        if isinstance(told, str):
            return self.path(told)
        if isinstance(told, list):
            return [self.paths(x) for x in told]
        return {k: self.paths(v) for k, v in told.items()} if isinstance(told, dict) else told

    def _hides_folder(self, name: str) -> bool:
        if not self.values:
            return True
        if self.policy.covers(name):
            return True
        if name not in self._folders:  # hidden if any dataset is partitioned by a masked column of this name
            self._folders[name] = any(
                masked and field.name == name
                for d in self._partitioned.get(name, ())
                for at in self.graph.references(d)
                for field, masked in zip(at.version.fields, self.masked(at), strict=True)
            )
        return self._folders[name]

    @cached_property
    def _partitioned(self) -> dict[str, list[Dataset]]:
        """Datasets by the names of their partition columns."""
        by_column: dict[str, dict[Dataset, None]] = {}
        for index in (self.graph.written, self.graph.read):
            for dataset, references in index.by_name.items():
                for name in {n for s in references for n in s.version.partitions}:
                    by_column.setdefault(name, {})[dataset] = None
        return {name: list(datasets) for name, datasets in by_column.items()}

    def text(self, text: str) -> str:
        """Return a reason or message without values in paths or quotes, and without third-party error messages."""
        text = _writable(text)
        if self._open:
            return text
        return _FOREIGN.sub(r"\1 (message hidden: it may contain masked values; see the task's log)", self.quoted(text))

    def quoted(self, text: str) -> str:
        """Return one of ProvSpark's messages without the values that it quotes."""
        return text if self._open else _QUOTED.sub(HIDDEN, self.path(text))

    def failure(self, text: str) -> str:
        """Return the error message of a job; empty if anything is masked, since it may contain any value."""
        return _writable(text) if self._open else ""

    def error(self, error: errors.ProvSparkError) -> str:
        """Return the message of an error, without masked values."""
        try:
            return self._error(error)
        except errors.ProvSparkError:  # the masked columns can't be computed
            return "reason hidden: it may contain masked values; see the server's log"

    def _error(self, error: errors.ProvSparkError) -> str:
        if isinstance(error, (errors.ReplayError, errors.UntrackedError, errors.UnsupportedPlanError)):
            return self.text(str(error))
        if isinstance(error, errors.ValuesUnavailableError):
            return self.quoted(str(error))
        return self.path(str(error))


def _writable(text: str) -> str:
    """Return a text as valid UTF-8: bytes of file names that are not UTF-8 are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def _named_after(name: str, values: Iterable[str]) -> bool:
    """Return whether a column's name equals one of these values, starts with it and ``_``, or contains a long one."""
    return any(name == v or name.startswith(f"{v}_") or (len(v) >= _LONG and v in name) for v in values)


def _without(text: str, words: Iterable[str]) -> str:
    for word in words:
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, text)
    return text


_LONG = 3


def _touched(operation: Operation) -> set[int]:
    """Return the columns that an operation uses or makes."""
    columns = {t.column for e in operation.expressions for t in e.terms} | {e.column for e in operation.expressions}
    return (columns | {x for link in operation.links for x in (link.source, link.out)}) - {-1}
