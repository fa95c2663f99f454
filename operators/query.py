"""`ProvQueryOperator`: a lineage query as an Airflow task."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from airflow.providers.common.compat.sdk import AirflowFailException, BaseOperator

from provspark.hooks.prov import ProvHook
from provspark.index_store.export.tables import write_table
from provspark.index_store.query.answer import ends_of, gone_of, stops_of, trusted_of, versions_of
from provspark.index_store.query.question import QUESTIONS, RENAMED
from provspark.index_store.query.tabular import both_names
from provspark.index_store.query.trust import Trust, log_unknown, trusted_entries
from provspark.index_store.values.json_cells import plain
from provspark.model.errors import ExpectationError, SettingsError, UntrackedError
from provspark.model.json_form import jsonable
from provspark.operators.expecting import Answered, Expect, check_expect, confirm
from provspark.settings import Settings

__all__ = ["ProvQueryOperator"]


class ProvQueryOperator(BaseOperator):  # type: ignore[misc]
    """Run a lineage query and return its answer, write it to a file, or fail unless it meets an expectation.

    Parameters
    ----------
    question : str
        A question of `Provenance` whose answer is a table: ``backward``, ``forward``, ``columns``, ``cells``,
        ``operations``, ``how``, ``dropped``, ``co_contributory`` …
    arguments : mapping
        The question's arguments by name. (templated)
    expect : {"nothing", "something"} or int, optional
        Fail, without a retry, unless the answer has no lines, at least one, or exactly this many. ``nothing`` also
        fails on possible edges, on rows that ended on a driver (unless the question names a dataset with `to`), and on
        stops after which rows may have gone on. docs/stops.md lists which kind of stop fails which expectation.
    trust : sequence of str, or str
        Tasks (``clean``), operators (``BashOperator``), lines of scripts (``clean.py:12``) and kinds of stops
        (``coarse``) that fail no expectation. The result lists them as ``trusted``. The option ``trusted`` in the
        section ``[provspark]`` of Airflow's configuration adds more. A string is split at commas, like that option.
        (templated)
    check : callable, optional
        Called with the answer as a `pyarrow.Table`. The task fails, without a retry, if it returns false.
    write_to : str, optional
        A ``.csv`` or ``.parquet`` file for the whole answer. (templated)
    limit : int
        Maximum number of lines in the XCom.
    prov_conn_id : str
        A connection of type ``provspark``.

    Returns
    -------
    dict
        As XCom: ``lines``, the number of lines; ``answer``, the first of them; ``possible``, the number of possible
        edges; ``ends``, where rows ended on drivers; ``stops``, where the answer ends or is less precise; ``trusted``,
        which of these were trusted; ``gone``, rows that are not in the current version, by the step after which their
        files were missing; ``versions``, the versions that the row ids refer to; ``file``, the value of `write_to`.

    Raises
    ------
    AirflowFailException
        The answer does not meet the expectation, or `check` returned false.
    SettingsError
        No such question, or an argument has an invalid value.
    ArgumentError
        An argument has the wrong type.

    Examples
    --------
    Fail if a row of the report comes from a person without consent::

        ProvQueryOperator(
            task_id="consent",
            question="forward",
            arguments={"dataset": "/data/people", "where": [("consent", "=", False)], "to": "/data/report"},
            expect="nothing",
        )
    """

    template_fields: Sequence[str] = ("arguments", "trust", "write_to")

    def __init__(
        self,
        *,
        question: str,
        arguments: Mapping[str, Any],
        expect: Expect | None = None,
        trust: Sequence[str] | str | None = (),
        check: Callable[[pa.Table], Any] | None = None,
        write_to: str | None = None,
        limit: int = 100,
        prov_conn_id: str = ProvHook.default_conn_name,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if question in RENAMED:
            warnings.warn(
                f"question {question!r} goes with the next release: it is called {RENAMED[question]!r} now",
                DeprecationWarning,
                stacklevel=2,
            )
            question = RENAMED[question]
        if question not in QUESTIONS:
            raise SettingsError(f"unknown query {question!r}; use one of {', '.join(sorted(QUESTIONS))}")
        self.question, self.arguments, self.expect, self.check = question, arguments, check_expect(expect), check
        self.trust, self.write_to, self.limit, self.prov_conn_id = trust, write_to, limit, prov_conn_id

    def execute(self, context: Any) -> dict[str, Any]:
        """Run the query, write the answer, and check it."""
        hook = ProvHook(self.prov_conn_id)
        arguments = dict(self.arguments)
        given = (*trusted_entries(arguments.pop("trust", None)), *trusted_entries(self.trust))
        trusted = (*given, *Settings.read(airflow=True).trusted)
        if trusted and self.question in _FOLLOWING:
            arguments["trust"] = trusted
        try:
            table = _table(getattr(hook, self.question)(**arguments), self.question)
        except UntrackedError as error:
            if self.expect is not None or self.check:
                raise AirflowFailException(f"{self._asked()} can't be answered: {error}") from error
            raise
        trust = Trust(trusted)
        if self.question not in _FOLLOWING:
            log_unknown(trusted, hook.get_conn().graph)
        stops = tuple(stop for stop in stops_of(table) if not trust.takes_stop(hook.get_conn().graph, stop))
        for stop in stops:
            self.log.warning("ProvSpark: %s", stop)
        for one in (listed := sorted({*trusted_of(table), *trust.used})):
            self.log.info("ProvSpark: %s", one)
        if self.write_to:
            write_table(table, self.write_to)
        answer = Answered.of(table, stops, to=arguments.get("to") is not None)
        try:
            if self.expect is not None:
                confirm(self._asked(), self.expect, answer)
            if self.check is not None and not self.check(table):
                raise ExpectationError(f"the check of {self._asked()} failed on an answer of {table.num_rows:,} rows")
        except ExpectationError as error:
            raise AirflowFailException(str(error)) from error
        return {
            "lines": table.num_rows,
            "answer": plain(table.slice(0, self.limit).to_pylist()),
            "possible": answer.possible.num_rows,
            "ends": jsonable(ends_of(table)),
            "stops": jsonable(stops),
            "trusted": jsonable(listed),
            "gone": jsonable(gone_of(table)),
            "versions": jsonable(versions_of(table)),
            "file": self.write_to,
        }

    def _asked(self) -> str:
        return f"{self.question}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"


_FOLLOWING = ("backward", "forward", "trace")
"""Questions with a parameter `trust`."""


def _table(answer: Any, question: str) -> pa.Table:
    """Return an answer's table, with renamed columns under both names."""
    if not hasattr(answer, "table"):
        raise SettingsError(f"{question} returns {type(answer).__name__}, which is not a table; call it on ProvHook")
    return both_names(answer.table())
