from __future__ import annotations

import multiprocessing
import random
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from _catalogue import CLEAN, REPORT, STORE, World, as_input, file, files, pipeline
from openlineage.client.serde import Serde
from sqlalchemy import create_engine, make_url, text

from provspark.airflow.events import events_from_manifest
from provspark.errors import CatalogueError, NoCatalogueError
from provspark.index_store.catalogue import Catalogue, schema
from provspark.index_store.catalogue import catalogue as catalogue_module

pytest_plugins = ("_postgres",)


def all_events(world: World) -> list[dict]:
    return [Serde.to_dict(e) for m in world.manifests for e in events_from_manifest(world.store, m)]


def plain_engine(url: str):
    return create_engine(url.replace("postgresql:", "postgresql+psycopg2:"))


def wide_world(tasks: int = 12) -> World:
    """Many steps that read and write the same few data sets and versions."""
    world = World()
    shared = [files(*(file(f"{name}{i}.parquet") for i in range(20))) for name in "abc"]
    for i in range(tasks):
        picked = [shared[(i + k) % 3] for k in range(2)]
        reads = [(CLEAN, as_input(picked[0])), (REPORT, as_input(picked[1]))]
        world.step(f"t{i}", reads[:: 1 if i % 2 else -1], [(REPORT, shared[i % 3]), (CLEAN, shared[(i + 1) % 3])])
    return world


def ingest_all(url: str, seed: int, barrier) -> None:
    world = wide_world()
    events = all_events(world)
    random.Random(seed).shuffle(events)
    barrier.wait(60)
    with Catalogue.open(url, files=world.files) as catalogue:
        for event in events:
            catalogue.ingest(event)


def test_processes_open_and_ingest_at_once(catalogue_url, tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    workers = [context.Process(target=ingest_all, args=(catalogue_url, seed, barrier)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(240)
    assert [worker.exitcode for worker in workers] == [0] * 4

    world = wide_world()
    with (
        Catalogue.open(f"sqlite:///{tmp_path / 'alone.db'}", files=world.files) as alone,
        Catalogue.open(catalogue_url) as together,
    ):
        for event in all_events(world):
            alone.ingest(event)
        assert together.dump() == alone.dump()
        assert len(together.links()) > 12


def test_a_crash_in_the_middle_leaves_nothing(catalogue_url, monkeypatch):
    world = pipeline()
    events = all_events(world)
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for event in events[:4]:
            catalogue.ingest(event)
        before = catalogue.dump()
        whole = catalogue_module.write_facts

        def dies_at_its_end(*args):
            whole(*args)
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(catalogue_module, "write_facts", dies_at_its_end)
            for event in events[4:]:
                with pytest.raises(KeyboardInterrupt):
                    catalogue.ingest(event)
        assert catalogue.dump() == before


def test_two_events_of_a_step_at_once_are_both_taken_in(catalogue_url, monkeypatch):
    """The second reads the step's state only once the first has written it."""
    world = pipeline()
    start, end = all_events(world)[2:4]
    whole, second = catalogue_module.write_facts, []

    with Catalogue.open(catalogue_url, files=world.files) as catalogue, ThreadPoolExecutor(1) as pool:
        catalogue.ingest(start)

        def while_open(*args):
            state = whole(*args)
            if not second:
                second.append(None)
                second[0] = pool.submit(catalogue.ingest, start | {"eventType": "FAIL"})
                assert not wait(second, timeout=1).done
            return state

        monkeypatch.setattr(catalogue_module, "write_facts", while_open)
        catalogue.ingest(end)
        second[0].result(60)
        (step,) = catalogue.steps()
        assert (step.status, step.ended) == ("succeeded", world.manifests[1].ended)


KILLED = """
import os, sys, json
sys.path.insert(0, sys.argv[2])
from _catalogue import pipeline
from provspark.index_store.catalogue import Catalogue, catalogue
whole = catalogue.write_facts
def dies(*args):
    whole(*args)
    os._exit(9)
catalogue.write_facts = dies
world = pipeline()
with Catalogue.open(sys.argv[1], files=world.files) as c:
    c.ingest(json.loads(sys.argv[3]))
"""


def test_a_killed_process_leaves_nothing(catalogue_url):
    world = pipeline()
    event = all_events(world)[3]
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        empty = catalogue.dump()
        args = [catalogue_url, str(Path(__file__).parents[2]), Serde.to_json(event)]
        assert subprocess.run([sys.executable, "-c", KILLED, *args]).returncode == 9
        assert catalogue.dump() == empty
        assert catalogue.ingest(event).status == "succeeded"


def test_migrations_make_the_tables_that_the_code_knows(catalogue_url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    Catalogue.open(catalogue_url).close()
    engine = plain_engine(catalogue_url)
    with engine.connect() as connection:
        options = {"version_table": schema.VERSION_TABLE, "compare_type": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), schema.metadata) == []
        assert connection.scalar(text(f"SELECT version_num FROM {schema.VERSION_TABLE}")) == schema.HEAD
    engine.dispose()


def test_head_is_the_newest_migration():
    from alembic.script import ScriptDirectory

    folder = Path(catalogue_module.__file__).with_name("migrations")
    assert ScriptDirectory(str(folder)).get_heads() == [schema.HEAD]


def test_migrations_go_down_again(catalogue_url):
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import inspect

    Catalogue.open(catalogue_url).close()
    engine = plain_engine(catalogue_url)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(catalogue_module.__file__).with_name("migrations")))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        assert inspect(connection).get_table_names() == [schema.VERSION_TABLE]
    engine.dispose()
    with Catalogue.open(catalogue_url) as catalogue:
        assert catalogue.steps() == []


def test_other_tables_in_the_database_are_left_alone(catalogue_url):
    engine = plain_engine(catalogue_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('of_airflow')"))
    with pytest.raises(NoCatalogueError, match=r"another application \(alembic_version\).*init --beside-others"):
        Catalogue.open(catalogue_url)
    world = pipeline()
    Catalogue.open(catalogue_url, beside=True).close()
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        catalogue.rebuild(all_events(world))
        assert len(catalogue.steps()) == 5
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "of_airflow"
    engine.dispose()


def test_a_newer_schema_is_refused_and_kept(catalogue_url):
    Catalogue.open(catalogue_url).close()
    engine = plain_engine(catalogue_url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'"))
    for migrate in (True, False):
        with pytest.raises(CatalogueError, match=r"schema 9999.*Upgrade airflow-provider-provspark"):
            Catalogue.open(catalogue_url, migrate=migrate)
    with engine.connect() as connection:
        assert connection.scalar(text(f"SELECT version_num FROM {schema.VERSION_TABLE}")) == "9999"
    engine.dispose()


def test_no_tables_are_made_where_they_may_not_be(catalogue_url):
    with pytest.raises(CatalogueError, match=r"There is no catalogue at .*provspark catalogue init"):
        Catalogue.open(catalogue_url, migrate=False)
    Catalogue.open(catalogue_url).close()
    with Catalogue.open(catalogue_url, migrate=False) as catalogue:
        assert catalogue.stores() == []


@pytest.mark.postgres
def test_a_user_without_rights_is_told(postgres):
    url = postgres.database()
    engine = plain_engine(url)
    name = make_url(url).database
    with engine.begin() as connection:
        connection.execute(text(f"CREATE ROLE reader_{name} LOGIN PASSWORD 'secret-of-reader'"))
    reader = make_url(url).set(username=f"reader_{name}", password="secret-of-reader")
    with pytest.raises(CatalogueError, match="permission denied") as refused:
        Catalogue.open(reader.render_as_string(hide_password=False))
    assert "secret-of-reader" not in str(refused.value)
    Catalogue.open(url).close()
    with engine.begin() as connection:
        connection.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_{name}"))
    with Catalogue.open(reader.render_as_string(hide_password=False)) as catalogue:
        assert catalogue.steps() == []
        with pytest.raises(CatalogueError, match="permission denied"):
            catalogue.ingest(all_events(pipeline())[0])
    engine.dispose()


@pytest.mark.postgres
def test_a_server_that_goes_away_and_comes_back(postgres):
    """Connections that the server closed are replaced on next use."""
    url = postgres.database()
    world = pipeline()
    with Catalogue.open(url, files=world.files) as catalogue:
        catalogue.ingest(all_events(world)[0])
        engine = plain_engine(url)
        with engine.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        engine.dispose()
        assert len(catalogue.steps()) == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("no url", "is not valid"),
        ("mysql://host/db", "is a mysql database"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:////no/such/folder/c.db", "unable to open database file"),
        ("postgresql://u:hidden-word@127.0.0.1:1/db", "Cannot access the catalogue"),
        ("postgresql+nodriver://u:hidden-word@127.0.0.1/db", "needs a PostgreSQL driver"),
    ],
)
def test_urls_that_open_nothing(url, message):
    with pytest.raises(CatalogueError, match=message) as refused:
        Catalogue.open(url)
    assert "hidden-word" not in str(refused.value)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("not a database, but long enough to look at" * 50)
    with pytest.raises(CatalogueError, match="not a database"):
        Catalogue.open(f"sqlite:///{path}")


def test_a_read_only_file_can_be_read(tmp_path):
    path = tmp_path / "c.db"
    Catalogue.open(f"sqlite:///{path}").close()
    with Catalogue.open(f"sqlite:///file:{path}?mode=ro&uri=true") as catalogue:
        assert catalogue.steps() == []
        with pytest.raises(CatalogueError, match="readonly"):
            catalogue.ingest(all_events(pipeline())[0])


def test_readers_go_on_beside_a_writer(tmp_path):
    path = tmp_path / "c.db"
    world = pipeline()
    with Catalogue.open(f"sqlite:///{path}", files=world.files) as catalogue:
        catalogue.ingest(all_events(world)[0])
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM provspark_step")
        assert [s.ref.store for s in catalogue.steps()] == [STORE]
        writer.execute("ROLLBACK")
        writer.close()
