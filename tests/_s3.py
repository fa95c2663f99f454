"""An S3 server for the tests: moto's, in a process of its own, on loopback, with a bucket named bucket.

Run as a program it is the server: ``python tests/_s3.py PORT``.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Any

import pyarrow.fs as pafs
import pytest


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """Return the part of a URL that leads to a running server, as ``?endpoint_override=…``."""
    given = os.environ.get("PROVSPARK_TEST_S3")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        if given:
            yield given
            return
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        quiet = subprocess.DEVNULL
        with subprocess.Popen([sys.executable, __file__, str(port)], stdout=quiet, stderr=quiet) as server:
            try:
                _wait(server, port)
                options = f"?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
                pafs.FileSystem.from_uri(f"s3://bucket{options}&allow_bucket_creation=true")[0].create_dir("bucket")
                yield options
            finally:
                server.terminate()


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None, "the S3 server does not start"
        time.sleep(0.1)
    raise TimeoutError("the S3 server does not answer after 60 s")


class _OneByOne:
    """S3 decides conditional puts of one object one by one; moto's threads need not."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app, self._lock = app, Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if "HTTP_IF_NONE_MATCH" not in environ or environ["REQUEST_METHOD"] != "PUT":
            return self._app(environ, start)
        with self._lock:
            return list(self._app(environ, start))


def _serve(port: int) -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import run_simple

    app = _OneByOne(DomainDispatcherApplication(create_backend_app))
    run_simple("127.0.0.1", port, app, threaded=True, request_handler=MotoRequestHandler)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
