"""No answer of the API contains a value of a masked column, nor one that was made of it; all others are whole.

A DAG of real Spark steps is asked through every route by users of every role, and each byte of each answer is searched.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from _http import client
from _secrets_dag import MASKS, World, build
from _secrets_requests import AREAS, Catalogue, Sweep
from _secrets_search import Secrets
from fastapi.testclient import TestClient

from provspark.web.policy import Policy

pytestmark = pytest.mark.spark

MASKED = Policy.of(True, MASKS)
ROLES: dict[str, tuple[list[str] | None, Policy, int]] = {
    "all DAGs": (None, MASKED, 1),
    "later DAG": (["audit"], MASKED, 2),
    "earlier DAGs": (["intake", "town"], MASKED, 3),
    "no DAG": ([], MASKED, 7),
    "no values": (None, Policy(False), 3),
}
"""The DAGs that a user may read, what is masked, and how many of the possible requests one is sent for."""
_SHOWN = 25


@pytest.fixture(scope="module")
def world(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(spark, tmp_path_factory.mktemp("secrets"))


@pytest.fixture(scope="module")
def secrets(world: World) -> Secrets:
    return Secrets(world)


@pytest.fixture(scope="module")
def catalogue(world: World) -> Catalogue:
    return Catalogue.of(world.store)


class Users:
    """Clients and sweeps of each role; replays of all share their processes."""

    def __init__(self, world: World, secrets: Secrets, catalogue: Catalogue) -> None:
        self.world, self.secrets, self.catalogue = world, secrets, catalogue
        self._clients: dict[str, TestClient] = {}
        self.sweeps: dict[tuple[str, str], Sweep] = {}

    def client(self, name: str, dags: list[str] | None, policy: Policy) -> TestClient:
        found = self._clients.get(name)
        if found is None:
            found = self._clients[name] = client(self.world.root, dags, policy)
            first = next(iter(self._clients.values()))
            found.app.state.replays = first.app.state.replays  # type: ignore[attr-defined]
        return found

    def swept(self, role: str, area: str) -> Sweep:
        """Ask the routes of an area, once."""
        found = self.sweeps.get((role, area))
        if found is None:
            dags, policy, every = ROLES[role]
            found = Sweep(role, self.client(role, dags, policy), self.secrets, self.catalogue, every)
            found.run(area)
            self.sweeps[role, area] = found
        return found

    def close(self) -> None:
        for api in self._clients.values():
            api.app.state.replays.close()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def users(world: World, secrets: Secrets, catalogue: Catalogue) -> Iterator[Users]:
    logging.getLogger("provspark.web.problems").setLevel(logging.CRITICAL)
    made = Users(world, secrets, catalogue)
    yield made
    made.close()
    logging.getLogger("provspark.web.problems").setLevel(logging.NOTSET)


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("role", ROLES)
def test_no_answer_contains_a_masked_value(users: Users, role: str, area: str) -> None:
    sweep = users.swept(role, area)
    assert sum(sweep.asked.values()) > 0
    told = "\n".join(
        f"{where}\n    {leak.origin}: {leak.secret!r} in …{leak.excerpt}…" for where, leak in _sample(sweep)
    )
    count = len({where for where, _ in sweep.leaks})
    assert not sweep.leaks, f"{count} of {sum(sweep.asked.values())} answers contain masked values, such as:\n{told}"


def _sample(sweep: Sweep) -> list[tuple[str, Any]]:
    """A few leaks of each route and origin."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for where, leak in sweep.leaks:
        key = (where.split("?")[0][:60], leak.origin)
        seen[key] += 1
        if seen[key] == 1:
            found.append((where, leak))
    return found[:_SHOWN]
