"""Reads from class files which classes are nodes of a logical plan, and which of them are commands."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = "org/apache/spark/sql/catalyst/plans/logical/LogicalPlan"
COMMAND = "org/apache/spark/sql/catalyst/plans/logical/Command"
JARS = ("spark-catalyst_", "spark-sql_", "spark-hive_")
ABSTRACT = 0x0400

_WIDTHS = {3: 4, 4: 4, 5: 8, 6: 8, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 17: 4, 18: 4}


def header(code: bytes) -> tuple[str, list[str], bool]:
    """Name, names of what it extends and implements, and whether it is abstract."""
    (n,) = struct.unpack(">H", code[8:10])
    pool: list[str | int] = [0] * n
    at, i = 10, 1
    while i < n:
        tag = code[at]
        if tag == 1:
            (size,) = struct.unpack(">H", code[at + 1 : at + 3])
            pool[i] = code[at + 3 : at + 3 + size].decode("utf-8", "replace")
            at += 3 + size
        elif tag in (7, 8, 16, 19, 20):
            (pool[i],) = struct.unpack(">H", code[at + 1 : at + 3])
            at += 3
        else:
            at += 1 + _WIDTHS[tag]
            i += tag in (5, 6)  # longs and doubles take two places
        i += 1
    access, this, parent, interfaces = struct.unpack(">4H", code[at : at + 8])
    supers = struct.unpack(f">{interfaces}H", code[at + 8 : at + 8 + 2 * interfaces])
    names = [str(pool[int(pool[c])]) for c in (this, parent, *supers) if c]
    return names[0], names[1:], bool(access & ABSTRACT)


def plan_classes(jars: Path) -> set[str]:
    """Simple names of all classes that are logical plans and can be made."""
    return {name.rstrip("$") for name in classes(ROOT, spark_jars(jars))}


def command_classes(jars: Iterable[Path]) -> set[str]:
    """Simple names of all classes in jars that are commands and can be made, as Commands.java has them."""
    return {name.rstrip("$").rsplit("$", 1)[-1] for name in classes(COMMAND, jars)}


def spark_jars(jars: Path) -> list[Path]:
    """Those of Spark's jars that have logical plans."""
    return [jar for jar in sorted(jars.glob("*.jar")) if jar.name.startswith(JARS)]


def classes(root: str, jars: Iterable[Path]) -> set[str]:
    """Names, without their packages, of all classes in jars that are under a class and can be made."""
    found: dict[str, tuple[list[str], bool]] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as z:
            for entry in z.namelist():
                if entry.endswith(".class") and not entry.startswith("META-INF"):
                    name, supers, abstract = header(z.read(entry))
                    found[name] = (supers, abstract)
    under = below(root, {name: supers for name, (supers, _) in found.items()})
    return {name.rsplit("/", 1)[-1] for name in under if not found[name][1]}


def below(root: str, supers: dict[str, Iterable[str]]) -> set[str]:
    """All classes under a class."""
    children: dict[str, list[str]] = {}
    for name, above in supers.items():
        for one in above:
            children.setdefault(one, []).append(name)
    out: set[str] = set()
    todo = [root]
    while todo:
        for child in children.get(todo.pop(), []):
            if child not in out:
                out.add(child)
                todo.append(child)
    return out
