"""Patches of pyspark that report a script's calls to capture, and their removal."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from functools import update_wrapper, wraps
from inspect import signature, unwrap
from types import ModuleType
from typing import Any

from provspark.tracker.intercept.actions import LEARNERS, reading
from provspark.tracker.intercept.import_hook import WhenImported
from provspark.tracker.script.shown_frames import EAGER
from provspark.tracker.script.sites import is_library, of_script
from provspark.tracker.session.read_capture import ReadCapture
from provspark.tracker.session.script_capture import ScriptCapture

_RDD_SAVES = (
    "saveAsHadoopDataset",
    "saveAsHadoopFile",
    "saveAsNewAPIHadoopDataset",
    "saveAsNewAPIHadoopFile",
    "saveAsPickleFile",
    "saveAsSequenceFile",
    "saveAsTextFile",
)
_RDD_LOOKS = ("sortBy", "sortByKey", "zipWithIndex")
"""Methods of RDD that run a job without returning its results to the script."""
_JSON_FRAME = "spark.sql.pyspark.toJSON.returnDataFrame"
"""Setting since Spark 4.2: whether toJSON returns a DataFrame instead of an RDD."""
_STREAM = "capture can't trace streaming writes. Use a batch job instead: read the data with spark.read, and write it"
_CONNECT = (
    "capture can't see what a session of Spark Connect reads and writes. Create a classic session instead: do not set"
    " `builder.remote(…)` or SPARK_REMOTE"
)


class Interception:
    """Patches of pyspark's classes. `remove` undoes them all."""

    def __init__(self, script: ScriptCapture, reading: ReadCapture) -> None:
        self._script, self._reading = script, reading
        # Thread-local, because other threads of the script and foreachBatch callbacks run actions of their own. So do
        # threads that an action starts, such as CrossValidator's pool: their calls count as the script's.
        self._acting = threading.local()
        # Threads share these without a lock: each use is a single get or set, and nothing iterates over them.
        self._handed: weakref.WeakSet[Any] = weakref.WeakSet()
        """RDDs that hold rows of the script and compute nothing."""
        self._rdds: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """RDDs of DataFrames, by DataFrame."""
        self._observed: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """Observed DataFrames, by Observation."""
        self._of_writer: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """Objects that JavaMLWriters save. Unlike writers in Python, they keep no reference themselves."""
        self._undo: list[tuple[Any, str, Any]] = []
        self._waiting: list[WhenImported] = []

    def install(self) -> None:
        """Patch pyspark, and report the sessions that already exist."""
        from pyspark import RDD, Accumulator, SparkContext
        from pyspark.sql import Observation, SparkSession
        from pyspark.sql.catalog import Catalog
        from pyspark.sql.classic.dataframe import DataFrame
        from pyspark.sql.readwriter import DataFrameWriter
        from pyspark.sql.streaming import DataStreamWriter
        from pyspark.sql.tvf import TableValuedFunction
        from pyspark.sql.udf import UserDefinedFunction
        from pyspark.sql.utils import ForeachBatchFunction

        script = self._script
        self._convert_errors()
        self._name_calls()
        self._around(DataFrameWriter, "saveAsTable", self._save_table)
        self._sql, self._batch = unwrap(SparkSession.sql).__code__, unwrap(ForeachBatchFunction.call).__code__
        self._after(DataFrame, "__init__", self._frame_made)
        self._after(SparkSession, "__init__", lambda spark, *_: script.session_made(spark))
        self._around(UserDefinedFunction, "_create_judf", self._function)
        self._before(SparkContext, "stop", script.context_stops)
        for name in ("cache", "persist", "unpersist"):
            self._after(DataFrame, name, lambda frame, *_: script.cache_changed(frame.sparkSession))
        for name in ("cacheTable", "uncacheTable", "clearCache", "refreshTable", "refreshByPath"):
            self._after(Catalog, name, lambda catalog, *_: script.cache_changed(catalog._sparkSession))
        for name in reading("DataFrame"):
            self._around(DataFrame, name, self._read)
        for name in ("show", "_show_string", *EAGER):  # some scripts call `_show_string` for the text
            self._around(DataFrame, name, self._show)
        plain = DataFrame.__dict__["rdd"]
        self._patch(DataFrame, "rdd", plain, property(lambda frame: self._rdd(plain, frame)))
        self._around(DataFrame, "toJSON", self._json)
        self._around(Observation, "_on", self._observe)
        get = Observation.__dict__["get"]
        self._patch(Observation, "get", get, property(lambda observation: self._observation_read(get, observation)))
        value = Accumulator.__dict__["value"]
        self._patch(Accumulator, "value", value, property(lambda a: self._accumulated(value.fget, a), value.fset))
        for name in ("__str__", "__repr__"):
            self._around(Accumulator, name, self._accumulated)
        for name in reading("RDD"):
            self._around(RDD, name, self._read_rdd)
        for name in _RDD_LOOKS:
            self._around(RDD, name, self._look)
        self._around(SparkContext, "runJob", self._run_job)
        for owner in (DataFrame, RDD):
            for name in ("foreach", "foreachPartition"):
                self._around(owner, name, self._foreach)
        for name in _RDD_SAVES:
            self._around(RDD, name, self._save)
        for name in ("start", "toTable"):
            self._before(DataStreamWriter, name, lambda *_, n=name: script.refused(f"DataStreamWriter.{n}", _STREAM))
        self._around(DataFrame, "transpose", self._transpose)
        for name in ("checkpoint", "localCheckpoint"):
            self._around(DataFrame, name, self._checkpoint)
        self._around(SparkSession, "createDataFrame", self._create)
        self._around(SparkContext, "parallelize", self._parallelize)
        for owner, name in ((SparkSession, "range"), (TableValuedFunction, "range")):
            self._around(owner, name, self._range)
        for name in LEARNERS:
            self._waiting.append(WhenImported(name, self._learner_imported))
        self._waiting.append(WhenImported("pyspark.ml.util", self._models_imported))
        self._waiting.append(WhenImported("pyspark.sql.connect.session", self._connect_imported))
        for spark in {SparkSession._instantiatedSession, SparkSession.getActiveSession()} - {None}:
            script.session_made(spark)

    def remove(self) -> None:
        """Undo all patches."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self._waiting]
        self._waiting.clear()
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)

    def _convert_errors(self) -> None:
        """Let an error that stops a command because its lineage is lost reach the script as it was raised."""
        from pyspark.errors.exceptions import captured

        convert = captured.convert_exception
        self._undo.append((captured, "convert_exception", convert))

        def converted(throwable: Any) -> Any:
            return self._script.stopped(throwable) or convert(throwable)

        captured.convert_exception = converted

    def _name_calls(self) -> None:
        """Let Spark name jobs after the line of the script that calls PySpark, not after one of a patch."""
        from pyspark import traceback_utils

        first = traceback_utils.first_spark_call
        self._undo.append((traceback_utils, "first_spark_call", first))
        traceback_utils.first_spark_call = lambda: of_script(first())

    def _save_table(self, save: Callable[..., Any], writer: Any, *args: Any, **kwargs: Any) -> Any:
        self._script.table_saved(writer, args[0] if args else kwargs["name"])
        return save(writer, *args, **kwargs)

    def _frame_made(self, frame: Any, *_: Any) -> None:
        self._script.frame_made(frame)
        # Stack frame 0 is this one, 1 `patched`, 2 the caller. Patches of these callers would be in their tracebacks.
        maker = sys._getframe(2).f_code
        if maker is self._sql:
            self._script.rows_made(frame, "SparkSession.sql", None, local=False)
        elif maker is self._batch:
            self._script.batch_made(frame)

    def _read(self, action: Callable[..., Any], frame: Any, *args: Any, **kwargs: Any) -> Any:
        if self._within():
            return action(frame, *args, **kwargs)
        self._script.cache_changed(frame.sparkSession)  # a Java call may have cached something (`df._jdf.persist()`)
        run = lambda rows: self._outermost(lambda: action(rows, *args, **kwargs))  # noqa: E731
        return self._reading.frame(frame, action.__name__, (*args, *kwargs.values()), run)

    def _show(self, show: Callable[..., Any], frame: Any, *args: Any, **kwargs: Any) -> Any:
        if self._within():
            return show(frame, *args, **kwargs)
        result = self._outermost(lambda: show(frame, *args, **kwargs))
        self._reading.shown(frame, show.__name__, args[0] if args else kwargs.get("n", 20))
        return result

    def _observe(self, on: Callable[..., Any], observation: Any, *args: Any, **kwargs: Any) -> Any:
        made = on(observation, *args, **kwargs)
        self._observed[observation] = made
        return made

    def _observation_read(self, get: Any, observation: Any) -> Any:
        result = get.__get__(observation, type(observation))
        if observation in self._observed:
            self._reading.observed(self._observed[observation])
        return result

    def _accumulated(self, read: Callable[..., Any], accumulator: Any) -> Any:
        result = read(accumulator)
        # Stack frame 0 is this one, 1 the lambda or `patched` from `install`, 2 the caller.
        if not self._within() and not is_library(sys._getframe(2).f_code.co_filename):
            self._reading.accumulated(accumulator._value)
        return result

    def _rdd(self, plain: Any, frame: Any) -> Any:
        from pyspark.sql import DataFrame

        # `plain` is a cached_property: the DataFrame holds its RDD if it was read before the patch, or below.
        known = self._rdds.get(frame) or vars(frame).get("rdd")
        if known is not None:
            return known
        if self._within():
            return plain.__get__(frame, type(frame))
        take = lambda jdf: plain.__get__(DataFrame(jdf, frame.sparkSession), DataFrame)  # noqa: E731
        self._rdds[frame] = self._outermost(lambda: self._script.rdd_of(frame, take))
        return self._rdds[frame]

    def _json(self, to_json: Callable[..., Any], frame: Any, *args: Any, **kwargs: Any) -> Any:
        from pyspark.sql import DataFrame

        conf = frame.sparkSession.conf
        # If it is not modifiable, this Spark has no such setting, and `get` would raise.
        framed = conf.isModifiable(_JSON_FRAME) and conf.get(_JSON_FRAME) == "true"
        if framed or self._within():
            return to_json(frame, *args, **kwargs)
        take = lambda jdf: to_json(DataFrame(jdf, frame.sparkSession), *args, **kwargs)  # noqa: E731
        return self._outermost(lambda: self._script.rdd_of(frame, take))

    def _read_rdd(self, action: Callable[..., Any], rdd: Any, *args: Any, **kwargs: Any) -> Any:
        if self._within():
            return action(rdd, *args, **kwargs)
        self._reading.computed(rdd)  # before it runs: if it fails, finished tasks have already added to accumulators
        result = self._outermost(lambda: action(rdd, *args, **kwargs))
        self._reading.rdd(rdd, action.__name__, result)
        return result

    def _run_job(self, run: Callable[..., Any], context: Any, rdd: Any, *args: Any, **kwargs: Any) -> Any:
        def runJob(rdd: Any) -> Any:  # noqa: N802 - `_read_rdd` takes the action's name from it
            return run(context, rdd, *args, **kwargs)

        return self._read_rdd(runJob, rdd)

    def _look(self, look: Callable[..., Any], rdd: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._within():
            self._reading.computed(rdd)
        return self._outermost(lambda: look(rdd, *args, **kwargs))

    def _learner_imported(self, module: ModuleType) -> None:
        try:
            self._watch_learning(module)
        except Exception as e:  # must not break the script's import
            self._script.refused(
                module.__name__, f"capture can't see what it learns from rows: {type(e).__name__}: {e}"
            )

    def _watch_learning(self, module: ModuleType) -> None:
        for path in LEARNERS[module.__name__]:
            *owners, name = path.split(".")
            owner = getattr(module, owners[0]) if owners else module
            plain = vars(owner)[name]
            self._undo.append((owner, name, plain))
            if isinstance(plain, staticmethod):
                setattr(owner, name, staticmethod(self._learning(plain.__func__)))
            else:
                setattr(owner, name, self._learning(plain))

    def _connect_imported(self, module: ModuleType) -> None:
        self._before(module.SparkSession, "__init__", lambda *_: self._script.refused("Spark Connect", _CONNECT))

    def _models_imported(self, module: ModuleType) -> None:
        try:
            self._around(module.JavaMLWriter, "__init__", self._model_writer)
            for writer in (module.JavaMLWriter, module.MLWriter):
                self._around(writer, "save", self._save_model)
            self._around(module.JavaMLReader, "load", self._load_model)
        except Exception as e:  # must not break the script's import
            why = f"capture can't see the models that it saves or loads: {type(e).__name__}: {e}"
            self._script.refused(module.__name__, why)

    def _model_writer(self, init: Callable[..., Any], writer: Any, instance: Any, *args: Any, **kwargs: Any) -> None:
        init(writer, instance, *args, **kwargs)
        self._of_writer[writer] = instance

    def _save_model(self, save: Callable[..., Any], writer: Any, *args: Any, **kwargs: Any) -> Any:
        if self._within():
            return save(writer, *args, **kwargs)
        instance = self._of_writer.get(writer) or getattr(writer, "instance", None)
        path = next((a for a in (*args, *kwargs.values()) if isinstance(a, str)), "")
        call = lambda: save(writer, *args, **kwargs)  # noqa: E731
        return self._script.model_saved(instance, path, lambda: self._outermost(call))

    def _load_model(self, load: Callable[..., Any], reader: Any, *args: Any, **kwargs: Any) -> Any:
        result = load(reader, *args, **kwargs)
        path = next((a for a in (*args, *kwargs.values()) if isinstance(a, str)), "")
        self._reading.loaded(result, path)
        return result

    def _learning(self, learn: Callable[..., Any]) -> Callable[..., Any]:
        from pyspark import RDD
        from pyspark.sql import DataFrame

        @wraps(learn)
        def learning(*args: Any, **kwargs: Any) -> Any:
            if self._within():
                return learn(*args, **kwargs)
            result = self._outermost(lambda: learn(*args, **kwargs))
            values, name = (*args, *kwargs.values()), learn.__qualname__
            if learn.__name__ == "_call_java":  # called as (wrapper, name of the Java method, *arguments)
                name = f"{type(args[0]).__name__}.{args[1]}"
                self._reading.called(args[0], name, result)
                if isinstance(result, DataFrame):
                    return result  # followed as a DataFrame, or refused when it is written
            if not isinstance(result, RDD) and any(isinstance(value, (DataFrame, RDD)) for value in values):
                self._reading.learned(values, name, result)
            return result

        return learning

    def _foreach(self, action: Callable[..., Any], this: Any, *args: Any, **kwargs: Any) -> Any:
        if self._within():
            return action(this, *args, **kwargs)
        node = f"{type(this).__name__}.{action.__name__}"
        why = "capture can't see what its function does with the rows"
        self._reading.computed(this)
        call = lambda: action(this, *args, **kwargs)  # noqa: E731
        return self._script.effect(node, why, lambda: self._outermost(call), this)

    def _save(self, save: Callable[..., Any], rdd: Any, *args: Any, **kwargs: Any) -> Any:
        if self._within():
            return save(rdd, *args, **kwargs)
        to = next((f" to {a}" for a in (*args, *kwargs.values()) if isinstance(a, str)), "")
        self._reading.computed(rdd)
        call = lambda: save(rdd, *args, **kwargs)  # noqa: E731
        why = f"capture can't trace writes of RDDs: the script wrote rows{to}. Write a DataFrame instead"
        return self._script.effect(f"RDD.{save.__name__}", why, lambda: self._outermost(call), rdd)

    def _within(self) -> bool:
        """Whether an action of the script is running, so that calls now come from pyspark and not from the script."""
        return bool(getattr(self._acting, "now", False))

    def _outermost(self, call: Callable[[], Any]) -> Any:
        before, self._acting.now = self._within(), True
        try:
            return call()
        finally:
            self._acting.now = before

    def _function(self, create: Callable[..., Any], function: Any, *args: Any, **kwargs: Any) -> Any:
        made = create(function, *args, **kwargs)
        self._script.function_made(function.func, made)
        return made

    def _create(self, create: Callable[..., Any], spark: Any, *args: Any, **kwargs: Any) -> Any:
        from pyspark import RDD
        from pyspark.sql import DataFrame

        data = args[0] if args else kwargs["data"]
        if isinstance(data, RDD) and not self._within():
            self._reading.computed(data)  # Spark infers the types from its first rows
        frame = self._outermost(lambda: create(spark, *args, **kwargs))
        local = data in self._handed if isinstance(data, RDD) else not isinstance(data, DataFrame)
        self._script.rows_made(frame, "SparkSession.createDataFrame", data, local=local)
        return frame

    def _range(self, make: Callable[..., Any], this: Any, *args: Any, **kwargs: Any) -> Any:
        frame = make(this, *args, **kwargs)
        if not self._within():
            self._script.rows_made(frame, f"{type(this).__name__}.range", None, local=False)
        return frame

    def _parallelize(self, parallelize: Callable[..., Any], context: Any, c: Any, *args: Any, **kwargs: Any) -> Any:
        from pyspark import RDD

        rows = c if hasattr(c, "__len__") else list(c)
        rdd = self._outermost(lambda: parallelize(context, rows, *args, **kwargs))
        self._handed.add(rdd)
        if not self._within():
            java = rdd._jrdd if rdd.__class__ is RDD else rdd._prev_jrdd  # a range is a PipelinedRDD over empty rows
            # `c` is the script's own object, which shows where it came from, even if it is an exhausted generator.
            self._script.rows_handed(java, len(rows), repr(rows) if isinstance(rows, range) else "", c)
        return rdd

    def _checkpoint(self, checkpoint: Callable[..., Any], frame: Any, *args: Any, **kwargs: Any) -> Any:
        from pyspark.sql import DataFrame

        spark = frame.sparkSession
        if checkpoint.__name__ == "checkpoint" and not all((*args, *kwargs.values())):
            # `eager`, its one argument, is false: Spark computes the rows in the first job, and again to save them. A
            # localCheckpoint keeps the rows of the first job.
            return checkpoint(frame, *args, **kwargs)
        self._reading.computed(frame)
        take = lambda jdf: checkpoint(DataFrame(jdf, spark), *args, **kwargs)._jdf  # noqa: E731
        return DataFrame(self._script.checkpoint(frame, take), spark)

    def _transpose(self, transpose: Callable[..., Any], frame: Any, *args: Any, **kwargs: Any) -> Any:
        from pyspark.sql import DataFrame

        spark, index = frame.sparkSession, next(iter((*args, *kwargs.values())), None)
        take = lambda jdf: transpose(DataFrame(jdf, spark), *args, **kwargs)._jdf  # noqa: E731
        return DataFrame(self._script.transposed(frame, index, take), spark)

    def _around(self, owner: type, name: str, instead: Callable[..., Any]) -> None:
        """Replace a method by `instead`, which gets the original method and the arguments.

        If the arguments don't match the signature, the original method is called, so that it raises its own error.
        """
        original = owner.__dict__[name]
        expected = signature(original)

        def patched(this: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                expected.bind(this, *args, **kwargs)
            except TypeError:
                return original(this, *args, **kwargs)
            return instead(original, this, *args, **kwargs)

        self._patch(owner, name, original, patched)

    def _after(self, owner: type, name: str, then: Callable[..., None]) -> None:
        """Call `then` after a method, with the object and the first argument, positional or not."""
        original = owner.__dict__[name]

        def patched(this: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(this, *args, **kwargs)
            then(this, *(args[:1] or tuple(kwargs.values())[:1]))
            return result

        self._patch(owner, name, original, patched)

    def _before(self, owner: type, name: str, first: Callable[[Any], None]) -> None:
        original = owner.__dict__[name]

        def patched(this: Any, *args: Any, **kwargs: Any) -> Any:
            first(this)
            return original(this, *args, **kwargs)

        self._patch(owner, name, original, patched)

    def _patch(self, owner: type, name: str, original: Any, patched: Any) -> None:
        if not isinstance(patched, property):
            update_wrapper(patched, original)
        self._undo.append((owner, name, original))
        setattr(owner, name, patched)
