"""Whether one user's replays slow others down: times of other requests to Airflow's api-server, idle and meanwhile.

One viewer asks for 50 replays at once, of a step of 20 operations over 200,000 rows, and asks again for those that are
refused when the answer says. Another user sends 200 requests, one after the other: Airflow's own pools, data sets, rows
and traces. The server is Airflow's own, with one process.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import httpx

from benchmarks.common import ROOT, SCRATCH, machine, publish, table
from benchmarks.replay import prepare
from provspark.model.datasets import Dataset
from provspark.model.steps import StepKey
from provspark.web.scope import dataset_id

sys.path.insert(0, str(ROOT / "tests"))
from _api_server import TEAMS, api_server

FOLDER = SCRATCH / "fair"
API = "/provspark/api/v1"
REPLAYS, REQUESTS, ALLOWED = 50, 200, 3.0


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--prepare", action="store_true", help="write the data and end")
    options = parser.parse_args()
    if options.prepare:
        prepare(FOLDER, options.rows, StepKey("twenty", "r1", "shop"))
        return
    # In a process of its own, so that no session of Spark stays here.
    again = [sys.executable, "-m", "benchmarks.fair", "--prepare", "--rows", str(options.rows)]
    subprocess.run(again, check=True)
    settings = {"AIRFLOW__CORE__MULTI_TEAM": str(TEAMS), "AIRFLOW__PROVSPARK__STORE": str(FOLDER / "store")}
    team = "viewer:shops" if TEAMS else "viewer"
    with api_server(FOLDER / "airflow", {"ann": team, "bob": team}, {"shops": ["shop"]}, **settings) as server:
        tokens = {user: server.token(user) for user in ("ann", "bob")}
        publish("fair", asyncio.run(measure(server.url, tokens)))


async def measure(url: str, tokens: dict[str, str]) -> str:
    """Return the report."""
    out, source = (dataset_id(Dataset.parse(str(FOLDER / name))) for name in ("out", "in"))
    kinds: dict[str, tuple[str, dict[str, Any] | None]] = {
        "Airflow's pools": ("/api/v2/pools", None),
        "datasets": (f"{API}/datasets", None),
        "50 rows with values": (f"{API}/datasets/{out}/rows", None),
        "a trace": (f"{API}/trace", {"dataset": out, "rows": [17]}),
    }
    async with _client(url, tokens["bob"]) as bob, _client(url, tokens["ann"]) as ann:
        await _times(bob, kinds)  # warm
        load = os.getloadavg()[0]
        idle = await _times(bob, kinds)
        answers: Counter[int] = Counter()
        asked = {"dataset": source, "rows": [17], "direction": "forward"}
        replays = [asyncio.create_task(_replay(ann, asked, answers)) for _ in range(REPLAYS)]
        began = time.perf_counter()
        busy = await _times(bob, kinds)
        took = time.perf_counter() - began
        done = sum(task.done() for task in replays)
        told = ", ".join(f"{n:,} × {status}" for status, n in sorted(answers.items()))
        first, _ = await asyncio.wait(replays, return_when=asyncio.FIRST_COMPLETED)
        first.pop().result()
        answered = time.perf_counter() - began
        for task in replays:
            task.cancel()
        await asyncio.gather(*replays, return_exceptions=True)
    lines = []
    for name in (*kinds, "all"):
        one, other = (t[name] if name != "all" else [x for ts in t.values() for x in ts] for t in (idle, busy))
        before, after = _late(one), _late(other)
        figures = [f"{1000 * f:.0f}" for f in (statistics.median(one), statistics.median(other), before, after)]
        mark = "**" if name == "all" else ""
        lines.append([name, str(len(one)), *figures, f"{mark}{after / before:.2f}{mark}"])
    head = [
        "requests",
        "number",
        "idle, median, ms",
        "during replays, median, ms",
        "idle, p95, ms",
        "during replays, p95, ms",
        "ratio",
    ]
    return (
        f"{machine()}; load average before {load:.1f}. The {REQUESTS} requests during replays took {took:.1f} s. "
        f"By then, {done} of the {REPLAYS} replays were done, and the HTTP statuses of the responses to replay "
        f"requests, which are repeated after 429, were: {told or 'none'}. "
        f"The first replay took {answered:.1f} s, including Spark's start. Target: a ratio of at most {ALLOWED:g}.\n\n"
        f"{table(head, lines)}"
    )


def _client(url: str, token: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=REPLAYS + 10)
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=300, limits=limits)


async def _replay(client: httpx.AsyncClient, asked: dict[str, Any], answers: Counter[int]) -> None:
    """Ask until it is answered, each time when the answer before says."""
    status = 429
    while status == 429:
        answer = await client.post(f"{API}/replay", json=asked)
        status = answer.status_code
        answers[status] += 1
        if status == 429:
            await asyncio.sleep(float(answer.headers["Retry-After"]))
        elif status == 200:
            assert all(p["verified"] for p in answer.json()["passages"]), answer.text


async def _times(
    client: httpx.AsyncClient, kinds: dict[str, tuple[str, dict[str, Any] | None]]
) -> dict[str, list[float]]:
    """Seconds of each request, by its kind; the kinds in turn, with a short rest as a person has."""
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(REQUESTS // len(kinds)):
        for name, (path, body) in kinds.items():
            began = time.perf_counter()
            answer = await (client.get(path) if body is None else client.post(path, json=body))
            found[name].append(time.perf_counter() - began)
            assert answer.status_code == 200, answer.text
            await asyncio.sleep(0.05)
    return found


def _late(times: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()
