"""The driver's JVM: our compiled Java classes and the handles that are asked for again and again.

A round trip over py4j costs a fraction of a millisecond, a dotted package path one for each dot: handles are kept,
and `provspark.Plans` does in one call what would take many.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from provspark.errors import CaptureError

JAVA = Path(__file__).parent / "java"


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
        self._modules: dict[str, Any] = {}
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

    # -- handles

    def module(self, name: str) -> Any:
        """Return a Scala object, by its full name."""
        if name not in self._modules:
            cls = self.class_of(name + "$")
            self._modules[name] = cls.getField("MODULE$").get(None)
        return self._modules[name]

    def class_of(self, name: str) -> Any:
        """Return a Java class by its full name, as Spark's own class loader sees it."""
        return self.jvm.java.lang.Class.forName(name, True, self.context_loader)

    @cached_property
    def context_loader(self) -> Any:
        """The class loader of the thread that serves py4j."""
        return self.jvm.java.lang.Thread.currentThread().getContextClassLoader()

    @cached_property
    def expressions(self) -> Any:
        """Catalyst's package of expressions; constructors are asked from it."""
        return self.jvm.org.apache.spark.sql.catalyst.expressions

    @cached_property
    def logical(self) -> Any:
        """Catalyst's package of logical plan nodes."""
        return self.jvm.org.apache.spark.sql.catalyst.plans.logical

    @cached_property
    def nothing(self) -> Any:
        """Scala's None."""
        return self.module("scala.None")

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
        out = self.jvm.java.util.ArrayList()
        for item in items:
            out.add(item)
        return out

    def seq(self, items: Iterable[Any]) -> Any:
        """Return an immutable Scala Seq."""
        return self.plans.seq(self.jlist(items))

    def items(self, seq: Any) -> list[Any]:
        """Return the items of a Scala Seq."""
        return list(self.plans.list(seq))

    def udf(self, function: Any, arity: int, result: Any, *, deterministic: bool = False) -> Any:
        """Return a Spark UDF of a Java object that implements ``UDF<arity>``; `result` is a Spark DataType."""
        functions = self.class_of("org.apache.spark.sql.functions")
        types = self.array(
            "java.lang.Class",
            [
                self.class_of(f"org.apache.spark.sql.api.java.UDF{arity}"),
                self.class_of("org.apache.spark.sql.types.DataType"),
            ],
        )
        made = functions.getMethod("udf", types).invoke(None, self.array("java.lang.Object", [function, result]))
        return made if deterministic else made.asNondeterministic()

    def call(self, udf: Any, arguments: Iterable[Any]) -> Any:
        """Return the expression of a UDF's call on expressions."""
        utils = self.jvm.org.apache.spark.sql.classic.ExpressionUtils
        columns = self.seq([utils.column(a) for a in arguments])
        return self.session.expression(udf.apply(columns))

    def data_type(self, name: str) -> Any:
        """Return one of Spark's types that is an object: ``Long``, ``Boolean``, ``String``."""
        return self.module(f"org.apache.spark.sql.types.{name}Type")


def compiled_jar(jvm: Jvm) -> Path:
    """Compile java/*.java with the Janino compiler that Spark ships; return the jar, from an earlier run's if equal."""
    sources = {p.name: p.read_text(encoding="utf-8") for p in sorted(JAVA.glob("*.java"))}
    version = str(jvm.spark.version)
    digest = hashlib.sha256(("\0".join([version, *sources, *sources.values()])).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"provspark-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or folder.is_symlink():
        raise CaptureError(f"{folder} belongs to somebody else; set TMPDIR to a folder of your own")
    jar = folder / f"provspark-{digest}.jar"
    if not jar.exists():
        made = folder / f".{jar.name}.{os.getpid()}"
        with zipfile.ZipFile(made, "w") as z:
            for name, text in sources.items():
                for cls, code in _compile(jvm, name, text):
                    z.writestr(cls.replace(".", "/") + ".class", code)
        made.replace(jar)
    return jar


def _compile(jvm: Jvm, name: str, text: str) -> list[tuple[str, bytes]]:
    compiler = jvm.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setTargetVersion(8)
    compiler.setParentClassLoader(jvm.context_loader)
    try:
        compiler.cook(text)
    except Exception as e:
        raise CaptureError(f"{name} does not compile on Spark {jvm.spark.version}: {e}") from e
    codes = compiler.getBytecodes()
    return [(str(c), bytes(codes[c])) for c in codes]
