"""Sends requests as they were written for the last release's API, and keeps the answers; it runs on its code, too."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def lines(file: str) -> list[str]:
    """The requests of a file: ``METHOD PATH BODY``, with ``{report}`` for a data set's id."""
    return (HERE / file).read_text().splitlines()


def send(api: Any, line: str, root: Path, versions: dict[str, str]) -> Any:
    """Send a request about the data sets in `root`."""
    method, path, *body = line.split(" ", 2)

    def named(match: re.Match[str]) -> str:
        name, version = re.fullmatch(r"(.*?)(\.version)?", match[1]).groups()  # type: ignore[union-attr]
        return versions[name] if version else dataset_id(root / name)

    path, content = (re.sub(r"\{([\w.]+)\}", named, text) for text in (path, body[0] if body else ""))
    return api.request(method, f"/api/v1{path}", content=content or None, headers={"Content-Type": "application/json"})


def dataset_id(path: Path) -> str:
    """A data set's id as clients kept it."""
    return hashlib.sha256(f"file://{path}".encode()).hexdigest()[:16]


def answer(response: Any) -> list[Any]:
    """Status and body of a response, as JSON."""
    kind = response.headers["content-type"].partition(";")[0]
    if kind in ("application/json", "application/problem+json"):
        body = response.json()
    elif kind == "application/jsonl":
        body = [json.loads(line) for line in response.text.splitlines()]
    elif kind == "text/csv":
        rows = csv.DictReader(response.text.splitlines())
        body = {"columns": rows.fieldnames, "lines": list(rows)}
    else:
        body = response.text.count("<edge")
    return [response.status_code, kind, body]
