"""`provspark receiver` as a process: it listens on this machine, with a key or not at all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from _catalogue import STORE, pipeline
from click.testing import CliRunner
from openlineage.client.serde import Serde

from provspark.airflow.events import events_from_manifest
from provspark.cli.main import main
from provspark.index_store.catalogue import Catalogue

KEY = "a-key-for-the-tests"


@pytest.mark.parametrize("by_file", [False, True])
def test_events_arrive_in_the_catalogue(tmp_path: Path, by_file: bool) -> None:
    url = f"sqlite:///{tmp_path / 'catalogue.db'}"
    env = {k: v for k, v in os.environ.items() if k != "PROVSPARK_RECEIVER_KEY"}
    options = ["--catalogue", url, "--port", "0"]
    if by_file:
        (tmp_path / "key").write_text(KEY + "\n")
        options += ["--key-file", str(tmp_path / "key")]
    else:
        env["PROVSPARK_RECEIVER_KEY"] = KEY
    command = [sys.executable, "-m", "provspark.cli.main", "receiver", *options]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        lines = iter(server.stderr.readline, "")
        at = next(m[1] for m in (re.search(r"running on (http://\S+)", line) for line in lines) if m)
        try:
            assert at.startswith("http://127.0.0.1:")
            body = Serde.to_json(events_from_manifest(STORE, pipeline().manifests[0])[1])
            answers = [
                requests.post(f"{at}/api/v1/lineage", body, headers={"Authorization": f"Bearer {key}"}, timeout=30)
                for key in ("another-key-of-theirs", KEY)
            ]
        finally:
            server.terminate()
            server.communicate(timeout=30)
    assert [a.status_code for a in answers] == [401, 201]
    with Catalogue.open(url) as catalogue:
        assert [s.ref.step for s in catalogue.steps()] == [answers[1].json()["step"]]


@pytest.mark.parametrize(("key", "said"), [(None, "without an API key"), ("", "without"), ("short", "16 characters")])
def test_without_a_key_it_does_not_start(tmp_path: Path, key: str | None, said: str) -> None:
    url = f"sqlite:///{tmp_path / 'catalogue.db'}"
    done = CliRunner().invoke(main, ["receiver", "--catalogue", url], env={"PROVSPARK_RECEIVER_KEY": key})
    assert done.exit_code == 2
    assert said in done.stderr


def test_an_empty_key_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("\n")
    done = CliRunner().invoke(main, ["receiver", "--key-file", str(tmp_path / "key")])
    assert done.exit_code == 2
    assert "key is empty" in done.stderr
