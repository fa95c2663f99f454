"""SQL scripts (BEGIN … END): run statement by statement, so that each may be a write of the step's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

_UNSEEN = "its rows become values of the script unseen: loop over them in Python, or write by one query"


class Script:
    """A script that Spark's own interpreter runs (java/intercept/SqlScript.java).

    Parameters
    ----------
    jvm : Jvm
    statement : provspark.intercept.SqlStatement
        Of the kind ``CompoundBody``.

    Raises
    ------
    UnsupportedPlanError
        It has a FOR loop or a cursor.
    """

    def __init__(self, jvm: Jvm, statement: Any) -> None:
        body = statement.body()
        self._java = jvm.new("SqlScript", jvm.session, body, statement.arguments())
        unseen = str(self._java.unseen(body))
        if unseen:
            raise UnsupportedPlanError(unseen, _UNSEEN)

    def run(self, each: Callable[[Callable[[], Any], Any], Any], read: Callable[[Any, str], None]) -> Any:
        """Run it to its end; return the Java Dataset of its last query's rows.

        Parameters
        ----------
        each : callable
            Runs a statement, given Spark's own way to do it and its parsed plan.
        read : callable
            Hears of each plan whose values the script used, and how.
        """
        java = self._java
        java.enter()
        try:
            while java.next():
                self._statement(each)
                plan = java.read()
                if plan is not None:
                    read(plan, "SET VARIABLE")
            if java.shown() is not None:
                read(java.shown(), "BEGIN … END")
            return java.result()
        finally:
            java.leave()

    def _statement(self, each: Callable[[Callable[[], Any], Any], Any]) -> None:
        if self._java.ran():
            return
        try:
            each(self._java.run, self._java.parsed())
            self._java.done()
        except Exception as e:
            error = getattr(e, "java_exception", None) or getattr(e, "_origin", None)
            if error is None or not self._java.handled(error):
                raise
