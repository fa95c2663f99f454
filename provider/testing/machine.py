"""Stateful test of a storage back end: write, read, crash, retry, repair and collect in any order."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from provspark.index_store.store.gc import Keep, collect
from provspark.index_store.store.leftovers import notes_of, sweep
from provspark.index_store.store.repair import repair
from provspark.index_store.store.store import Store
from provspark.index_store.store.verification import verify
from provspark.model.errors import StepExistsError, UnknownStepError
from provspark.model.pending import PendingWrite
from provspark.model.steps import StepKey
from provspark.testing.contract import FolderOpener, assert_stored, end, publish, small
from provspark.testing.faults import FaultyFolder, Killed

__all__ = ["StoreMachine", "machine_for"]

_DATASETS = st.integers(0, 4)
_STEPS = st.integers(0, 5)


class StoreMachine(RuleBasedStateMachine):
    """A store, and a model of it: the writes that each step must have.

    A step shuffles one of five datasets into another. A later step may read its output. Created by `machine_for`.
    """

    new_place: Callable[[], FolderOpener]

    def __init__(self) -> None:
        super().__init__()
        self.place = type(self).new_place()
        self.store = Store.at(self.place(), create=True)
        self.model: dict[str, list[PendingWrite]] = {}
        self.begun: set[str] = set()

    def _pending(self, number: int, read: int, written: int, writes: int) -> tuple[StepKey, list[PendingWrite]]:
        name = f"/d{written}/by{number}"
        made = [small(f"{name}-{i}", f"/d{read}", 20 + number) for i in range(writes)]
        return StepKey(f"t{number}", "run", "dag"), made

    @rule(number=_STEPS, read=_DATASETS, written=_DATASETS, writes=st.integers(0, 2))
    def write(self, number: int, read: int, written: int, writes: int) -> None:
        """Publish a step. A second step with the same key is refused; a retry of a crashed one succeeds."""
        key, pending = self._pending(number, read, written, writes)
        try:
            publish(self.store, key, *pending)
        except StepExistsError:
            assert key.id in self.model
        else:
            assert key.id not in self.model
            self.model[key.id] = pending
            self.begun.discard(key.id)

    @rule(behind=_STEPS)
    def write_after(self, behind: int) -> None:
        """Publish a step that reads the output of another."""
        sources = [writes[0].output for _, writes in sorted(self.model.items()) if writes]
        if not sources:
            return
        output = sources[behind % len(sources)]
        key = StepKey(f"after{len(self.model)}", f"run {behind}", "dag")
        if key.id in self.model:
            return
        pending = small(f"{output.dataset.name}/{key.task_id}", output.dataset.name, output.files.total)
        publish(self.store, key, pending)
        self.model[key.id] = [pending]

    @rule(number=_STEPS, read=_DATASETS, written=_DATASETS, writes=st.integers(0, 2), at=st.integers(1, 60))
    def crash(self, number: int, read: int, written: int, writes: int, at: int) -> None:
        """Simulate a process that is killed at an operation on the folder."""
        key, pending = self._pending(number, read, written, writes)
        folder = FaultyFolder(self.place(), at)
        ended = False
        try:
            writer = Store.at(folder).writer(key)
            for write in pending:
                writer.add(write)
            end(writer)
            ended = True
        except (Killed, StepExistsError):
            pass
        if key.id in self.model:
            return
        if key.id in Store.at(self.place()).steps():
            self.model[key.id] = pending
            self.begun.discard(key.id)
        else:
            assert not ended
            self.begun.add(key.id)

    @rule()
    def mend(self) -> None:
        """Publish crashed steps with the first of their writes; nothing else changes."""
        sound = {step for step in self.begun if notes_of(self.store, step)}
        done = repair(self.store, idle=0)
        assert {r.step for r in done} == sound
        assert all(r.action == "sealed" for r in done)
        for step in sound:
            manifest = Store.at(self.place()).manifest(step)
            assert manifest.status == "failed"
            self.model[step] = [
                small(w.output.dataset.name, w.inputs[0].dataset.name, w.output.rows) for w in manifest.writes
            ]
        self.begun -= sound

    @rule(kept=st.sets(_STEPS, min_size=1, max_size=2), tidy=st.booleans())
    def collect(self, kept: set[int], tidy: bool) -> None:
        """Remove all steps except some, and those that these need."""
        if tidy:
            sweep(self.store, 0)
        if not self.model:
            return
        wanted = {sorted(self.model)[n % len(self.model)] for n in kept}
        staying, more = set(wanted), set(wanted)
        while more:
            read = {v.files.identity(v.dataset) for s in more for w in self.model[s] for v in w.inputs}
            made = {s: {w.output.files.identity(w.output.dataset) for w in ws} for s, ws in self.model.items()}
            more = {s for s, versions in made.items() if versions & read} - staying
            staying |= more
        done = collect(self.store, Keep(steps=tuple(sorted(wanted))))
        assert {m.step for m in (*done.kept, *done.needed)} == staying
        self.model = {step: pending for step, pending in self.model.items() if step in staying}

    @rule(number=_STEPS)
    def read(self, number: int) -> None:
        """Check that a published step has its pairs, and that an unpublished one is unknown."""
        step = StepKey(f"t{number}", "run", "dag").id
        if step in self.model:
            assert_stored(self.store, step, self.model[step])
            return
        try:
            self.store.manifest(step)
        except UnknownStepError:
            return
        raise AssertionError(f"{step} is not published and was read")

    @invariant()
    def the_same_steps_are_there(self) -> None:
        """Check that the open store and a newly opened one have the same steps."""
        for store in (self.store, Store.at(self.place())):
            assert store.steps() == sorted(self.model)
            assert {m.step for m in store.manifests()} == set(self.model)

    def teardown(self) -> None:
        """Verify the store, and the writes of every step."""
        opened = Store.at(self.place())
        assert verify(opened) == []
        for step, pending in self.model.items():
            assert_stored(opened, step, pending)


def machine_for(new_place: Callable[[], FolderOpener]) -> type[StoreMachine]:
    """Return the state machine for a back end.

    Parameters
    ----------
    new_place : callable
        Called once per run. It returns a function that opens the run's folder, which is empty at first.
    """
    return type("Machine", (StoreMachine,), {"new_place": staticmethod(new_place)})
