"""Stored examples of every format stay readable: by the package, and by a reader written from docs/format.md alone."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from provspark.index_store.boxes import pairs
from provspark.index_store.model import FORMAT_VERSION
from provspark.index_store.store import Store
from provspark.index_store.verify import verify

FIXTURES = Path(__file__).parent / "fixtures"
EXAMPLES = sorted(p for p in FIXTURES.iterdir() if p.name.startswith("format-"))


def test_there_is_an_example_of_every_format() -> None:
    assert [p.name for p in EXAMPLES] == [f"format-{i}" for i in range(1, FORMAT_VERSION + 1)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_the_package_reads_it(example: Path) -> None:
    store = Store.open(str(example / "store"))
    expected = json.loads((example / "expected.json").read_text())
    assert store.steps() == sorted(expected)
    assert verify(store) == []
    kinds = set()
    for manifest in store.manifests():
        write, untracked = manifest.writes
        assert untracked.coverage == "untracked"
        assert str(untracked.reason) == "Generate: not deterministic (job.py:7)"
        assert store.files(manifest.step, write.output).bases.tolist() == [0, 200, 300]
        for tensor, (out, src) in zip(write.tensors, expected[manifest.step], strict=True):
            for order in ("out", "src"):
                reader = store.tensor(manifest.step, tensor, order)
                got = pairs(reader.all())
                assert [a.tolist() for a in got] == [out, src]
                size = write.axes[tensor.out if order == "out" else tensor.src].size
                for row in range(0, size, 13):
                    found = set(
                        zip(*(a.tolist() for a in pairs(reader.lookup(np.array([row]), np.array([1])))), strict=True)
                    )
                    assert found == {p for p in zip(out, src, strict=True) if p[order == "src"] == row}
            names = [p for p in (tensor.by_out, tensor.by_src) if p]
            kinds.add(tuple(store.tensor_file(manifest.step, p).layout.holds for p in names))
    assert kinds == {("boxes",), ("boxes", "boxes"), ("boxes", "guide"), ("guide", "boxes")}


class Plain:
    """Reads format 1 as docs/format.md says, in plain Python; Parquet's pages by a Parquet library."""

    def __init__(self, root: Path) -> None:
        self.root = root
        assert (root / "format.json").read_bytes() == b'{"format":1}\n'

    def body(self, step: str) -> dict[str, Any]:
        text = (self.root / "steps" / step / "manifest.json").read_bytes()
        head, _, rest = text.partition(b',"body":')
        assert head[:-65].startswith(b'{"format":1,"sha256":"')
        body = rest[: -len(b"}\n")]
        assert hashlib.sha256(body).hexdigest().encode() == head[-65:-1]
        found: dict[str, Any] = json.loads(body)
        return found

    def open(self, step: str, path: str, footer_sha256: str) -> tuple[dict[str, Any], Path]:
        where = self.root / "steps" / step / path
        data = where.read_bytes()
        footer = int.from_bytes(data[-8:-4], "little") + 8
        assert hashlib.sha256(data[-footer:]).hexdigest() == footer_sha256
        layout = json.loads(pq.read_metadata(where).metadata[b"provspark"])
        start = 0
        for end, crc in zip(layout["groups"]["ends"], layout["groups"]["crc"], strict=True):
            assert zlib.crc32(data[start:end]) == crc
            start = end
        return layout, where

    def boxes(self, layout: dict[str, Any], where: Path, group: int) -> list[tuple[int, int, int, int, bool]]:
        stored = pq.ParquetFile(where).read_row_group(group).to_pydict()
        n = min(layout["group_rows"], layout["rows"] - group * layout["group_rows"])
        found = []
        ends = {axis: layout["groups"][f"{axis}_base"][group] for axis in ("out", "src")}
        for i in range(n):
            value = {}
            for name in ("n_out", "n_src", "out", "src", "diagonal"):
                column = layout["columns"][name]
                if column["form"] == "same":
                    v = value["n_out"]
                else:
                    v = column.get("constant", stored[name][i] if name in stored else None)
                if column["form"] == "gap":
                    if "constant" not in column:
                        v = v >> 1 if v % 2 == 0 else -(v >> 1) - 1
                    v += ends[name]
                value[name] = v
            for axis in ends:
                ends[axis] = value[axis] + value[f"n_{axis}"]
            found.append((value["out"], value["n_out"], value["src"], value["n_src"], bool(value["diagonal"])))
        return found

    def touched(self, layout: dict[str, Any], axis: str, row: int) -> list[int]:
        spans = zip(layout["groups"][f"{axis}_low"], layout["groups"][f"{axis}_high"], strict=True)
        return [g for g, (low, high) in enumerate(spans) if low < row + 1 and high > row]

    def lookup(
        self, step: str, tensor: dict[str, Any], hashes: dict[str, str], axis: str, row: int
    ) -> set[tuple[int, int]]:
        path = tensor["by_src"] if axis == "src" and tensor["by_src"] else tensor["by_out"]
        layout, where = self.open(step, path, hashes[path])
        groups = self.touched(layout, axis, row)
        if layout["holds"] == "guide":
            at = 0 if axis == "out" else 2
            hits = [b for g in groups for b in self.boxes(layout, where, g) if b[at] <= row < b[at] + b[at + 1]]
            blocks = {k for b in hits for k in range(b[2 - at], b[2 - at] + b[3 - at])}
            per = layout["block"]
            other = tensor["by_out"] if path == tensor["by_src"] else tensor["by_src"]
            layout, where = self.open(step, other, hashes[other])
            groups = [g for g in self.touched(layout, axis, row) if g // per in blocks]
        found = set()
        for group in groups:
            for out, n_out, src, n_src, diagonal in self.boxes(layout, where, group):
                for i in range(n_out):
                    for k in range(n_src):
                        if (not diagonal or i == k) and row == (out + i if axis == "out" else src + k):
                            found.add((out + i, src + k))
        return found


def test_a_reader_from_the_specification_reads_format_1() -> None:
    reader = Plain(FIXTURES / "format-1" / "store")
    expected = json.loads((FIXTURES / "format-1" / "expected.json").read_text())
    rng = np.random.default_rng(12)
    checked = 0
    for step, tensors in expected.items():
        body = reader.body(step)
        assert body["step"] == step
        hashes = {f["path"]: f["footer_sha256"] for f in body["files"]}
        write = body["writes"][0]
        for tensor, (out, src) in zip(write["tensors"], tensors, strict=True):
            assert tensor["edges"] == len(out)
            for axis in ("out", "src"):
                for row in rng.integers(0, 300, 4).tolist():
                    want = {p for p in zip(out, src, strict=True) if p[axis == "src"] == row}
                    assert reader.lookup(step, tensor, hashes, axis, row) == want
                    checked += len(want)
        version = write["inputs"][0]
        rows = pq.read_table(reader.root / "steps" / step / version["files"]).to_pylist()
        text = f"{version['dataset']['namespace']}\0{version['dataset']['name']}\0"
        text += "".join(f"{r['path']}\0{r['size']}\0{r['mtime']}\n" for r in rows)
        assert hashlib.sha256(text.encode()).hexdigest()[:32] == version["id"]
        assert sum(r["rows"] for r in rows) == version["rows"] == 300
    assert checked > 100
