"""Runs scripts line by line and keeps what each returns, prints and warns of; it runs on the last release, too."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import io
import warnings
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

SCRIPTS = Path(__file__).parent / "scripts"


@dataclasses.dataclass
class Line:
    """One statement of a script: its text, what came of it as JSON, and what it warned of."""

    text: str
    value: Any
    warned: list[warnings.WarningMessage]


def run(script: str, root: Path) -> list[Line]:
    """Run a script that was written for /data on another folder."""
    text = (SCRIPTS / f"{script}.py").read_text()
    names: dict[str, Any] = {"__name__": "__main__"}
    return list(_lines(text, f"{script}.py", str(root), names))


def _lines(text: str, file: str, root: str, names: dict[str, Any]) -> Iterator[Line]:
    for statement in ast.parse(text.replace("/data/", f"{root}/")).body:
        printed = io.StringIO()
        last = isinstance(statement, ast.Expr)
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
            warnings.simplefilter("always")
            if last:
                value = eval(compile(ast.Expression(statement.value), file, "eval"), names)
            else:
                value = exec(compile(ast.Module([statement], []), file, "exec"), names)
            if isinstance(value, Iterator):
                value = list(value)
        yield Line(ast.unparse(statement).replace(root, "/data"), told(value) if last else printed.getvalue(), caught)


def told(value: Any) -> Any:
    """A value as JSON: tables with the last release's names of columns."""
    whole = type(value)
    if hasattr(whole, "former_table"):
        return told(value.former_table())
    if isinstance(value, pa.Table | pa.RecordBatch):
        return {"columns": value.schema.names, "lines": [told(line) for line in value.to_pylist()]}
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return told(value.to_pylist())
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(k): told(v) for k, v in value.items()}
    if isinstance(value, date | datetime):
        return value.isoformat()
    if whole.__name__ in ("RowSet", "Located"):
        return {"dataset": str(value.at.version.dataset), "version": value.at.version.id, "rows": list(map(int, value))}
    if whole.__name__ == "Manifest":
        return {"status": value.status, "task": value.key.task_id}
    for name in ("why", "table"):
        if not isinstance(value, type) and name in dir(whole) and not dataclasses.is_dataclass(getattr(whole, name)):
            with warnings.catch_warnings(), contextlib.suppress(TypeError):
                warnings.simplefilter("ignore")
                return told(getattr(value, name)())
    if dataclasses.is_dataclass(value):
        return {f.name: told(getattr(value, f.name)) for f in dataclasses.fields(value) if not f.name.startswith("_")}
    if isinstance(value, list | tuple | set | frozenset):
        return [told(v) for v in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
