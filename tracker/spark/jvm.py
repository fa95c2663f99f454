"""The driver's JVM and ProvSpark's compiled Java classes.

A py4j round trip takes a fraction of a millisecond, and a dotted package path takes one for each dot. So
java/trees/Plans.java does in one call what would take many.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from provspark.model.errors import CaptureError

log = logging.getLogger("provspark")

TRACKER = Path(__file__).parents[1]

_thread = threading.local()
"""`gateway`: the gateway whose connection to this thread has TCP_NODELAY set."""


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
        """Create an object of one of our classes, in any package; its only constructor takes at most six arguments."""
        return self.plans.make(_full_names()[name], *args)

    @cached_property
    def plans(self) -> Any:
        """Helper that creates our objects and inspects Spark's (java/trees/Plans.java)."""
        constructor = self._loader.loadClass(_full_names()["Plans"]).getConstructors()[0]
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
    """Remove a delay of 40 ms from each answer above 8 KiB to this thread.

    py4j sends such answers in several segments. Nagle's algorithm holds the last one back until the one before is
    acknowledged, which the kernel delays. Without pinned threads (``PYSPARK_PIN_THREAD``) answers stay slow.
    """
    gateway = spark.sparkContext._gateway
    if getattr(_thread, "gateway", None) is gateway:
        return
    _thread.gateway = gateway
    try:
        thread_socket(gateway).setTcpNoDelay(True)
    except Exception as e:
        log.debug("provspark: can't set TCP_NODELAY, so each long answer of the JVM takes 40 ms more: %s", e)


def thread_socket(gateway: Any) -> Any:
    """Return the JVM's socket of its connection to this thread."""
    return gateway_server(gateway).getCallbackClient().getPerThreadConnection().getSocket()


def gateway_server(gateway: Any) -> Any:
    """Return the JVM's side of a gateway."""
    from py4j.java_gateway import JavaObject
    from py4j.protocol import GATEWAY_SERVER_OBJECT_ID

    return JavaObject(GATEWAY_SERVER_OBJECT_ID, gateway._gateway_client)


def compiled_jar(jvm: Jvm) -> Path:
    """Compile all Java files and return the jar; reuse the jar of an earlier run if the files are equal."""
    sources = _sources()
    version = str(jvm.spark.version)
    digest = hashlib.sha256(("\0".join([version, *sources, *sources.values()])).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"provspark-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or folder.is_symlink():
        raise CaptureError(f"{folder} belongs to another user or is a link; set TMPDIR to a folder of your own")
    jar = folder / f"provspark-{digest}.jar"
    if not jar.exists():
        made = folder / f".{jar.name}.{os.getpid()}"
        with zipfile.ZipFile(made, "w") as z:
            for path, code in compiled(jvm, sources).items():
                z.writestr(path, code)
        made.replace(jar)
    return jar


@cache
def java_files() -> dict[str, Path]:
    """Return our Java files, by the paths of their packages: ``taps/Tap.java``, ``families/join/Unknowns.java``."""
    families = {p.relative_to(TRACKER).as_posix(): p for p in sorted(TRACKER.glob("families/*/*.java"))}
    java = TRACKER / "java"
    return {p.relative_to(java).as_posix(): p for p in sorted(java.rglob("*.java"))} | families


@cache
def _sources() -> dict[str, str]:
    """Return the text of each Java file, by the same path."""
    return {path: file.read_text(encoding="utf-8") for path, file in java_files().items()}


@cache
def _full_names() -> dict[str, str]:
    """Return the full name of each class, by its simple name, which no two share."""
    files = {Path(path).stem: text for path, text in _sources().items()}
    return {name: f"{text.partition(';')[0].removeprefix('package ')}.{name}" for name, text in files.items()}


def compiled(jvm: Jvm, sources: Mapping[str, str]) -> dict[str, bytes]:
    """Compile files together with Janino, which Spark ships, so that they may refer to one another.

    Parameters
    ----------
    jvm : Jvm
        The class loader of its thread has the other classes that they refer to.
    sources : mapping
        Texts of the files, by path.

    Returns
    -------
    dict
        Bytecode of the classes, by path.
    """
    janino, resources = jvm.jvm.org.codehaus.janino, jvm.jvm.org.codehaus.commons.compiler.util.resource
    files = resources.MapResourceFinder()
    given = jvm.spark.sparkContext._gateway.new_array(resources.Resource, len(sources))
    for i, (path, text) in enumerate(sources.items()):
        files.addResource(path, text.encode())
        given[i] = files.findResource(path)
    compiler = janino.Compiler(resources.MapResourceFinder(), janino.ClassLoaderIClassLoader(jvm.context_loader))
    compiler.setCharacterEncoding("UTF-8")
    compiler.setTargetVersion(8)
    compiler.setClassFileFinder(resources.MapResourceFinder())
    made = resources.MapResourceCreator()
    compiler.setClassFileCreator(made)
    try:
        compiler.compile(given)
    except Exception as e:
        raise CaptureError(
            f"ProvSpark's Java code does not compile on Spark {jvm.spark.version} (please report it): {e}"
        ) from e
    codes = made.getMap()
    return {str(path): bytes(codes[path]) for path in codes}
