"""Scripts as users write them, one for each case: the body of a function becomes a file of its own.

A comment ``# R`` at a line's end names the read that the line makes; ``# A`` and ``# B`` name two.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

HEADER = """\
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

spark = SparkSession.builder.appName("report").getOrCreate()
people, visits, out, work = sys.argv[1:5]
"""
"""What every script begins with; the parameters of a case's function are among these names."""
_MARK = re.compile(r"# ([A-Z])$")


@dataclass(frozen=True, slots=True)
class Script:
    """A step of a case."""

    name: str
    body: Callable[..., None]

    @property
    def file(self) -> str:
        return f"{self.name}.py"

    def text(self) -> str:
        """The script: the header, and the function's body without its docstring."""
        lines = dedent(inspect.getsource(self.body)).splitlines()
        (function,) = ast.parse("\n".join(lines)).body
        assert isinstance(function, ast.FunctionDef)
        first = function.body[1 if ast.get_docstring(function) else 0]
        start = min(node.lineno for node in (first, *getattr(first, "decorator_list", ())))
        return HEADER + "\n" + dedent("\n".join(lines[start - 1 :])) + "\n"

    def marks(self) -> dict[str, str]:
        """Marks of reads, each with its data set."""
        found = [(number, _MARK.search(line)) for number, line in enumerate(self.text().splitlines(), 1)]
        return {m[1]: f"memory://driver/{self.file}:{number}" for number, m in found if m}

    def place(self, folder: Path) -> Path:
        """Write the file."""
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(), encoding="utf-8")
        return path


@dataclass(frozen=True, slots=True)
class Expected:
    """What answers about a case's output are to say, written by hand.

    Parameters
    ----------
    data, context, possible : rows of the source that ``backward(out)`` finds by each kind of edge
    reads : marks of the reads that possible edges of the output go to
    ends : marks of the reads that ``forward(source, rows)`` ends in
    stops : kinds of stops of ``forward(source, rows, to=out)`` that fail a check for nothing
    label : coverage of the last write of the output
    """

    data: frozenset[int] = frozenset()
    context: frozenset[int] = frozenset()
    possible: frozenset[int] = frozenset()
    reads: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    stops: frozenset[str] = frozenset()
    label: str = "exact"

    @property
    def how(self) -> str:
        """The strongest way by which the row is reached."""
        if self.data or self.context:
            return "edge"
        return "possible" if self.possible else "stop" if self.stops else "end" if self.ends else ""


@dataclass(frozen=True, slots=True)
class Case:
    """Scripts that run one after the other as steps of one run, and what is expected of their output.

    Parameters
    ----------
    source : {"people", "visits"}
    rows : row ids of the source that the case asks about; None for all
    strict : whether reads of one number count
    args : further arguments of the scripts
    """

    name: str
    expected: Expected
    source: str = "people"
    rows: Sequence[int] | None = None
    strict: bool = False
    args: tuple[str, ...] = ()
    scripts: list[Script] = field(default_factory=list)

    def then(self, body: Callable[..., None]) -> None:
        """Add a further step."""
        self.scripts.append(Script(f"{self.name}_{len(self.scripts) + 1}", body))

    def marks(self) -> dict[str, str]:
        """Marks of all steps, each with its data set."""
        return {mark: dataset for script in self.scripts for mark, dataset in script.marks().items()}


class Cases(dict[str, Case]):
    """A theme's cases by name: call it to decorate the function of one.

    Parameters
    ----------
    rows, label : what cases of the theme have in common
    """

    def __init__(self, *, rows: Sequence[int] | None = None, label: str = "exact") -> None:
        super().__init__()
        self._rows, self._label = rows, label

    def __call__(
        self,
        *,
        reads: str = "",
        ends: str | None = None,
        stops: Sequence[str] = (),
        label: str = "",
        source: str = "people",
        rows: Sequence[int] | None = None,
        strict: bool = False,
        args: tuple[str, ...] = (),
        **edges: Iterable[int],
    ) -> Callable[[Callable[..., None]], Case]:
        """Decorate a case's first step; `Case` and `Expected` describe the parameters.

        Without `ends`, they are the reads that possible edges go to: these do not count as reading on.
        """
        expected = Expected(
            reads=frozenset(reads),
            ends=frozenset(reads if ends is None else ends),
            stops=frozenset(stops),
            label=label or self._label,
            **{kind: frozenset(found) for kind, found in edges.items()},
        )

        def add(body: Callable[..., None]) -> Case:
            name = body.__name__
            assert name not in self, f"two cases are named {name}"
            asked = self._rows if rows is None else rows
            self[name] = Case(name, expected, source, asked, strict, args, [Script(name, body)])
            return self[name]

        return add
