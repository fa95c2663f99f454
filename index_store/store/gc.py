"""Removal of old steps, except those that a kept step needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Files
from provspark.model.errors import SettingsError, UnknownStepError
from provspark.model.steps import Manifest
from provspark.model.times import utc
from provspark.model.writes import Write

__all__ = ["GcPlan", "Keep", "collect", "plan"]

_FileKey = tuple[str, str, int, int]
"""Identity of a file: namespace, full path, size, time."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Which steps to keep: those that match any of these options.

    Parameters
    ----------
    runs : int, optional
        Number of latest runs of each DAG (of each command-line step, which has no DAG), by when their steps ended.
    since : str, optional
        Time at or after which steps ended: ISO 8601, UTC; a date means its start.
    steps : tuple of str
        IDs of steps.
    """

    runs: int | None = None
    since: str | None = None
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.runs is None and self.since is None and not self.steps:
            raise SettingsError("Nothing is selected to be kept. Pass a number of runs, a date, or step IDs.")
        if self.runs is not None and self.runs < 0:
            raise SettingsError(f"The number of runs to keep is {self.runs}. Pass 0 or more.")


@dataclass(frozen=True, slots=True)
class GcPlan:
    """Steps that a collection keeps and removes.

    Parameters
    ----------
    kept : steps that the options select
    needed : steps that stay because a kept step read files that they wrote, or its output still contains such files
    removed : all others, each before those that it needs, so that an interrupted collection leaves no step without them
    """

    kept: tuple[Manifest, ...]
    needed: tuple[Manifest, ...]
    removed: tuple[Manifest, ...]


def plan(store: Store, keep: Keep) -> GcPlan:
    """Return what a collection would keep and remove.

    Raises
    ------
    UnknownStepError
        A step to keep does not exist.
    CorruptIndexError
        A manifest or a file list can't be read, so what is needed is unknown: run `repair` first.
    """
    manifests = store.manifests()
    known = {m.step: m for m in manifests}
    for step in keep.steps:
        if step not in known:
            raise UnknownStepError(step, known)
    wanted = {*keep.steps, *_since(manifests, keep.since)}
    if keep.runs is not None:
        wanted |= _last_runs(manifests, keep.runs)
    needs = _needs(store, manifests)
    staying = set(_reach(needs, (m.step for m in manifests if m.step in wanted)))
    going = [step for step in _reach(needs, reversed(known)) if step not in staying]
    return GcPlan(
        tuple(m for m in manifests if m.step in wanted),
        tuple(m for m in manifests if m.step in staying - wanted),
        tuple(known[step] for step in reversed(going)),
    )


def collect(store: Store, keep: Keep, removing: Callable[[Manifest], None] = lambda _: None) -> GcPlan:
    """Remove the steps that `plan` returns; call `removing` before each.

    Steps published meanwhile stay, but their inputs may be removed: run no job that reads old datasets, or keep enough
    runs.

    Raises
    ------
    StoreReadOnlyError, StoreWriteError
        A step could not be removed; those before it are removed.
    """
    planned = plan(store, keep)
    for manifest in planned.removed:
        removing(manifest)
        store.remove(manifest.step)
    return planned


def _since(manifests: Iterable[Manifest], since: str | None) -> Iterator[str]:
    if since is None:
        return
    try:
        first = utc(since if len(since) > len("2026-01-31") else f"{since}T00:00:00")
    except ValueError as e:
        raise SettingsError(f"{since!r} is not a time. Pass one such as 2026-01-31 or 2026-01-31T12:00:00.") from e
    yield from (m.step for m in manifests if utc(m.ended) >= first)


def _last_runs(manifests: Iterable[Manifest], runs: int) -> set[str]:
    by_dag: dict[tuple[str, str], dict[str, list[str]]] = {}
    for m in manifests:
        dag = by_dag.setdefault((m.key.dag_id, "" if m.key.dag_id else m.key.task_id), {})
        # The last step to end puts its run last.
        dag[m.key.run_id] = [*dag.pop(m.key.run_id, ()), m.step]
    return {step for dag in by_dag.values() for run in list(dag.values())[len(dag) - runs :] for step in run if runs}


def _needs(store: Store, manifests: Iterable[Manifest]) -> dict[str, tuple[str, ...]]:
    """Return for each step those that wrote files it read, or files in its outputs that it did not write."""
    makers: dict[_FileKey, list[str]] = {}
    held: dict[str, set[_FileKey]] = {}
    for m in manifests:
        mine = held.setdefault(m.step, set())
        for write in (*m.writes, *m.reads):
            for place, written in _places(store, m.step, write):
                if not written:
                    mine.add(place)
                elif m.step not in makers.setdefault(place, []):
                    makers[place].append(m.step)
    return {
        step: tuple(dict.fromkeys(maker for p in sorted(places) for maker in makers.get(p, ()) if maker != step))
        for step, places in held.items()
    }


def _places(store: Store, step: str, write: Write) -> Iterator[tuple[_FileKey, bool]]:
    for version in (write.output, *write.inputs):
        files = store.files(step, version)
        yield from zip(_named(version.dataset, files), files.written.tolist(), strict=True)


def _named(dataset: Dataset, files: Files) -> Iterator[_FileKey]:
    base = dataset.name.rstrip("/")
    for path, size, mtime in zip(files.paths, files.sizes.tolist(), files.mtimes.tolist(), strict=True):
        yield dataset.namespace, f"{base}/{path}" if path else dataset.name, size, mtime


def _reach(needs: dict[str, tuple[str, ...]], starts: Iterable[str]) -> list[str]:
    """Return the steps reached from some, each after those that it needs (a cycle is cut where it was entered)."""
    done: dict[str, None] = {}
    entered: set[str] = set()
    for start in starts:
        stack = [(start, iter(needs[start]))] if start not in entered else []
        entered.add(start)
        while stack:
            step, rest = stack[-1]
            following = next((n for n in rest if n not in entered), None)
            if following is None:
                done[step] = None
                stack.pop()
            else:
                entered.add(following)
                stack.append((following, iter(needs[following])))
    return list(done)
