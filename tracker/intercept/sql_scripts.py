"""SQL scripts (BEGIN … END), run statement by statement so that each statement can be a write of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

_UNSEEN = (
    "it copies rows into variables of the SQL script, where capture can't see them. Loop in Python, or write one query"
)


class Script:
    """SQL script, run by Spark's own interpreter (java/intercept/SqlScript.java).

    Parameters
    ----------
    jvm : Jvm
    statement : provspark.intercept.SqlStatement
        Statement of the kind ``CompoundBody``.

    Raises
    ------
    UnsupportedPlanError
        The script has a FOR loop or a cursor.
    """

    def __init__(self, jvm: Jvm, statement: Any) -> None:
        body = statement.body()
        self._java = jvm.new("SqlScript", jvm.session, body, statement.arguments())
        unseen = str(self._java.unseen(body))
        if unseen:
            raise UnsupportedPlanError(unseen, _UNSEEN)

    def run(self, each: Callable[[Callable[[], Any], Any], Any], read: Callable[[Any, str], None]) -> Any:
        """Run the script and return the Java Dataset with the rows of its last query.

        Parameters
        ----------
        each : callable
            Runs one statement. Its arguments are the call with which Spark would run it, and the parsed plan.
        read : callable
            Called for each plan whose values the script uses, with the plan and the kind of use.
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
