"""The process killed before and after every statement and commit of the catalogue's transactions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _catalogue import pipeline
from _kill_acts import as_text, events, one_step
from _kill_points import killed_at_every_point

from provspark.index_store.catalogue import Catalogue

pytest_plugins = ("_postgres",)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_taking_in_an_event(catalogue_url: str, tmp_path: Path, every: int) -> None:
    Catalogue.open(catalogue_url).close()
    points = killed_at_every_point("_kill_acts", "ingest", catalogue_url, every=every)
    assert len(points) * every > 60
    worlds = {one_step(at).manifests[0].step: one_step(at) for at in points}
    lists = {name: files for world in worlds.values() for name, files in world.lists.items()}
    with (
        Catalogue.open(catalogue_url, files=lambda *use: lists[use]) as found,
        Catalogue.open(f"sqlite:///{tmp_path / 'other.db'}", files=lambda *use: lists[use]) as expected,
    ):
        known = [step.ref.step for step in found.steps()]
        assert 0 < len(known) < len(points) / 2
        for step in known:
            expected.ingest(events(worlds[step])[-1])
        assert found.dump() == expected.dump()
        for world in worlds.values():
            for catalogue in (found, expected):
                catalogue.ingest(events(world)[-1])
        assert found.dump() == expected.dump()
        assert len(found.steps()) == len(points)


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.long)])
def test_a_rebuild(catalogue_url: str, tmp_path: Path, every: int) -> None:
    world = pipeline()
    contents = []
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for taken in (events(world)[:-1], events(world)):
            catalogue.rebuild(taken)
            contents.append(as_text(catalogue))
    (tmp_path / "allowed").write_text(json.dumps(contents))
    points = killed_at_every_point("_kill_acts", "rebuild", catalogue_url, tmp_path / "allowed", every=every)
    assert len(points) * every > 200
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        assert as_text(catalogue) == contents[0]


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
def test_making_the_tables(tmp_path: Path, every: int) -> None:
    check_migrations([f"sqlite:///{tmp_path / f'{i}.db'}" for i in range(200)], tmp_path, every)


@pytest.mark.postgres
@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.long)])
def test_making_the_tables_on_postgresql(postgres, tmp_path: Path, every: int) -> None:  # type: ignore[no-untyped-def]
    urls = [postgres.database() if at % every == 0 else "none" for at in range(90)]
    check_migrations(urls, tmp_path, every)


def check_migrations(urls: list[str], tmp_path: Path, every: int) -> None:
    (tmp_path / "urls").write_text("\n".join(urls))
    points = killed_at_every_point("_kill_acts", "migrate", tmp_path / "urls", every=every)
    assert len(points) * every > 30
    world = one_step(1)
    for at in points:
        with Catalogue.open(urls[at - 1], files=world.files) as catalogue:
            catalogue.ingest(events(world)[-1])
            assert len(catalogue.steps()) == 1
