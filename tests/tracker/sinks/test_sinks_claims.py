from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from provspark.errors import ConcurrentWriteError
from provspark.model.datasets import Dataset
from provspark.tracker.sinks import claims
from provspark.tracker.sinks.claims import claim

OUT = Dataset("file", "/data/out")


def files(store: Path) -> list[str]:
    return sorted(p.name for p in store.rglob("*") if p.is_file())


def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    with claim(str(tmp_path), OUT, "dag-clean-1"):
        with pytest.raises(ConcurrentWriteError, match=rf"file:///data/out .* dag-clean-1 \(process {os.getpid()} on"):
            claim(str(tmp_path), OUT, "dag-load-1")
        claim(str(tmp_path), Dataset("file", "/data/other"), "dag-load-1").release()
    again = claim(str(tmp_path), OUT, "dag-load-1")
    again.release()
    again.release()
    assert files(tmp_path) == []


def rewrite(store: Path, **values: object) -> str:
    (file,) = store.glob("claims/*/claim.json")
    held = json.loads(file.read_text())
    file.write_text(json.dumps({**held, **values}))
    return str(held["nonce"])


def test_a_claim_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    code = (
        "import sys, os\n"
        "from provspark.model.datasets import Dataset\n"
        "from provspark.tracker.sinks.claims import claim\n"
        "claim(sys.argv[1], Dataset('file', '/data/out'), 'gone')\n"
        "os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 9
    assert files(tmp_path) == ["claim.json"]
    with claim(str(tmp_path), OUT, "next") as held:
        assert held.holder.owner == "next"
    assert files(tmp_path) == []


def test_a_process_with_a_number_used_again_is_another(tmp_path: Path) -> None:
    first = claim(str(tmp_path), OUT, "first")
    rewrite(tmp_path, started=1)
    with claim(str(tmp_path), OUT, "second"):
        first.release()
        assert files(tmp_path) == ["claim.json"]  # the first one left what is no longer its own


def test_another_machine_counts_while_it_gives_signs_of_life(tmp_path: Path) -> None:
    held = claim(str(tmp_path), OUT, "far")
    nonce = rewrite(tmp_path, host="elsewhere")
    (file,) = tmp_path.glob("claims/*/claim.json")
    long_ago = time.time() - claims.LIMIT - 60
    os.utime(file, (long_ago, long_ago))
    beat = file.parent / f"{nonce}.beat.1"
    beat.write_bytes(b"")
    with pytest.raises(ConcurrentWriteError, match=r"far .* on elsewhere"):
        claim(str(tmp_path), OUT, "near")
    os.utime(beat, (long_ago, long_ago))
    with claim(str(tmp_path), OUT, "near"):
        assert not beat.exists()
    held.release()
    assert files(tmp_path) == []


def test_it_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BEAT", 0.01)
    with claim(str(tmp_path), OUT, "me") as held:
        folder = next(tmp_path.glob("claims/*"))
        while not (beats := list(folder.glob(f"{held.holder.nonce}.beat.*"))) or beats[0].name.endswith(".1"):
            time.sleep(0.01)
    assert files(tmp_path) == []


def test_of_many_at_once_one_gets_it(tmp_path: Path) -> None:
    stale = claim(str(tmp_path), OUT, "stale")
    rewrite(tmp_path, started=1)
    won: list[claims.Claim] = []
    lost: list[ConcurrentWriteError] = []
    ready = threading.Barrier(8)

    def attempt(i: int) -> None:
        ready.wait()
        try:
            won.append(claim(str(tmp_path), OUT, f"writer-{i}"))
        except ConcurrentWriteError as e:
            lost.append(e)

    threads = [threading.Thread(target=attempt, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 7)
    won[0].release()
    stale.release()
    assert files(tmp_path) == []


def test_what_died_while_it_took_over_is_in_nobodys_way(tmp_path: Path) -> None:
    stale = claim(str(tmp_path), OUT, "stale")
    nonce = rewrite(tmp_path, started=1)
    mark = next(tmp_path.glob("claims/*")) / f"{nonce}.taken"
    mark.write_bytes(b"")
    with pytest.raises(ConcurrentWriteError, match="several writers"):
        claim(str(tmp_path), OUT, "soon")
    long_ago = time.time() - claims.LIMIT - 60
    os.utime(mark, (long_ago, long_ago))
    with claim(str(tmp_path), OUT, "later"):
        stale.release()
    assert files(tmp_path) == []


def test_a_claim_that_cant_be_read(tmp_path: Path) -> None:
    held = claim(str(tmp_path), OUT, "me")
    (file,) = tmp_path.glob("claims/*/claim.json")
    whole = file.read_text()
    file.write_text("{")
    with pytest.raises(ConcurrentWriteError, match=r"claim\.json is damaged"):
        claim(str(tmp_path), OUT, "you")
    file.write_text(whole)
    held.release()
