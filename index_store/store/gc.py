"""Remove old steps, and never one that a kept one needs."""

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
"""What makes a file the same: namespace, whole path, size, time."""


@dataclass(frozen=True, slots=True)
class Keep:
    """What is to stay: a step that any of these names.

    Parameters
    ----------
    runs : int, optional
        So many last runs of each DAG (of each command-line step, which has no DAG), by when their steps ended.
    since : str, optional
        Steps that ended then or later: ISO 8601, UTC; a date alone is its beginning.
    steps : tuple of str
        Ids.
    """

    runs: int | None = None
    since: str | None = None
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.runs is None and self.since is None and not self.steps:
            raise SettingsError("say what to keep: so many runs, steps since a date, or steps by name")
        if self.runs is not None and self.runs < 0:
            raise SettingsError(f"{self.runs} runs can't be kept; give 0 or more")


@dataclass(frozen=True, slots=True)
class GcPlan:
    """What a collection does.

    Parameters
    ----------
    kept : steps that were asked to be kept
    needed : steps that stay because a kept one read, or its output still holds, files that they wrote
    removed : all others, each before those that it needs, so that a collection cut short leaves nothing without them
    """

    kept: tuple[Manifest, ...]
    needed: tuple[Manifest, ...]
    removed: tuple[Manifest, ...]


def plan(store: Store, keep: Keep) -> GcPlan:
    """Tell what would be removed.

    Raises
    ------
    UnknownStepError
        A step that is to be kept by name is not there.
    CorruptIndexError
        A manifest or a list of files can't be read, so it is not known what is needed: `repair` first.
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
    """Remove what `plan` says; `removing` is called before each step goes.

    Steps that are published meanwhile stay, but what they read may go: let nothing run that reads old data sets, or
    keep enough runs.

    Raises
    ------
    StoreReadOnlyError, StoreWriteError
        A step could not be removed; those before it are gone.
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
        raise SettingsError(f"{since!r} is no time; give one as 2026-01-31 or 2026-01-31T12:00:00") from e
    yield from (m.step for m in manifests if utc(m.ended) >= first)


def _last_runs(manifests: Iterable[Manifest], runs: int) -> set[str]:
    by_dag: dict[tuple[str, str], dict[str, list[str]]] = {}
    for m in manifests:
        dag = by_dag.setdefault((m.key.dag_id, "" if m.key.dag_id else m.key.task_id), {})
        # The last step to end puts its run last.
        dag[m.key.run_id] = [*dag.pop(m.key.run_id, ()), m.step]
    return {step for dag in by_dag.values() for run in list(dag.values())[len(dag) - runs :] for step in run if runs}


def _needs(store: Store, manifests: Iterable[Manifest]) -> dict[str, tuple[str, ...]]:
    """By step, the steps that wrote files of what it read, or files that its outputs hold and it did not write."""
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
    """Steps reached from some, each after those that it needs (a circle is cut where it was entered)."""
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
