"""Answers of over a million lines: told page by page, in memory that does not grow with them."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _http import BASE, client, id_of
from click.testing import CliRunner
from pyarrow import csv

import provspark
from provspark import Data, Relation
from provspark.cli.main import main
from provspark.index_store.query.answer import Answer
from provspark.index_store.query.column_answer import Cells
from provspark.index_store.query.dataset_relation import Correspondence
from provspark.index_store.query.paging import paged
from provspark.model.boxes import Boxes

ROWS = 1_200_000
MEMORY = 24 * 2**20
"""Bytes that pages of 10,000 lines may take; the whole table takes more than twice that."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """rows → copy, row by row; copy → total, one row of all."""
    root = tmp_path_factory.mktemp("long")
    for name, n in (("rows", ROWS), ("copy", ROWS), ("total", 1)):
        (root / name).mkdir()
        pq.write_table(pa.table({"v": np.arange(n, dtype=np.int64)}), root / name / "part.parquet")
    places = {name: str(root / name) for name in ("rows", "copy", "total")}
    same, summed = {"v": {"v": "identity"}}, {"v": {"v": "aggregation"}}
    for task, out, source, box, columns in (
        ("copy", "copy", "rows", (0, ROWS, 0, ROWS, True), same),
        ("sum", "total", "copy", (0, 1, 0, ROWS, False), summed),
    ):
        relation = Relation(Data(places[source]), boxes=[box], columns=columns)
        provspark.record(str(root / "prov"), task=task, output=places[out], relations=[relation])
    return root


def measured(pages: Iterator[pa.Table]) -> tuple[list[tuple[int, int]], int]:
    """The first and last line of each page as (row, source row), and the most memory that was held meanwhile."""
    ends = []
    tracemalloc.start()
    try:
        for page in pages:
            assert 0 < page.num_rows <= 10_000
            for at in (0, page.num_rows - 1):
                ends.append((page["row"][at].as_py(), page["related_row"][at].as_py()))
        return ends, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


WAYS: list[tuple[str, str, Callable[[int], tuple[int, int]]]] = [
    ("backward", "copy", lambda i: (i, i)),
    ("backward", "total", lambda i: (0, i)),
    ("forward", "rows", lambda i: (i, 0)),
]


@pytest.mark.parametrize("cells", [False, True], ids=["rows", "cells"])
@pytest.mark.parametrize(("direction", "dataset", "line"), WAYS, ids=["copy", "total", "ahead"])
def test_pages_follow_each_other(
    root: Path, direction: Any, dataset: str, line: Callable[[int], tuple[int, int]], cells: bool
) -> None:
    prov = provspark.open(str(root / "prov"))
    place = str(root / dataset)
    answer: Any = prov.cells(place, direction=direction) if cells else getattr(prov, direction)(place)
    ends, memory = measured(answer.pages(10_000))
    assert (ends[0], ends[-1]) == (line(0), line(ROWS - 1))
    numbers = [max(e) for e in ends]
    assert numbers[2::2] == [n + 1 for n in numbers[1:-1:2]]
    assert memory < MEMORY


def test_pages_say_what_the_table_says(root: Path) -> None:
    prov = provspark.open(str(root / "prov"))
    for answer in (prov.backward(str(root / "total")), prov.cells(str(root / "copy"), range(30_000))):
        pages = list(answer.pages(7_001))
        assert len(pages) > 4
        assert written(pa.concat_tables(pages)).equals(written(answer.table()))
        assert pages[0].schema.metadata == answer.table().schema.metadata


def written(table: pa.Table) -> pa.Table:
    """A table without dictionaries, in one piece."""
    kinds = {f.name: f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in table.schema}
    return pa.table({n: table[n].cast(k) for n, k in kinds.items()}).combine_chunks()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_pages_of_any_boxes_hold_each_pair_once(seed: int) -> None:
    draw = np.random.default_rng(seed)
    parts = []
    for place in (0, 0, 1, 4):
        n = int(draw.integers(0, 6))
        diagonal = draw.random(n) < 0.5
        n_out = draw.integers(1, 9, n)
        n_src = np.where(diagonal, n_out, draw.integers(1, 40, n))
        parts.append((place, Boxes(draw.integers(0, 12, n), n_out, draw.integers(0, 60, n), n_src, diagonal)))
    size = int(draw.integers(1, 50))
    found: list[tuple[int, int, int]] = []
    for page in paged(parts, size):
        lines = [(o, p, s, i) for i, ((p, _), b) in enumerate(zip(parts, page, strict=True)) for o, s in told(b)]
        lines.sort()
        found += [(o, i, s) for o, _, s, i in lines]
    assert sorted(found) == sorted((o, i, s) for i, (_, b) in enumerate(parts) for o, s in told(b))
    assert [o for o, *_ in found] == sorted(o for o, *_ in found)


def told(boxes: Boxes) -> set[tuple[int, int]]:
    """The pairs of boxes, one by one."""
    out = set()
    columns = (boxes.out, boxes.n_out, boxes.src, boxes.n_src, boxes.diagonal)
    for o, n, s, m, diagonal in zip(*(c.tolist() for c in columns), strict=True):
        out |= {(o + i, s + i) for i in range(n)} if diagonal else {(o + i, s + j) for i in range(n) for j in range(m)}
    return out


@pytest.mark.long
@pytest.mark.parametrize(("name", "column"), [("backward", ()), ("cells", ("--column", "v"))], ids=["rows", "cells"])
def test_the_command_writes_line_by_line(root: Path, name: str, column: tuple[str, ...]) -> None:
    asked = [name, str(root / "total"), *column, "--json-lines", "--store", str(root / "prov")]
    said = CliRunner().invoke(main, asked)
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert len(lines) == ROWS
    for at in (0, 10_000, ROWS - 1):
        assert json.loads(lines[at])["related_row"] == at


@pytest.fixture
def written_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines each table had that an answer was written out to."""
    made: list[int] = []
    for kind in (Answer, Cells, Correspondence):
        real: Any = kind.table

        def table(self: Any, real: Any = real) -> pa.Table:
            found = real(self)
            made.append(found.num_rows)
            return found

        monkeypatch.setattr(kind, "table", table)
    return made


FILES = [
    (("backward", "total"), ROWS),
    (("cells", "total", "--column", "v"), ROWS),
    (("export", "rows", "--forward"), ROWS),
    (("correspondence", "total", "--to", "rows", "--pairs"), ROWS),
    (("co-dependency", "copy", "--to", "copy", "--via", "rows", "--row", "3"), 0),
]


@pytest.mark.long
@pytest.mark.parametrize(("command", "lines"), FILES, ids=["rows", "cells", "ends", "pairs", "none"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_are_written_page_by_page(
    command: tuple[str, ...], lines: int, kind: str, root: Path, tmp_path: Path, written_out: list[int]
) -> None:
    name, dataset, *more = command
    file = str(tmp_path / f"answer.{kind}")
    names = ["--to", "--via"]
    named = [str(root / word) if before in names else word for before, word in zip(["", *more], more, strict=False)]
    asked = [name, str(root / dataset), *named, f"--{kind}", file, "--store", str(root / "prov")]
    said = CliRunner().invoke(main, asked)
    assert said.exit_code == 0, said.output
    assert (f"{lines:,} line" if lines else "no line") in said.output
    found = pq.read_table(file) if kind == "parquet" else csv.read_csv(file)
    assert found.num_rows == lines == sum(written_out) and max(written_out) <= 10_000
    if lines:
        assert {found["row"][-1].as_py(), found["related_row"][-1].as_py()} <= {0, ROWS - 1}


def test_lines_of_cells_are_those_of_the_pages(root: Path) -> None:
    answer = provspark.open(str(root / "prov")).cells(str(root / "copy"), range(30_000))
    whole = written(answer.table())
    assert answer.count == len(whole)
    for start, most in ((0, 5), (9_998, 7), (29_999, 10), (12_000, 15_000), (30_000, 4)):
        assert written(answer.lines(start, most)).equals(whole.slice(start, most).combine_chunks()), (start, most)


def test_the_api_pages(root: Path, written_out: list[int]) -> None:
    asked = {"dataset": id_of(root, "total"), "rows": [0], "cursor": ROWS - 3, "limit": 100}
    last = client(root).post(f"{BASE}/cells", json=asked).json()
    assert sum(written_out) <= 10_000
    assert (last["total"], last["next"]) == (ROWS, None)
    assert [line["source_row"] for line in last["lines"]] == [ROWS - 3, ROWS - 2, ROWS - 1]


@pytest.mark.long
def test_the_api_streams(root: Path) -> None:
    api, asked = client(root), {"dataset": id_of(root, "total"), "rows": [0]}
    nodes = api.post(f"{BASE}/trace", json=asked).json()["nodes"]
    (node,) = (n["id"] for n in nodes if n["dataset"]["id"] == id_of(root, "rows"))
    with api.stream("POST", f"{BASE}/trace/export", params={"node": node, "format": "jsonl"}, json=asked) as answer:
        lines = list(answer.iter_lines())
    assert len(lines) == ROWS
    last = json.loads(lines[-1])
    assert (last["provspark_row"], last["v"], len(last["provspark_version"])) == (ROWS - 1, ROWS - 1, 32)
