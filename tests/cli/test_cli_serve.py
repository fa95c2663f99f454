"""`provspark serve` as a process."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from provspark.index_store.store.store import Store

COMMAND = [sys.executable, "-m", "provspark.cli.main", "serve"]


@pytest.fixture
def store(tmp_path: Path) -> str:
    Store.open(str(tmp_path / "prov"), create=True)
    return str(tmp_path / "prov")


def test_it_prints_an_address_that_answers_and_ends_on_ctrl_c(store: str) -> None:
    command = [*COMMAND, "--store", store, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PROVSPARK_SHOW_VALUES": "no"}
    ) as process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline() + process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S{32,}", told)
            assert address, told
            with httpx.Client(follow_redirects=True, transport=httpx.HTTPTransport(retries=5)) as browser:
                assert browser.get(address[0]).status_code == 200
                base = address[0].split("?")[0]
                assert browser.get(f"{base}provspark/api/v1/datasets").json()["total"] == 0
                assert browser.get(f"{base}provspark/api/v1/about").json()["values"] is False
            assert httpx.get(base).status_code == 401
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0


def test_errors_are_one_line(store: str, tmp_path: Path) -> None:
    for arguments, env, text in (
        (["--store", str(tmp_path / "none")], {}, "no such folder"),
        (["--store", store, "--host", "192.0.2.1"], {}, "Can't listen on 192.0.2.1"),
        (["--store", store], {"PROVSPARK_SERVE_TOKEN": "short"}, "16 characters"),
        (["--store", store], {"PROVSPARK_MAX_BODY": "1 MB"}, "'1 MB'"),
        (["--store", store], {"PROVSPARK_SHOW_VALUES": "never"}, "'never'"),
    ):
        done = subprocess.run(
            [*COMMAND, *arguments], env={**os.environ, **env}, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 2 and text in done.stderr and len(done.stderr.splitlines()) == 1
