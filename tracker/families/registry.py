"""Finds families by name and their rules by node name. Each module of a family is imported when it is first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from provspark.model.operation_rules import OperationRule
from provspark.tracker import families
from provspark.tracker.families.contract import CaptureRule, Family

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "capture_rule",
    "changed",
    "family",
    "names",
    "operation_rule",
    "part",
    "refusal",
    "replay_refusal",
    "replay_rules",
]

_NO_RULE = "this operator is not one of Spark's own and is not supported; use one that docs/operators.md lists"


@cache
def names() -> tuple[str, ...]:
    """Return the names of all families, sorted: the packages in this folder."""
    return tuple(sorted(module.name for module in iter_modules(families.__path__) if module.ispkg))


@cache
def family(name: str) -> Family:
    """Return a family's `FAMILY`."""
    family_: Family = import_module(f"{families.__name__}.{name}").FAMILY
    return family_


def part(name: str, which: str) -> Any:
    """Import a module of a family, such as its ``capture``; return None if there is none."""
    module = f"{families.__name__}.{name}.{which}"
    return None if find_spec(module) is None else import_module(module)


@cache
def _family_of() -> Mapping[str, str]:
    return {node: name for name in names() for node in family(name).nodes}


def _part_of(node: str, which: str) -> Any:
    name = _family_of().get(node)
    return None if name is None else part(name, which)


@cache
def capture_rule(node: str) -> CaptureRule | None:
    """Return the rule that rewrites a node of a normalised plan, or None."""
    rules = _part_of(node, "capture")
    rule: CaptureRule | None = None if rules is None else rules.RULE
    return rule if rule is not None and node in rule.kinds else None


@cache
def operation_rule(node: str) -> OperationRule:
    """Return how operations of a node of the user's plan are described; the default rule if its family has none."""
    operations = _part_of(node, "operation")
    rules: Mapping[str, OperationRule] = {} if operations is None else operations.OPERATIONS
    return rules.get(node, OperationRule())


def replay_rules(node: str) -> Mapping[str, Any]:
    """Return the replay rules of a node's family, by node."""
    rules = _part_of(node, "replay")
    return getattr(rules, "RULES", {})


def replay_refusal(node: str) -> str:
    """Return why replay refuses a node, and what to do instead; "" if its family gives no reason."""
    rules = _part_of(node, "replay")
    refused: Mapping[str, str] = getattr(rules, "REFUSED", {})
    return refused.get(node, "")


def changed(node: str) -> str:
    """Return why a plan that still has this node after normalising is refused: its rewrite would return other rows."""
    why: str = _part_of(node, "capture").CHANGED[node]
    return why


def refusal(node: str, otherwise: str = _NO_RULE) -> str:
    """Return why a node without a rule is refused; `otherwise` if its family gives no reason."""
    name = _family_of().get(node)
    why = None if name is None else family(name).why
    return otherwise if why is None else str(why)
