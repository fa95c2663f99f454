from __future__ import annotations

import shutil

import pytest
from _catalogue import CLEAN, LAST, RAW, REPORT, as_input, file, files
from openlineage.client import OpenLineageClient
from openlineage.client.transport.file import FileConfig, FileTransport
from sqlalchemy import create_engine, func, select

from provspark.airflow.events import events_from_manifest, events_from_store
from provspark.errors import CorruptIndexError, StoreUnreachableError
from provspark.index_store.catalogue import Catalogue, schema
from provspark.index_store.store.store import Store
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey
from provspark.model.writes import Untracked
from provspark.rebuild import rebuild_from_events, rebuild_from_stores

pytest_plugins = ("_postgres",)


def publish(store: Store, task: str, reads, writes, *, try_number=1, status="succeeded", minute=0) -> Manifest:
    def version(dataset, listed):
        return PendingVersion(dataset, listed, "parquet")

    writer = store.writer(StepKey(task, "r1", "d", -1, try_number))
    for dataset, listed in writes:
        reason = Untracked("Project", "made by hand")
        inputs = tuple(version(*read) for read in reads)
        writer.add(PendingWrite(version(dataset, listed), "untracked", inputs, reason=reason))
    started, ended = (f"2026-01-01T10:{minute:02}:{second}.000000+00:00" for second in ("00", "30"))
    return writer.publish(status=status, started=started, ended=ended)


@pytest.fixture
def store(tmp_path):
    """Return a store of raw → clean (second try) → report, an append to the report, and who reads all of it."""
    store = Store.open(str(tmp_path / "prov of a%20b"), create=True)
    raw = files(*(file(f"r{i}.csv", 7, written=False) for i in range(3)))
    clean = files(file("c0.parquet", 5), file("c1.parquet", 6))
    first = files(file("p=1/a.parquet", 2))
    both = files(file("p=1/a.parquet", 2, written=False), file("p=2/b.parquet", 2))
    publish(store, "clean", [(RAW, raw)], [(CLEAN, files(file("half")))], status="failed", minute=1)
    publish(store, "clean", [(RAW, raw)], [(CLEAN, clean)], try_number=2, minute=2)
    publish(store, "report", [(CLEAN, as_input(clean))], [(REPORT, first)], minute=3)
    publish(store, "more", [(RAW, raw), (CLEAN, as_input(clean))], [(REPORT, both)], minute=4)
    publish(store, "last", [(REPORT, as_input(both))], [(LAST, files()), (LAST, files(file("l")))], minute=5)
    publish(store, "nothing", [], [], status="failed", minute=6)
    return store


def test_live_events_a_file_of_events_and_manifests_make_one_catalogue(catalogue_url, tmp_path, store):
    log = tmp_path / "events.jsonl"
    client = OpenLineageClient(transport=FileTransport(FileConfig(str(log), append=True)))
    with Catalogue.open(catalogue_url) as catalogue:
        for manifest in store.manifests():
            for event in events_from_manifest(store.url, manifest):
                assert catalogue.ingest(event).unread == ()
                client.emit(event)
        live = catalogue.dump()
        assert live["stores"] == [store.url]
        assert len(live["steps"]) == 6
        assert {(x.producer.step.split("-")[1], x.consumer.step.split("-")[1], x.files) for x in catalogue.links()} == {
            ("clean", "report", 2),
            ("clean", "more", 2),
            ("report", "last", 1),
            ("more", "last", 1),
        }
        assert rebuild_from_stores(catalogue, [str(tmp_path / "prov of a%20b")]) == 12
        assert catalogue.dump() == live
        assert rebuild_from_events(catalogue, [log]) == 12
        assert catalogue.dump() == live


def test_input_and_output_of_one_version_keep_their_own_lists(catalogue_url, tmp_path):
    """A script that writes and then reads what it wrote has the version twice, once with what it made marked."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    middle = files(file("m.parquet"))
    writer = store.writer(StepKey("t", "r1"))
    reason = Untracked("Project", "made by hand")
    writer.add(PendingWrite(PendingVersion(CLEAN, middle, "parquet"), "untracked", reason=reason))
    read = PendingVersion(CLEAN, as_input(middle), "parquet")
    last = PendingVersion(REPORT, files(file("e.parquet")), "parquet")
    writer.add(PendingWrite(last, "untracked", (read,), reason=reason))
    moment = "2026-01-01T10:00:00.000000+00:00"
    manifest = writer.publish(status="succeeded", started=moment, ended=moment)
    with Catalogue.open(catalogue_url) as catalogue:
        rebuild_from_stores(catalogue, [store.url])
        (link,) = catalogue.links()
        assert (link.producer.step, link.consumer.step, link.files) == (manifest.step, manifest.step, 1)


def test_two_stores_link_to_each_other(catalogue_url, tmp_path):
    a, b = (Store.open(str(tmp_path / name), create=True) for name in "ab")
    clean = files(file("c.parquet"))
    publish(a, "w", [], [(CLEAN, clean)])
    publish(b, "r", [(CLEAN, as_input(clean))], [(REPORT, files(file("x")))])
    with Catalogue.open(catalogue_url) as catalogue:
        rebuild_from_stores(catalogue, [a.url, b.url])
        (link,) = catalogue.links()
        assert (link.producer.store, link.consumer.store) == (a.url, b.url)


def test_a_store_that_is_gone_or_broken_leaves_the_catalogue(catalogue_url, tmp_path, store):
    with Catalogue.open(catalogue_url) as catalogue:
        rebuild_from_stores(catalogue, [store.url])
        before = catalogue.dump()
        with pytest.raises(StoreUnreachableError):
            rebuild_from_stores(catalogue, [store.url, str(tmp_path / "none")])
        assert catalogue.dump() == before
        step = catalogue.steps()[0].ref.step
        path = tmp_path / "prov of a%20b" / "steps" / step / "manifest.json"
        path.write_text(path.read_text()[:-40])
        with pytest.raises(CorruptIndexError):
            rebuild_from_stores(catalogue, [store.url])
        assert catalogue.dump() == before


def test_a_broken_list_of_files_is_said_and_links_by_version(catalogue_url, tmp_path, store):
    for listed in (tmp_path / "prov of a%20b" / "steps").glob("d-report-*/versions/*"):
        listed.write_bytes(listed.read_bytes()[:-1])
    with Catalogue.open(catalogue_url) as catalogue:
        unread = [reason for event in events_from_store(store.url) for reason in catalogue.ingest(event).unread]
        assert len(unread) == 2
        assert all("is corrupt" in reason for reason in unread)
        found = {(x.producer.step.split("-")[1], x.consumer.step.split("-")[1], x.files) for x in catalogue.links()}
        # What `clean` wrote is known from who else read it; what `report` made is not.
        assert found == {("clean", "report", 2), ("clean", "more", 2), ("more", "last", 1)}


def test_a_store_out_of_reach_is_caught_up_with(catalogue_url, tmp_path, store):
    events = list(events_from_store(store.url))
    away = tmp_path / "away"
    shutil.move(tmp_path / "prov of a%20b", away)
    with Catalogue.open(catalogue_url) as catalogue:
        for event in events:
            catalogue.ingest(event)
        assert {x.files for x in catalogue.links()} == {None}
        shutil.move(away, tmp_path / "prov of a%20b")
        for event in events:
            assert catalogue.ingest(event).unread == ()
        caught_up = catalogue.dump()
        rebuild_from_stores(catalogue, [store.url])
        assert catalogue.dump() == caught_up


def test_what_is_kept_does_not_grow_with_rows(tmp_path):
    """The catalogue has as many entries for files of three rows as for files of three million."""
    kept = []
    for rows in (3, 3_000_000):
        store = Store.open(str(tmp_path / str(rows)), create=True)
        clean = files(file("a.parquet", rows), file("b.parquet", rows))
        publish(store, "w", [], [(CLEAN, clean)])
        publish(store, "r", [(CLEAN, as_input(clean))], [(REPORT, files(file("x", rows)))])
        url = f"sqlite:///{tmp_path / f'{rows}.db'}"
        with Catalogue.open(url) as catalogue:
            rebuild_from_stores(catalogue, [store.url])
        engine = create_engine(url)
        with engine.connect() as connection:
            counts = [select(func.count()).select_from(table) for table in schema.metadata.sorted_tables]
            kept.append([connection.scalar(count) for count in counts])
        engine.dispose()
    assert kept[0] == kept[1]
