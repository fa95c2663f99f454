"""Models that a script fitted: which read on the driver each of them is, and the columns that its fit named."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["UNSHOWN", "Models", "columns_named", "learned", "parameters_are_constant"]

UNSHOWN = "?"
"""Marks a frame that a transformer returned whose parameters the script's text does not show."""

_WITHIN = ("stages", "bestModel", "models", "subModels")
"""Attributes of models and estimators that hold others."""


class Models:
    """The models that a step fitted, by the number of the read that each is."""

    def __init__(self) -> None:
        self._fitted: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._of_uid: dict[str, set[int]] = {}
        self._of_java: dict[str, tuple[int, ...]] = {}
        """Of Java objects that models returned, such as summaries, by py4j's names."""

    def fitted(self, estimator: Any, result: Any, number: int) -> None:
        """Remember what a fit returned; models of an iterator that it returned are told by their estimator."""
        for model in _models(result):
            self._fitted[model] = number
            self._of_uid.setdefault(model.uid, set()).add(number)
        for each in _models(estimator):
            self._of_uid.setdefault(each.uid, set()).add(number)

    def of(self, transformer: Any) -> tuple[int, ...]:
        """Return the reads that a transformer is; none for one that learned nothing here.

        A copy has the uid of the model, and a model that of its estimator, which may have been fitted several times.
        """
        known = self._fitted.get(transformer)
        if known is not None:
            return (known,)
        java = _java_name(getattr(transformer, "_java_obj", None))
        if java in self._of_java:
            return self._of_java[java]
        return tuple(sorted(self._of_uid.get(getattr(transformer, "uid", ""), ())))

    def returned(self, value: Any, numbers: tuple[int, ...]) -> None:
        """Remember which reads a Java object is part of, such as a model's summary."""
        if numbers and _java_name(value):
            self._of_java[_java_name(value)] = numbers

    def within(self, value: Any) -> tuple[int, ...]:
        """Return the reads that a model, or those within it, are."""
        return tuple(sorted({number for model in _models(value) for number in self.of(model)}))


def parameters_are_constant(transformer: Any) -> bool:
    """Whether the script's text shows all that it makes transformers of this class with, and sets in them."""
    from provspark.tracker.script import program
    from provspark.tracker.script.calls import passed_values
    from provspark.tracker.script.row_constants import reading, shown
    from provspark.tracker.script.source import last_name

    name = type(transformer).__name__
    setters = {f"set{param.name[:1].upper()}{param.name[1:]}" for param in transformer.params}
    with reading(frozenset()):
        for source in program().sources():
            makers = list(source.calls.get(name, ()))
            makers += [call for setter in setters for call in source.calls.get(setter, ())]
            makers += [
                call
                for some in source.calls.values()
                for call in some
                if last_name(getattr(call.func, "value", call.func)) == name and last_name(call.func) != name
            ]
            if not all(shown().shows(source, value) for call in makers for value in passed_values(call)):
                return False
    return True


def learned(value: Any) -> bool:
    """Whether a value of MLlib is a model, or has one within, and so holds what it was fitted to."""
    from pyspark.ml.base import Model

    return any(isinstance(each, Model) for each in _models(value))


def columns_named(estimator: Any, columns: Iterable[str]) -> frozenset[str]:
    """Return the columns that an estimator's parameters name, those of its stages among them; all where none do."""
    columns = frozenset(columns)
    named: set[str] = set()
    for each in _models(estimator):
        for value in each.extractParamMap().values():
            values = value if isinstance(value, (list, tuple)) else [value]
            named.update(v for v in values if isinstance(v, str) and v in columns)
    return frozenset(named) or columns


def _java_name(value: Any) -> str:
    """Return what py4j calls a Java object; "" for anything else."""
    return str(getattr(value, "_target_id", ""))


def _models(value: Any) -> Iterator[Any]:
    """Yield a model or an estimator, or several, and those within."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _models(each)
        return
    if not hasattr(value, "uid") or not hasattr(value, "extractParamMap"):
        return
    yield value
    for name in _WITHIN:
        inner = getattr(value, name, None)
        if isinstance(inner, (list, tuple)) or hasattr(inner, "uid"):
            yield from _models(inner)
    params = getattr(value, "_paramMap", {})
    for inner in list(params.values()):
        if isinstance(inner, (list, tuple)) or hasattr(inner, "uid"):
            yield from _models(inner)
