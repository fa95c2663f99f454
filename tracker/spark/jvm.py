"""The driver's JVM and our compiled Java classes.

A round trip over py4j costs a fraction of a millisecond, a dotted package path one for each dot: `provspark.Plans` does
in one call what would take many.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from provspark.model.errors import CaptureError

log = logging.getLogger("provspark")

JAVA = Path(__file__).parents[1] / "java"

_SHARED = (
    *("Trees", "AddressedRelation", "Marks", "Answers", "Keys", "Calls", "Nodes", "RowIds", "Tap", "Notes", "Taps"),
    *("Unused", "RowNumbers", "AddressedFormats", "AddressedScan", "Json", "Sql", "SqlCheck", "Expressions"),
    *("ScriptVariables", "CatalogTable", "Inferred", "MadeRows", "Commands", "Reads", "Changes"),
)
"""Classes that others refer to, each after those that it refers to itself: Janino takes one file at a time."""
_THREADS = 4
"""Other classes compiled at once."""
_thread = threading.local()
"""`gateway`: the one whose connection to this thread was told to answer at once."""


class Jvm:
    """One SparkSession's JVM with ProvSpark's classes loaded in the driver and on every executor.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        A classic session (not Spark Connect).
    """

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self.jvm = spark._jvm
        self.session = spark._jsparkSession
        self.gateway = spark.sparkContext._gateway
        jar = compiled_jar(self)
        self.session.sql(f"ADD JAR '{jar.as_uri()}'")
        self._loader = self.session.sharedState().jarClassLoader()

    # -- objects of our own classes

    def new(self, name: str, *args: Any) -> Any:
        """Make a ``provspark.NAME`` by its only constructor, of at most six arguments."""
        return self.plans.make(name, *args)

    @cached_property
    def plans(self) -> Any:
        """The helper that makes our objects and looks into Spark's (java/Plans.java)."""
        constructor = self._loader.loadClass("provspark.Plans").getConstructors()[0]
        return constructor.newInstance(self.array("java.lang.Object", []))

    def rows(self, plan: Any) -> Any:
        """Return the Java Dataset of a logical plan."""
        return self._datasets.ofRows(self.session, plan)

    @cached_property
    def _datasets(self) -> Any:
        return self.jvm.org.apache.spark.sql.classic.Dataset

    @cached_property
    def _lists(self) -> Any:
        return self.jvm.java.util.ArrayList

    @cached_property
    def context_loader(self) -> Any:
        """The class loader of the thread that serves py4j."""
        return self.jvm.java.lang.Thread.currentThread().getContextClassLoader()

    # -- conversions

    def array(self, class_name: str, items: Sequence[Any]) -> Any:
        """Return a Java array."""
        cls = self.jvm
        for part in class_name.split("."):
            cls = getattr(cls, part)
        out = self.gateway.new_array(cls, len(items))
        for i, item in enumerate(items):
            out[i] = item
        return out

    def jlist(self, items: Iterable[Any]) -> Any:
        """Return a java.util.ArrayList."""
        out = self._lists()
        for item in items:
            out.add(item)
        return out


def answer_at_once(spark: Any) -> None:
    """Let answers above 8 KiB come to this thread without a delay of 40 ms each.

    py4j sends them in several segments, the last of which Nagle's algorithm holds back until the one before is
    acknowledged, which the kernel puts off. Without pinned threads (``PYSPARK_PIN_THREAD``) they stay slow.
    """
    gateway = spark.sparkContext._gateway
    if getattr(_thread, "gateway", None) is gateway:
        return
    _thread.gateway = gateway
    try:
        thread_socket(gateway).setTcpNoDelay(True)
    except Exception as e:
        log.debug("provspark: the JVM's long answers take 40 ms more each: %s", e)


def thread_socket(gateway: Any) -> Any:
    """Return the JVM's socket to this thread."""
    from py4j.java_gateway import JavaObject
    from py4j.protocol import GATEWAY_SERVER_OBJECT_ID

    server = JavaObject(GATEWAY_SERVER_OBJECT_ID, gateway._gateway_client)
    return server.getCallbackClient().getPerThreadConnection().getSocket()


def compiled_jar(jvm: Jvm) -> Path:
    """Compile java/*.java with the Janino compiler that Spark ships; return the jar, from an earlier run's if equal."""
    sources = _sources()
    version = str(jvm.spark.version)
    digest = hashlib.sha256(("\0".join([version, *sources, *sources.values()])).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"provspark-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or folder.is_symlink():
        raise CaptureError(f"{folder} belongs to somebody else; set TMPDIR to a folder of your own")
    jar = folder / f"provspark-{digest}.jar"
    if not jar.exists():
        made = folder / f".{jar.name}.{os.getpid()}"
        loader = jvm.context_loader
        with zipfile.ZipFile(made, "w") as z:
            for name in _SHARED:
                compiler = _compiled(jvm, f"{name}.java", sources[f"{name}.java"], loader)
                loader = compiler.getClassLoader()
                _add(z, compiler)
            rest = list(sources)[len(_SHARED) :]
            with ThreadPoolExecutor(_THREADS) as pool:
                for compiler in pool.map(lambda name: _compiled(jvm, name, sources[name], loader), rest):
                    _add(z, compiler)
        made.replace(jar)
    return jar


@cache
def _sources() -> dict[str, str]:
    """Return the text of each file, those that others refer to first."""
    first = [JAVA / f"{name}.java" for name in _SHARED]
    files = [*first, *sorted(set(JAVA.glob("*.java")) - set(first))]
    return {p.name: p.read_text(encoding="utf-8") for p in files}


def _add(jar: zipfile.ZipFile, compiler: Any) -> None:
    codes = compiler.getBytecodes()
    for name in codes:
        jar.writestr(name.replace(".", "/") + ".class", bytes(codes[name]))


def _compiled(jvm: Jvm, name: str, text: str, loader: Any) -> Any:
    """Return the compiler that took a file, which sees the classes of `loader`."""
    compiler = jvm.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setTargetVersion(8)
    compiler.setParentClassLoader(loader)
    try:
        compiler.cook(text)
    except Exception as e:
        raise CaptureError(f"{name} does not compile on Spark {jvm.spark.version}: {e}") from e
    return compiler
