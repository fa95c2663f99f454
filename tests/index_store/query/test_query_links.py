from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from _steps import identity, publish, read, version, write

from provspark.errors import CorruptIndexError, UnknownDatasetError, UnknownVersionError, UntrackedError
from provspark.index_store.query.answer import Answer
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.relation import labelled
from provspark.index_store.query.row_walks import follow
from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.runs import Runs
from provspark.model.writes import Axis, Kind, Untracked

EACH = [(0, 0), (1, 1), (2, 2)]
SOURCE = version("/in", {"a": 3})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "store"), create=True)


def answer(
    stores: Store | list[Store],
    name: str,
    rows: list[int],
    direction: Direction,
    to: str | None = None,
    kinds: tuple[Kind, ...] = ("data",),
) -> Answer:
    linker = Linker(Graph(stores if isinstance(stores, list) else [stores]))
    start = linker.graph.latest(Dataset.parse(name))
    labels = Runs.of(rows)
    target = None if to is None else Dataset.parse(to)
    return follow(linker, start, labels, labelled(labels), direction, to=target, kinds=frozenset(kinds))


def lines(found: Answer) -> list[tuple[int, str, int, int]]:
    columns = ["row", "dataset", "occurrence", "related_row"]
    return [tuple(line.values()) for line in found.table().select(columns).to_pylist()]


def chain(store: Store, middle: PendingVersion, as_read: PendingVersion) -> None:
    """/in → /mid → /out, row for row, where the second step reads /mid as `as_read`."""
    publish(store, "first", write(middle, [(SOURCE, EACH)]))
    publish(store, "second", write(version("/out", {"o": 3}, "o"), [(as_read, EACH)]))


def test_rows_go_through_equal_files(store: Store) -> None:
    middle = version("/mid", {"m": 3}, "m")
    chain(store, middle, read(middle))
    assert lines(answer(store, "/out", [2], "backward")) == [(2, "file:///in", 0, 2)]
    assert lines(answer(store, "/in", [2], "forward")) == [(2, "file:///out", 0, 2)]
    assert lines(answer(store, "/out", [1], "backward", to="/mid")) == [(1, "file:///mid", 0, 1)]


@pytest.mark.parametrize("changed", [{"mtime": 2000}, {"files": {"other": 3}}])
def test_names_alone_never_link(store: Store, changed: dict[str, object]) -> None:
    kept = {"files": {"m": 3}, "mtime": 1000, **changed}
    chain(store, version("/mid", {"m": 3}, "m"), version("/mid", **kept))  # type: ignore[arg-type]
    assert lines(answer(store, "/out", [2], "backward")) == [(2, "file:///mid", 0, 2)]
    assert lines(answer(store, "/in", [2], "forward")) == [(2, "file:///mid", 0, 2)]


@pytest.mark.parametrize("direction, start", [("backward", "/out"), ("forward", "/in")])
@pytest.mark.parametrize(
    "as_read, message",
    [
        (version("/mid", {"m": 4}, format="csv"), r"file m has 3 rows for .* and 4 for|file m has 4 rows for .* and 3"),
        (version("/mid", {"m": 3}, format="csv", header="true"), "header 'false' and 'true'|header 'true' and 'false'"),
        (version("/mid", {"m": 3}, format="csv", comment="#"), "comment"),
        (version("/mid", {"m": 3}, format="csv", linesep="|"), "linesep"),
    ],
)
def test_files_cut_into_rows_differently_are_refused(
    store: Store, direction: Direction, start: str, as_read: PendingVersion, message: str
) -> None:
    chain(store, version("/mid", {"m": 3}, "m", format="csv"), as_read)
    with pytest.raises(UntrackedError, match=message):
        answer(store, start, [2], direction)


@pytest.mark.parametrize(
    "options",
    [{"header": "FALSE"}, {"multiline": "true"}, {"sep": ";", "linesep": "\n"}, {"multiline": "true", "escape": "'"}],
)
def test_options_that_leave_rows_alone_link(store: Store, options: dict[str, str]) -> None:
    middle = version("/mid", {"m": 3}, "m", format="csv")
    chain(store, middle, version("/mid", {"m": 3}, format="csv", **options))
    assert lines(answer(store, "/out", [2], "backward")) == [(2, "file:///in", 0, 2)]
    assert lines(answer(store, "/in", [2], "forward")) == [(2, "file:///out", 0, 2)]


def test_only_the_refused_file_is_lost_and_said(store: Store) -> None:
    publish(store, "first", write(version("/mid", {"m": 2, "n": 1}, "mn"), [(SOURCE, EACH)]))
    as_read = version("/mid", {"m": 2, "n": 3})
    publish(store, "second", write(version("/out", {"o": 5}, "o"), [(as_read, [(i, i) for i in range(5)])]))
    found = answer(store, "/out", [0, 1, 2, 3, 4], "backward")
    assert lines(found) == [(0, "file:///in", 0, 0), (1, "file:///in", 0, 1)]
    assert [(s.what, s.dataset) for s in found.stops] == [("unlinked", "file:///mid")]
    assert "file n has 1 rows" in found.stops[0].why
    assert answer(store, "/out", [0], "backward").stops == ()


def test_two_writes_that_claim_one_file_are_refused(store: Store) -> None:
    middle = version("/mid", {"m": 3}, "m")
    publish(store, "first", write(middle, [(SOURCE, EACH)]))
    publish(store, "again", write(middle, [(SOURCE, EACH)]))
    publish(store, "second", write(version("/out", {"o": 3}, "o"), [(read(middle), EACH)]))
    with pytest.raises(UntrackedError, match=r"claimed by more than one write, of dag-again-.* and dag-first-"):
        answer(store, "/out", [2], "backward")


def test_links_that_run_in_a_circle_are_refused(store: Store) -> None:
    a, b = version("/a", {"a": 3}, "a"), version("/b", {"b": 3}, "b")
    publish(store, "there", write(a, [(read(b), EACH)]))
    publish(store, "back", write(b, [(read(a), EACH)]))
    for direction in ("backward", "forward"):
        with pytest.raises(UntrackedError, match="cycle"):
            answer(store, "/a", [0], direction)  # type: ignore[arg-type]


def test_partitions_folders_and_single_files_link_by_path(store: Store) -> None:
    middle = version("/mid", {"p=0/m": 2, "p=1/m": 1}, ["p=0/m", "p=1/m"])
    publish(store, "first", write(middle, [(SOURCE, EACH)]))
    part, one, above = version("/mid/p=1", {"m": 1}), version("/mid/p=0/m", {"": 2}), version("/", {"mid/p=1/m": 1})
    publish(store, "part", write(version("/out/part", {"o": 1}, "o"), [(part, [(0, 0)])]))
    publish(store, "one", write(version("/out/one", {"o": 1}, "o"), [(one, [(0, 1)])]))
    publish(store, "above", write(version("/results/above", {"o": 1}, "o"), [(above, [(0, 0)])]))
    for name, row in (("/out/part", 2), ("/out/one", 1), ("/results/above", 2)):
        assert lines(answer(store, name, [0], "backward")) == [(0, "file:///in", 0, row)]
    assert lines(answer(store, "/in", [0, 1, 2], "forward")) == [
        (1, "file:///out/one", 0, 0),
        (2, "file:///out/part", 0, 0),
        (2, "file:///results/above", 0, 0),
    ]


def test_a_name_that_only_begins_alike_does_not_link(store: Store) -> None:
    publish(store, "first", write(version("/mid", {"m": 3}, "m"), [(SOURCE, EACH)]))
    publish(store, "second", write(version("/out", {"o": 3}, "o"), [(version("/mid2", {"m": 3}), EACH)]))
    assert lines(answer(store, "/out", [0], "backward")) == [(0, "file:///mid2", 0, 0)]


def test_an_append_leads_to_the_writers_of_its_older_files(store: Store) -> None:
    old, new = version("/in/old", {"a": 2}), version("/in/new", {"a": 2})
    publish(store, "first", write(version("/mid", {"m0": 2}, ["m0"]), [(old, [(0, 0), (1, 1)])]))
    both = version("/mid", {"m0": 2, "m1": 2, "x": 1}, ["m1"])
    publish(store, "second", write(both, [(new, [(2, 0), (3, 1)])]))
    assert lines(answer(store, "/mid", [0, 3, 4], "backward")) == [
        (0, "file:///in/old", 0, 0),
        (3, "file:///in/new", 0, 1),
        (4, "file:///mid", -1, 4),
    ]
    third = write(version("/out", {"o": 5}, "o"), [(read(both), [(i, 4 - i) for i in range(5)])])
    publish(store, "third", third)
    assert lines(answer(store, "/out", [0, 1, 4], "backward")) == [
        (0, "file:///mid", 0, 4),
        (1, "file:///in/new", 0, 1),
        (4, "file:///in/old", 0, 0),
    ]
    assert lines(answer(store, "/in/old", [1], "forward")) == [(1, "file:///out", 0, 3)]
    assert lines(answer(store, "/mid", [1, 4], "forward")) == [(1, "file:///out", 0, 3), (4, "file:///out", 0, 0)]


def test_the_latest_good_version_answers_to_a_name(store: Store) -> None:
    def at(name: str) -> str:
        return Graph([store]).latest(Dataset.parse(name)).version.id

    v = [version("/out", {f"o{i}": 3}, [f"o{i}"]) for i in range(4)]
    publish(store, "failing", write(v[0], [(SOURCE, EACH)]), status="failed")
    assert at("/out") == identity(v[0])
    publish(store, "reader", write(version("/else", {"e": 3}, "e"), [(read(v[1]), EACH)]))
    assert at("/out") == identity(v[1])
    publish(store, "good", write(v[2], [(SOURCE, EACH)]))
    assert at("/out") == identity(v[2])
    publish(store, "good", write(v[3], [(SOURCE, EACH)]), status="failed", try_number=2)
    publish(store, "reader", write(version("/else", {"e": 3}, "e"), [(read(v[1]), EACH)]), try_number=2)
    assert at("/out") == identity(v[2])
    graph = Graph([store])
    assert graph.find(Dataset.parse("/out"), identity(v[3])).node.manifest.status == "failed"
    with pytest.raises(UnknownVersionError, match=f"No version 'x' of file:///out.*{identity(v[2])}"):
        graph.find(Dataset.parse("/out"), "x")
    with pytest.raises(UnknownDatasetError, match="Did you mean file:///out"):
        graph.latest(Dataset.parse("/outt"))


def test_a_superseded_try_counts_only_while_its_files_are_used(store: Store) -> None:
    lost, kept = version("/lost", {"l": 3}, "l"), version("/kept", {"k": 3}, "k")
    publish(store, "t", write(lost, [(SOURCE, EACH)]), write(kept, [(SOURCE, EACH)]), status="failed")
    publish(store, "t", write(version("/good", {"g": 3}, "g"), [(SOURCE, EACH)]), try_number=2)
    assert lines(answer(store, "/in", [0], "forward")) == [(0, "file:///good", 0, 0)]
    publish(store, "late", write(version("/out", {"o": 3}, "o"), [(read(kept), EACH)]))
    assert lines(answer(store, "/in", [0], "forward")) == [
        (0, "file:///good", 0, 0),
        (0, "file:///out", 0, 0),
    ]
    assert lines(answer(store, "/lost", [0], "backward")) == [(0, "file:///in", 0, 0)]


def test_an_untracked_write_stops_and_is_said(store: Store) -> None:
    dark = version("/dark", {"d": 3}, "d")
    publish(store, "dark", write(dark, [(SOURCE, [])], coverage="untracked"))
    other = version("/other", {"a": 3})
    out = write(version("/out", {"o": 3}, "o"), [(read(dark), EACH), (other, [(1, 1)])])
    publish(store, "join", out)
    with pytest.raises(UntrackedError, match=r"dag-dark-.* wrote file:///dark: MapInPandas: opaque .*job.py:7"):
        answer(store, "/out", [0], "backward")
    with pytest.raises(UntrackedError):
        answer(store, "/in", [0], "forward")
    found = answer(store, "/out", [1], "backward")
    assert lines(found) == [(1, "file:///other", 0, 1)]
    assert [s.what for s in found.stops] == ["untracked"]
    assert lines(answer(store, "/out", [0], "backward", to="/dark")) == [(0, "file:///dark", 0, 0)]


def test_a_coarse_write_is_walked_and_said(store: Store) -> None:
    everything = [(o, s) for o in range(3) for s in range(3)]
    publish(store, "blur", write(version("/out", {"o": 3}, "o"), [(SOURCE, everything)], coverage="coarse"))
    found = answer(store, "/out", [1], "backward")
    assert lines(found) == [(1, "file:///in", 0, s) for s in range(3)]
    assert [s.what for s in found.stops] == ["coarse"]


def test_a_step_with_a_write_past_capture_is_said_going_forward(store: Store) -> None:
    around = Untracked("saveAsTextFile", "went around capture")
    publish(store, "t", write(version("/out", {"o": 3}, "o"), [(SOURCE, [(1, 1)])]), untracked=[around])
    found = answer(store, "/in", [1], "forward")
    assert [(s.what, "saveAsTextFile" in s.why) for s in found.stops] == [("untracked", True)]
    assert answer(store, "/out", [1], "backward").stops == ()
    with pytest.raises(UntrackedError, match="went around"):
        answer(store, "/in", [0], "forward")


def test_a_way_that_does_not_lead_to_the_data_set_is_not_reported(store: Store) -> None:
    mid = version("/mid", {"m": 3}, "m")
    everything = [(o, s) for o in range(3) for s in range(3)]
    publish(store, "blur", write(mid, [(SOURCE, everything)], coverage="coarse"))
    publish(store, "second", write(version("/out", {"o": 3}, "o"), [(read(mid), EACH)]))
    assert answer(store, "/out", [1], "backward", to="/mid").stops == ()
    assert [s.what for s in answer(store, "/out", [1], "backward", to="/in").stops] == ["coarse"]


def test_stores_link_and_a_copy_of_a_step_counts_once(tmp_path: Path) -> None:
    stores = [Store.open(str(tmp_path / name), create=True) for name in ("one", "two", "copy")]
    middle = version("/mid", {"m": 3}, "m")
    publish(stores[0], "first", write(middle, [(SOURCE, EACH)]))
    publish(stores[1], "second", write(version("/out", {"o": 3}, "o"), [(read(middle), EACH)]))
    found = lines(answer(stores, "/out", [2], "backward"))
    assert found == [(2, "file:///in", 0, 2)]
    twice = Graph([stores[0], Store.open(stores[0].url)])
    assert len(twice.nodes) == 1


def test_tensors_in_a_circle_are_refused(store: Store) -> None:
    out = version("/out", {"o": 3}, "o")
    axes = (Axis("output", 3, identity(out)), Axis("inner", 2), Axis("inner", 2))
    one = from_pairs([0, 1], [0, 1])
    tensors = [PendingTensor(0, 1, one), PendingTensor(1, 2, one), PendingTensor(2, 1, one)]
    publish(store, "t", PendingWrite(out, "exact", (), axes, tensors))
    with pytest.raises(CorruptIndexError, match="circle"):
        answer(store, "/out", [0], "backward")


def test_rows_of_the_two_kinds_are_answered_for_each(store: Store) -> None:
    publish(store, "t", write(version("/out", {"o": 3}, "o"), [(SOURCE, EACH), (SOURCE, EACH, "context")]))
    found = answer(store, "/out", [1], "backward", kinds=("data", "context")).table()
    assert found.column("kind").to_pylist() == ["data", "context"]
    assert found.column("occurrence").to_pylist() == [0, 1]
    assert answer(store, "/out", [1], "backward", kinds=("context",)).table().num_rows == 1


def test_empty_questions_and_empty_files(store: Store) -> None:
    middle = version("/mid", {"e": 0, "m": 3, "n": 0}, "emn")
    chain(store, middle, read(middle))
    assert answer(store, "/out", [], "backward").table().num_rows == 0
    assert lines(answer(store, "/out", [0], "backward")) == [(0, "file:///in", 0, 0)]
    assert np.array_equal(answer(store, "/in", [0, 1, 2], "forward").labels.rows(), [0, 1, 2])


def test_threads_share_an_engine(store: Store) -> None:
    middle = version("/mid", {f"m{i:03d}": 1 for i in range(300)}, [f"m{i:03d}" for i in range(300)])
    source = version("/in", {"a": 300})
    publish(store, "first", write(middle, [(source, [(i, i) for i in range(300)])]))
    some = version("/mid", {f"m{i:03d}": 1 for i in range(299)})
    publish(store, "second", write(version("/out", {"o": 1}, "o"), [(some, [(0, i) for i in range(299)])]))
    for _ in range(5):
        linker = Linker(Graph([store]))
        start, labels = linker.graph.latest(Dataset.parse("/out")), Runs.of([0])

        def count(_: int, linker: Linker = linker, start: VersionReference = start, labels: Runs = labels) -> int:
            question = follow(linker, start, labels, labelled(labels), "backward", to=None, kinds=frozenset(["data"]))
            return int(question.table().num_rows)

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(count, range(8))) == {299}


def test_of_versions_of_one_file_only_those_on_the_way_are_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in range(5):
        middle = version("/mid", {"m": 3}, "m", mtime=run)
        publish(store, f"first{run}", write(middle, [(version("/in", {"a": 3}, mtime=run), EACH)]))
        publish(store, f"second{run}", write(version("/out", {"o": 3}, "o", mtime=run), [(read(middle), EACH)]))
    listed: list[str] = []
    files = Store.files
    monkeypatch.setattr(Store, "files", lambda self, step, v: listed.append(v.id) or files(self, step, v))
    graph = Graph([store])
    start = graph.references(Dataset.parse("/in"))[1]
    found = follow(
        Linker(graph), start, Runs.of([2]), labelled(Runs.of([2])), "forward", to=None, kinds=frozenset({"data"})
    )
    assert lines(found) == [(2, "file:///out", 0, 2)]
    last = graph.nodes[graph.nodes.index(start.node) + 1]
    assert last.step.startswith("dag-second") and found.parts[0].at.version.id == last.write.output.id
    assert set(listed) <= {v.id for node in (start.node, last) for v in (node.write.output, *node.write.inputs)}
