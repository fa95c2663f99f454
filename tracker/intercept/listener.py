"""Interface through which the patched methods report a running script's calls to capture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Listener(Protocol):
    """Receiver of a script's calls. `Capture` implements it; a protocol avoids a circular import."""

    def session_made(self, spark: Any) -> None:
        """Handle a SparkSession that was created or already exists."""

    def context_stops(self, context: Any) -> None:
        """Handle a SparkContext that is about to stop."""

    def frame_made(self, frame: Any) -> None:
        """Handle a DataFrame that a line of the script just created."""

    def batch_made(self, frame: Any) -> None:
        """Handle a DataFrame that holds a batch of a stream."""

    def function_made(self, function: Any, made: Any) -> None:
        """Handle a Python function of the script, with the Java object (`made`) that Spark created for it."""

    def cache_changed(self, spark: Any) -> None:
        """Handle a possible change of Spark's cache."""

    def checkpoint(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Call `take` with the Java Dataset to checkpoint, the DataFrame's own or a traced one. Return the result."""

    def rows_made(self, frame: Any, maker: str, data: Any, *, local: bool) -> None:
        """Handle a DataFrame that the method `maker` created, from rows of the script (`data`) if `local`."""

    def effect(self, node: str, why: str, call: Callable[[], Any], rows: Any = None) -> Any:
        """Run a call with effects that capture can't follow. `rows`: the DataFrame or RDD that it uses, if any."""

    def refused(self, node: str, why: str) -> None:
        """Handle the start of something that capture can't follow."""

    def transposed(self, frame: Any, index: Any, take: Callable[[Any], Any]) -> Any:
        """Call `take` with the Java Dataset to transpose, the DataFrame's own or a traced one. Return the result."""

    def rdd_of(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Call `take` with the Java Dataset to convert, the DataFrame's own or a traced one. Return the RDD."""

    def rows_handed(self, rdd: Any, rows: int, content: str, data: Any) -> None:
        """Handle a JavaRDD with rows of the script (`data`). `content` identifies the rows; if "", their hash does."""

    def frame_read(self, frame: Any, action: str, args: tuple[Any, ...], call: Callable[[Any], Any]) -> Any:
        """Run an action: call `call` with the DataFrame or a traced one, and return the result."""

    def shown(self, frame: Any, action: str, rows: int) -> None:
        """Handle a DataFrame that printed at most so many of its rows."""

    def rdd_read(self, rdd: Any, action: str, result: Any) -> None:
        """Handle an action that returned values of an RDD to the driver."""

    def observed(self, frame: Any) -> None:
        """Handle the read of an Observation's metrics of a DataFrame."""

    def computed(self, rows: Any) -> None:
        """Handle a DataFrame or RDD that Spark is about to compute without returning its values to the script."""

    def accumulated(self, value: Any) -> None:
        """Handle the read of an accumulator's value."""

    def learned(self, values: Sequence[Any], action: str, result: Any) -> None:
        """Handle a result that MLlib learned from the DataFrames and RDDs among `values`."""

    def model_called(self, owner: Any, action: str, result: Any) -> None:
        """Handle what a method of a Java-backed MLlib object returned, such as a DataFrame of a model."""

    def model_loaded(self, instance: Any, path: str) -> None:
        """Handle an object that MLlib loaded from a path."""

    def model_saved(self, instance: Any, path: str, call: Callable[[], Any]) -> Any:
        """Save an MLlib object with `call`, and return its result."""

    def table_saved(self, writer: Any, name: str) -> None:
        """Handle a DataFrameWriter that is about to save a table, which Spark drops before it overwrites it."""

    def stopped(self, throwable: Any) -> Exception | None:
        """Return the error with which capture stopped a command, or None if a Java exception has another cause."""
