"""`provspark serve` with a key for events: the page and the events' route, each with its own login."""

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
TOKEN = "a-token-for-the-page"


@pytest.mark.parametrize("key", ["file", "variable", None])
def test_events_and_the_page_on_one_server(tmp_path: Path, key: str | None) -> None:
    url = f"sqlite:///{tmp_path / 'catalogue.db'}"
    Catalogue.open(url).close()
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROVSPARK")} | {"PROVSPARK_SERVE_TOKEN": TOKEN}
    options = ["--store", url, "--port", "0"]
    if key == "file":
        (tmp_path / "key").write_text(KEY + "\n")
        options += ["--events-key-file", str(tmp_path / "key")]
    elif key == "variable":
        env["PROVSPARK_EVENTS_KEY"] = KEY
    body = Serde.to_json(events_from_manifest(STORE, pipeline().manifests[0])[1])
    command = [sys.executable, "-u", "-m", "provspark.cli.main", "serve", *options]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = iter(server.stdout.readline, "")
        at = next(m[1] for m in (re.search(r"(http://\S+)/\?token=", line) for line in lines) if m)

        def post(bearer: str, **headers: str) -> int:
            given = {"Authorization": f"Bearer {bearer}", **headers}
            return requests.post(f"{at}/api/v1/lineage", body, headers=given, timeout=30).status_code

        def get(path: str, bearer: str, **headers: str) -> requests.Response:
            return requests.get(f"{at}{path}", headers={"Authorization": f"Bearer {bearer}", **headers}, timeout=30)

        try:
            statuses = [post("another-key-of-theirs"), post(TOKEN), post(KEY), post(KEY, Host="catalogue.example:80")]
            pages = [get("/provspark/api/v1/steps", bearer).status_code for bearer in (KEY, "", TOKEN)]
            elsewhere = [
                get(path, TOKEN, Host="catalogue.example").status_code for path in ("/", "/provspark/api/v1/steps")
            ]
        finally:
            server.terminate()
            server.communicate(timeout=30)
    # The page looks for the store that the event names, which these tests do not have.
    assert pages == [401, 401, 503 if key else 200]
    assert elsewhere == [421, 421]
    with Catalogue.open(url) as catalogue:
        steps = [s.ref.step for s in catalogue.steps()]
    if key is None:
        assert statuses == [404, 404, 404, 421]
        assert steps == []
    else:
        assert statuses == [401, 401, 201, 201]
        assert steps == [pipeline().manifests[0].step]


def test_a_store_receives_no_events(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["serve", "--store", str(tmp_path), "--port", "0"], env={"PROVSPARK_EVENTS_KEY": KEY}
    )
    assert done.exit_code == 2
    assert "is a store; to receive events, pass the URL of a catalogue" in done.stderr


def test_a_key_that_is_the_page_s_token(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalogue.db'}"
    env = {"PROVSPARK_EVENTS_KEY": KEY, "PROVSPARK_SERVE_TOKEN": KEY}
    done = CliRunner().invoke(main, ["serve", "--store", url, "--port", "0"], env=env)
    assert done.exit_code == 2
    assert "senders could read the page" in done.stderr


def test_a_short_key(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalogue.db'}"
    done = CliRunner().invoke(main, ["serve", "--store", url, "--port", "0"], env={"PROVSPARK_EVENTS_KEY": "short"})
    assert done.exit_code == 2
    assert "at least 16 characters and has 5" in done.stderr
