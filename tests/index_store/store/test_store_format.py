"""Stored examples of every format stay readable: by the package, and by a reader written from docs/format.md alone."""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path

import _format_reader
import numpy as np
import pyarrow.parquet as pq
import pytest
from _format_fixture import DAG, operations, profiles
from _format_reader import Reader

import provspark
from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.paths import manifest_path
from provspark.index_store.store.store import Store
from provspark.index_store.store.verification import verify
from provspark.model.boxes.pairs import pairs
from provspark.model.steps import FORMAT_VERSION

FIXTURES = Path(__file__).parents[1] / "fixtures"
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
        write, untracked, *_ = manifest.writes
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


@pytest.mark.parametrize("example", EXAMPLES[1:], ids=lambda p: p.name)
def test_the_package_reads_operations(example: Path) -> None:
    store = Store.open(str(example / "store"))
    found = [store.operations(m.step, w) for m in store.manifests() for w in m.writes]
    assert [o for o in found if o is not None] == [operations()]


@pytest.mark.parametrize("example", EXAMPLES[1:], ids=lambda p: p.name)
def test_the_package_reads_profiles(example: Path) -> None:
    store = Store.open(str(example / "store"))
    ((step, write),) = [(m.step, w) for m in store.manifests() for w in m.writes if w.profiles]
    assert store.profiles(step, write) == profiles(write.inputs[0].id)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_a_reader_from_the_specification_reads_it(example: Path) -> None:
    reader = Reader(example / "store")
    expected = json.loads((example / "expected.json").read_text())
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


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_it_follows_rows_through_inner_axes_and_readings_as_the_package_does(example: Path) -> None:
    where = example / "store"
    reader = Reader(where)
    rng = np.random.default_rng(13)
    seen: set[tuple[int, str]] = set()
    for manifest in Store.open(str(where)).manifests():
        prov = provspark.open(str(where)).restricted(lambda m, step=manifest.step: m.step == step)
        # The write made the first of the output's two files.
        for row in rng.integers(0, 200, 6).tolist():
            kinds = ("data", "context", "possible")
            table = prov.backward("/data/out", [row], to="/data/in", kinds=kinds, strict=True).table()
            lines = {(r["version"], r["occurrence"], r["related_row"], r["kind"]) for r in table.to_pylist()}
            (source,) = {version for version, *_ in lines}
            assert {s for s in reader.sources(manifest.step, 0, row) if s[0] == source} == lines
            seen |= {(occurrence, kind) for _, occurrence, _, kind in lines}
    assert seen - {(0, "possible")} == {(0, "data"), (0, "context"), (1, "data"), (1, "context")}
    assert ((0, "possible") in seen) is (reader.format > 2)


def test_the_package_reads_reads_on_the_driver() -> None:
    store = Store.open(str(FIXTURES / "format-3" / "store"))
    (manifest,) = [m for m in store.manifests() if m.reads]
    assert (manifest.key.attempt, manifest.key.call, manifest.driver_reads, manifest.dag) == (2, "", "on", DAG)
    assert [(r.action, r.single, r.output.rows, r.coverage) for r in manifest.reads] == [
        ("DataFrame.collect", False, 40, "exact"),
        ("DataFrame.count", True, 1, "coarse"),
        ("pandas.read_csv", False, 6, "coarse"),
        ("DataFrame.toPandas", False, 10, "exact"),
        ("DataFrame.take", False, 5, "untracked"),
    ]
    assert [str(r.output.dataset) for r in manifest.reads] == [f"memory://driver/job.py:{n}" for n in range(3, 8)]
    assert [[a.size for a in w.axes if a.role == "reads"] for w in manifest.writes] == [[57], [], [62]]
    assert [v.unit for w in (*manifest.reads, *manifest.writes) for v in (w.output, *w.inputs)].count("file") == 2
    paths = {store.files(manifest.step, r.output).paths for r in manifest.reads}
    assert paths == {(f"{manifest.step}/{call}",) for call in range(5)}


def test_it_follows_rows_into_what_the_driver_read() -> None:
    """Expectations by hand, from what `_format_fixture.reading` says."""
    reader = Reader(FIXTURES / "format-3" / "store")
    (step,) = [s for s in json.loads((FIXTURES / "format-3" / "expected.json").read_text()) if "reading" in s]
    body = reader.body(step)
    reads = [read["output"]["id"] for read in body["reads"]]
    source, lookup = body["reads"][0]["inputs"][0]["id"], body["reads"][2]["inputs"][0]["id"]
    possible = {(source, 0, row, "possible") for row in range(300)} | {(lookup, 0, 0, "possible")}
    possible |= {(reads[0], -1, row, "possible") for row in range(40)} | {(reads[1], -1, 0, "possible")}
    possible |= {(reads[2], -1, row, "possible") for row in range(6)}
    possible |= {(reads[3], -1, row, "possible") for row in range(10)}
    assert reader.sources(step, 0, 17) == possible | {(source, 0, 17, "data")}
    certain = {(*line[:3], "data") for line in possible} | {(reads[4], -1, row, "data") for row in range(5)}
    assert reader.sources(step, 2, 0) == certain | {line for line in possible if line[0] != reads[3]}


def test_a_manifest_of_an_older_format_keeps_to_its_keys() -> None:
    """Byte for byte: what is mended stays readable for readers of its format."""
    root = FIXTURES / "format-2" / "store"
    for manifest in Store.open(str(root)).manifests():
        assert manifests.dump(manifest) == (root / manifest_path(manifest.step)).read_bytes()


def test_the_reader_knows_nothing_of_the_package() -> None:
    tree = ast.parse(Path(_format_reader.__file__).read_text())
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert names == {"__future__", "hashlib", "json", "zlib", "pathlib", "typing", "pyarrow", "pyarrow.parquet"}
