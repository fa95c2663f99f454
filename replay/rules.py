"""Finds the rules by which operations are replayed: each family of operators has its own."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from provspark.replay.contract import ReplayRule

__all__ = ["NONE", "not_replayed", "replay_rule"]

NONE = ReplayRule()
"""The rule of a node that no family replays: it has the defaults, and can't be run."""
_FAMILIES = "provspark.tracker.families.registry"


@cache
def replay_rule(node: str) -> ReplayRule:
    """Return the rule for a node of Spark's, by the name of its class; `NONE` if there is none."""
    rules: dict[str, ReplayRule] = import_module(_FAMILIES).replay_rules(node)
    return rules.get(node, NONE)


def not_replayed(node: str) -> str:
    """Say that a node has no rule, and what to do instead where a family knows that."""
    why = import_module(_FAMILIES).replay_refusal(node)
    return f"{node} is not replayed" + (f": {why}" if why else "")
