"""Find the rule for replaying an operation. Each family of operators has its own rules."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from provspark.replay.contract import ReplayRule

__all__ = ["NONE", "not_replayed", "replay_rule"]

NONE = ReplayRule()
"""The rule of nodes that can't be replayed, with the defaults of all members."""
_FAMILIES = "provspark.tracker.families.registry"


@cache
def replay_rule(node: str) -> ReplayRule:
    """Return the rule for a Spark node, by the name of its class; `NONE` if there is none."""
    rules: dict[str, ReplayRule] = import_module(_FAMILIES).replay_rules(node)
    return rules.get(node, NONE)


def not_replayed(node: str) -> str:
    """Return the message that a node is not replayed, with the reason if its family has one."""
    why = import_module(_FAMILIES).replay_refusal(node)
    return f"{node} is not replayed" + (f": {why}" if why else "")
