"""A question of lineage as a task: its answer is returned, written to a file, or asserted on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from airflow.providers.common.compat.sdk import AirflowFailException, BaseOperator

from provspark.api import Stop, stops_of
from provspark.errors import ExpectationError, SettingsError, UntrackedError
from provspark.hooks.prov import ProvHook
from provspark.index_store.export.tables import write_table
from provspark.index_store.values.plain import plain

__all__ = ["ProvQueryOperator"]

Expect = Literal["nothing", "something"]


class ProvQueryOperator(BaseOperator):  # type: ignore[misc]
    """Asks a question of lineage and returns, writes or asserts on its answer.

    Parameters
    ----------
    question : str
        A method of `ProvHook` whose answer is, or can be told as, a table: ``backward``, ``forward``, ``columns``,
        ``cells``, ``operations``, ``how``, ``dropped``, ``co_contributory`` …
    arguments : mapping
        Its arguments by name. (templated)
    expect : {"nothing", "something"}, optional
        Fail, without a retry, unless the answer has no line, or has one. An answer that is less than it could be,
        because a step was not captured, never passes as nothing, nor one that a coarse step blurs as something.
    check : callable, optional
        Given the answer as a `pyarrow.Table`; fail, without a retry, if it returns false.
    write_to : str, optional
        A file for the whole answer, named ``.csv`` or ``.parquet``. (templated)
    limit : int
        Lines to return at most.
    prov_conn_id : str
        A connection of type ``provspark``.

    Returns
    -------
    dict
        As XCom: ``lines``, how many there are; ``answer``, the first of them; ``stops``, where it is less than it could
        be; ``file``, where it was written, or None.

    Raises
    ------
    AirflowFailException
        The answer is not what was expected.
    SettingsError
        There is no such question, or an argument has no such value.

    Examples
    --------
    No row of the report may come from a person without consent::

        ProvQueryOperator(
            task_id="consent",
            question="forward",
            arguments={"dataset": "/data/people", "where": [("consent", "=", False)], "to": "/data/report"},
            expect="nothing",
        )
    """

    template_fields: Sequence[str] = ("arguments", "write_to")

    def __init__(
        self,
        *,
        question: str,
        arguments: Mapping[str, Any],
        expect: Expect | None = None,
        check: Callable[[pa.Table], Any] | None = None,
        write_to: str | None = None,
        limit: int = 100,
        prov_conn_id: str = ProvHook.default_conn_name,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if question.startswith("_") or question not in vars(ProvHook):
            known = sorted(n for n in vars(ProvHook) if not n.startswith("_") and callable(getattr(ProvHook, n)))
            raise SettingsError(f"no question {question!r}; there are {', '.join(known)}")
        if expect not in (None, "nothing", "something"):
            raise SettingsError(f"expect is {expect!r}; it must be 'nothing' or 'something'")
        self.question, self.arguments, self.expect, self.check = question, arguments, expect, check
        self.write_to, self.limit, self.prov_conn_id = write_to, limit, prov_conn_id

    def execute(self, context: Any) -> dict[str, Any]:
        """Ask, write, assert."""
        hook = ProvHook(self.prov_conn_id)
        try:
            table = _table(getattr(hook, self.question)(**self.arguments), self.question)
        except UntrackedError as error:
            if self.expect or self.check:
                raise AirflowFailException(f"it can't be told: {error}") from error
            raise
        stops = stops_of(table)
        for stop in stops:
            self.log.warning("ProvSpark: %s", stop)
        if self.write_to:
            write_table(table, self.write_to)
        try:
            self._assert(table, stops)
        except ExpectationError as error:
            raise AirflowFailException(str(error)) from error
        return {
            "lines": table.num_rows,
            "answer": plain(table.slice(0, self.limit).to_pylist()),
            "stops": [{name: getattr(s, name) for name in s.__slots__} for s in stops],
            "file": self.write_to,
        }

    def _assert(self, table: pa.Table, stops: Sequence[Stop]) -> None:
        asked = f"{self.question}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"
        if self.expect == "nothing" and table.num_rows:
            first = plain(table.slice(0, 3).to_pylist())
            raise ExpectationError(f"{asked} should find nothing, and found {table.num_rows:,} lines: {first}")
        if self.expect == "something" and not table.num_rows:
            raise ExpectationError(f"{asked} should find something, and found nothing")
        doubts = {"nothing": ("untracked", "unlinked", "unreadable"), "something": ("coarse", "columns"), None: ()}[
            self.expect
        ]
        for stop in stops:
            if stop.what in doubts:
                where = f"step {stop.step}, which wrote {stop.dataset}, is {stop.what}: {stop.why}"
                said = where if stop.dataset else stop.why
                raise ExpectationError(f"whether {asked} finds {self.expect} can't be told: {said}")
        if self.check is not None and not self.check(table):
            raise ExpectationError(f"the check of {asked} failed on an answer of {table.num_rows:,} lines")


def _table(answer: Any, question: str) -> pa.Table:
    """The answer as a table; a richer one tells itself as one."""
    for tell in ("table", "why"):
        if not isinstance(answer, pa.Table) and hasattr(answer, tell):
            answer = getattr(answer, tell)()
    if not isinstance(answer, pa.Table):
        raise SettingsError(f"{question} answers with {type(answer).__name__}, which is no table; ask it with ProvHook")
    return answer
