"""What capture hears of a running script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Listener(Protocol):
    """Who is told of what the script does: a `Capture`, whose module imports what tells it."""

    def session_made(self, spark: Any) -> None:
        """Take note of a SparkSession that now exists."""

    def context_stops(self, context: Any) -> None:
        """Hear that a SparkContext is about to stop."""

    def frame_made(self, frame: Any) -> None:
        """Take note of a frame that a line of the script just made."""

    def batch_made(self, frame: Any) -> None:
        """Take note of a frame that holds a batch of a stream."""

    def function_made(self, function: Any, made: Any) -> None:
        """Take note of a function of the script's, and of the Java object that Spark made for it."""

    def cache_changed(self, spark: Any) -> None:
        """Hear that something was put into Spark's cache, or taken out of it."""

    def cache_table(self, spark: Any, text: str) -> Any:
        """Run a CACHE TABLE; return its Java Dataset, or None to let Spark run it."""

    def checkpoint(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Checkpoint a frame's Java Dataset, or another in its stead, by `take`; return the Java Dataset."""

    def rows_made(self, frame: Any, maker: str, data: Any, *, local: bool) -> None:
        """Take note of a frame that a call made of rows (`data`) that the script handed over (`local`), or of none."""

    def effect(self, node: str, why: str, call: Callable[[], Any], rows: Any = None) -> Any:
        """Run what leaves something behind that can't be followed; `rows`: of which frame or RDD, if of one."""

    def refused(self, node: str, why: str) -> None:
        """Hear that something is about to start that can't be followed."""

    def transposed(self, frame: Any, index: Any, take: Callable[[Any], Any]) -> Any:
        """Return the Java Dataset that `take` makes of a frame, or of another in its stead."""

    def rdd_of(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Return the RDD that `take` makes of a frame's Java Dataset, or of another in its stead."""

    def rows_handed(self, rdd: Any, rows: int, content: str, data: Any) -> None:
        """Take note of a JavaRDD that holds `data` of the script; `content`: what they are, where it doesn't say."""

    def frame_read(self, frame: Any, action: str, args: tuple[Any, ...], call: Callable[[Any], Any]) -> Any:
        """Run an action of a frame with some arguments, by `call` with this frame or another in its stead."""

    def shown(self, frame: Any, action: str, rows: int) -> None:
        """Take note that a frame printed so many of its rows, at most."""

    def rdd_read(self, rdd: Any, action: str, result: Any) -> None:
        """Take note that an action of the script brought values of an RDD to the driver."""

    def observed(self, frame: Any) -> None:
        """Take note that the script took what an Observation saw of an observed frame."""

    def variable_set(self, frame: Any) -> None:
        """Take note that a query, of which this is the frame, set a variable of the session."""

    def computed(self, rows: Any) -> None:
        """Take note that a frame or an RDD is about to be computed, of which the script gets nothing."""

    def accumulated(self, value: Any) -> None:
        """Take note that the script read the value of an accumulator."""

    def learned(self, values: Sequence[Any], action: str, result: Any) -> None:
        """Take note that MLlib returned a result learned from frames and RDDs."""

    def model_called(self, owner: Any, action: str, result: Any) -> None:
        """Take note of what a method of MLlib's objects in Java returned, such as a model's frame."""

    def model_loaded(self, instance: Any, path: str) -> None:
        """Told of what MLlib loaded from a path."""

    def model_saved(self, instance: Any, path: str, call: Callable[[], Any]) -> Any:
        """Save a model of MLlib, or what has none, by `call`; return what that returns."""

    def write(self, spark: Any, frame: Any, writer: Any, end: str, args: tuple[Any, ...]) -> Any:
        """Run the end of a DataFrameWriter; return what it returns."""

    def write_v2(self, spark: Any, writer: Any, end: str, args: tuple[Any, ...]) -> Any:
        """Run the end of a DataFrameWriterV2; return what it returns."""

    def sql(self, spark: Any, call: Callable[[], Any], text: str, args: Any) -> Any:
        """Run SQL text by `call`, or otherwise; return what that returns."""
