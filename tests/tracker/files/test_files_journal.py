"""What several threads note at once."""

from __future__ import annotations

import sys
import threading
from typing import Any

from provspark.model.writes import Untracked
from provspark.tracker.files.journal import Journal


def test_no_note_of_another_thread_is_lost() -> None:
    journal = Journal(None, None)  # type: ignore[arg-type] - neither is asked here
    taken: list[Any] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    done = threading.Event()

    def take() -> None:
        while not done.is_set():
            taken.extend(journal.take_lost())

    thread = threading.Thread(target=take)
    thread.start()
    notes = [Untracked("files", str(i)) for i in range(100_000)]
    for note in notes:
        journal.lose(note)
    done.set()
    thread.join()
    sys.setswitchinterval(before)
    assert {*taken, *journal.take_lost()} == {*notes}
