from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from _catalogue import STORE, World, pipeline, read_on_drivers
from openlineage.client import OpenLineageClient
from openlineage.client.serde import Serde
from openlineage.client.transport.file import FileConfig, FileTransport

from provspark.airflow.events import events_from_manifest
from provspark.errors import EventError
from provspark.index_store.catalogue import Catalogue
from provspark.rebuild import rebuild_from_events

pytest_plugins = ("_postgres",)


def all_events(world: World) -> list:
    return [e for m in world.manifests for e in events_from_manifest(world.store, m)]


def fill(catalogue: Catalogue, events) -> Catalogue:
    for event in events:
        catalogue.ingest(event)
    return catalogue


@pytest.mark.parametrize("made", [pipeline, read_on_drivers])
@pytest.mark.parametrize("append", [True, False])
def test_from_files_of_events(catalogue_url, tmp_path, append, made):
    world = made()
    path = tmp_path / "events"
    client = OpenLineageClient(transport=FileTransport(FileConfig(str(path), append=append)))
    for event in all_events(world):
        client.emit(event)
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        live = fill(catalogue, all_events(world)).dump()
        for _ in range(2):
            assert rebuild_from_events(catalogue, [path]) == 2 * len(world.manifests)
            assert catalogue.dump() == live


def test_what_the_sources_do_not_say_is_gone(catalogue_url):
    world = pipeline()
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        assert catalogue.rebuild(all_events(world)[:2]) == 2
        assert [s.ref.step for s in catalogue.steps()] == [world.manifests[0].step]
        assert catalogue.rebuild([]) == 0
        assert catalogue.stores() == []


def test_a_failure_leaves_the_old_content(catalogue_url, tmp_path):
    world = pipeline()
    events = [Serde.to_json(e) for e in all_events(world)]
    cut = tmp_path / "cut.jsonl"
    cut.write_text("\n".join([*events[:3], events[3][:-20]]))
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        before = fill(catalogue, all_events(world)).dump()
        with pytest.raises(EventError, match=r"cut\.jsonl, line 4"):
            rebuild_from_events(catalogue, [cut])
        assert catalogue.dump() == before
        with pytest.raises(FileNotFoundError):
            rebuild_from_events(catalogue, [tmp_path / "none"])
        assert catalogue.dump() == before


def test_who_ingests_meanwhile_waits_and_is_not_lost(catalogue_url):
    world = pipeline()
    events = all_events(world)
    with (
        Catalogue.open(catalogue_url, files=world.files) as catalogue,
        ThreadPoolExecutor(1) as pool,
    ):
        before = fill(catalogue, events[:2]).dump()
        late = []

        def slow():
            yield from events[:8]
            late.append(pool.submit(catalogue.ingest, events[9]))
            # It can't end before the rebuild does, however long it is waited for.
            assert not wait(late, timeout=1).done
            # Still the old content for readers, however far the rebuild has come.
            assert catalogue.dump() == before

        catalogue.rebuild(slow())
        assert late[0].result(60).ref.step == world.manifests[4].step
        assert [s.ref.step for s in catalogue.steps()] == [m.step for m in world.manifests]


def test_store_urls_are_one_however_written(catalogue_url):
    world = pipeline()
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for store in (STORE, "/data/prov", "file:/data/prov/"):
            fill(catalogue, [e for m in world.manifests for e in events_from_manifest(store, m)])
        assert catalogue.stores() == [STORE]
        assert len(catalogue.steps()) == 5
