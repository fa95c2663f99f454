import random
from pathlib import Path

import pytest
from _steps import identity, publish, read, version, write

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.sideways import beside
from provspark.index_store.query.single_derivation import one_derivation
from provspark.index_store.query.trace import trace_rows
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs

ROWS = 6
A, B, LOOKUP = (version(f"/{n}", {n: ROWS}) for n in ("a", "b", "lookup"))
CLEAN, PART, OTHER, REPORT = (version(f"/{n}", {n: ROWS}, [n]) for n in ("clean", "part", "other", "report"))
Pairs = list[tuple[int, int]]


def some(rng: random.Random) -> Pairs:
    return [(o, s) for o in range(ROWS) for s in range(ROWS) if rng.random() < 0.3]


def build(folder: Path, seed: int) -> tuple[Linker, dict[str, Pairs]]:
    """a, lookup → clean; clean, b → part; part, clean → report; a → other."""
    rng = random.Random(seed)
    store = Store.open(str(folder / f"store{seed}"), create=True)
    pairs = {name: some(rng) for name in ("a", "l", "c", "b", "p", "c2", "o")}
    publish(store, "clean", write(CLEAN, [(A, pairs["a"]), (LOOKUP, pairs["l"])]))
    publish(store, "part", write(PART, [(read(CLEAN), pairs["c"]), (B, pairs["b"])]))
    publish(store, "report", write(REPORT, [(read(PART), pairs["p"]), (read(CLEAN), pairs["c2"])]))
    publish(store, "other", write(OTHER, [(A, pairs["o"])]))
    return Linker(Graph([store])), pairs


def follow(pairs: dict[str, Pairs], row: int) -> dict[str, set[int]]:
    """Take the first source row along each tensor, written out by hand."""
    found: dict[str, set[int]] = {"report": {row}}

    def take(name: str, tensor: str, here: int | None) -> int | None:
        rows = sorted(s for o, s in pairs[tensor] if o == here)
        if rows:
            found.setdefault(name, set()).add(rows[0])
        return rows[0] if rows else None

    part = take("part", "p", row)
    take("b", "b", part)
    for clean in (take("clean", "c2", row), take("clean", "c", part)):
        take("a", "a", clean)
        take("lookup", "l", clean)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_one_derivation_takes_a_row_of_each_input(tmp_path: Path, seed: int) -> None:
    linker, pairs = build(tmp_path, seed)
    at = linker.graph.latest(Dataset.parse("/report"))
    for row in range(ROWS):
        found = one_derivation(linker, at, row)
        nodes = {n.at.key: n for n in trace_rows(linker, at, Runs.of([row]), "backward").nodes}
        named = {nodes[k].dataset.removeprefix("file:///"): set(r.rows().tolist()) for k, r in found.items()}
        assert named == follow(pairs, row)
        assert all(not r - nodes[k].data for k, r in found.items())


def test_a_coarse_write_has_no_one_derivation(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(store, "clean", write(CLEAN, [(A, [(0, 0)])], coverage="coarse"))
    linker = Linker(Graph([store]))
    at = linker.graph.latest(Dataset.parse("/clean"))
    assert {k[0] for k in one_derivation(linker, at, 0)} == {identity(CLEAN)}


def names(datasets: object) -> list[str]:
    return [str(d).removeprefix("file:///") for d in datasets]  # type: ignore[attr-defined]


def test_what_can_be_asked_sideways(tmp_path: Path) -> None:
    linker, _ = build(tmp_path, 0)
    found = {n: beside(linker, linker.graph.latest(Dataset.parse(f"/{n}"))) for n in ("a", "clean", "report", "lookup")}
    together = {names([d])[0]: set(names(v)) for d, v in found["a"].together.items()}
    assert together == {
        "lookup": {"clean", "part", "report"},
        "b": {"part", "report"},
        "clean": {"report"},
        "part": {"report"},
        "a": {"report"},
    }
    assert names(found["lookup"].together)[0] == "a" and set(names(found["clean"].together)) >= {"b"}
    assert found["report"].together == {} and found["a"].siblings == {} and found["a"].sources == ()
    assert set(names(found["report"].sources)) == {"part", "clean", "a", "b", "lookup"}
    siblings = {names([d])[0]: set(names(v)) for d, v in found["clean"].siblings.items()}
    assert siblings == {
        "clean": {"a", "lookup"},
        "part": {"a", "lookup"},
        "report": {"a", "lookup"},
        "other": {"a"},
    }
    assert names(found["clean"].siblings)[0] == "clean"


def test_the_edges_of_a_trace_know_the_rows_that_came_along_them(tmp_path: Path) -> None:
    linker, pairs = build(tmp_path, 1)
    at = linker.graph.latest(Dataset.parse("/report"))
    found = trace_rows(linker, at, Runs.span(ROWS), "backward")
    labels = {n.id: n.dataset.removeprefix("file:///") for n in found.nodes}
    rows = {(labels[e.source], labels[e.target]): set(r.rows().tolist()) for e, r in found.through.items()}
    part = {s for _, s in pairs["p"]}
    assert rows["part", "report"] == part
    assert rows["clean", "report"] == {s for _, s in pairs["c2"]}
    assert rows["clean", "part"] == {s for o, s in pairs["c"] if o in part}
    assert rows["clean", "part"] | rows["clean", "report"] == set(
        found.nodes[[*labels.values()].index("clean")].data.rows().tolist()
    )
