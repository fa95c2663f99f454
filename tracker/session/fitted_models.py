"""Models that a script fitted: the read on the driver that each one is, and the columns that its fit named."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["UNSHOWN", "Models", "columns_named", "learned", "parameters_are_constant"]

UNSHOWN = "?"
"""Marks a DataFrame of a transformer with parameters that the script's text does not show."""

_WITHIN = ("stages", "bestModel", "models", "subModels")
"""Attributes of models and estimators that contain other ones."""


class Models:
    """Models that a step fitted, with the number of the read that each one is."""

    def __init__(self) -> None:
        self._fitted: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._of_uid: dict[str, set[int]] = {}
        self._of_java: dict[str, tuple[int, ...]] = {}
        """Reads of Java objects that models returned, such as summaries, by their py4j names."""

    def fitted(self, estimator: Any, result: Any, number: int) -> None:
        """Remember what a fit returned. Models of a returned iterator are recognized by their estimator's uid."""
        for model in _models(result):
            self._fitted[model] = number
            self._of_uid.setdefault(model.uid, set()).add(number)
        for each in _models(estimator):
            self._of_uid.setdefault(each.uid, set()).add(number)

    def of(self, transformer: Any) -> tuple[int, ...]:
        """Return the numbers of the reads that a transformer is, empty if it was not fitted in this step.

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
        """Remember which reads a Java object belongs to, such as the summary of a model."""
        if numbers and _java_name(value):
            self._of_java[_java_name(value)] = numbers

    def within(self, value: Any) -> tuple[int, ...]:
        """Return the numbers of the reads that a model and the models within it are."""
        return tuple(sorted({number for model in _models(value) for number in self.of(model)}))


def parameters_are_constant(transformer: Any) -> bool:
    """Whether the script's text shows all arguments with which it creates and sets up transformers of this class."""
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
    """Whether an MLlib object is a model or contains one, and so depends on training data."""
    from pyspark.ml.base import Model

    return any(isinstance(each, Model) for each in _models(value))


def columns_named(estimator: Any, columns: Iterable[str]) -> frozenset[str]:
    """Return the columns that the parameters of an estimator and its stages name, or all columns if they name none."""
    columns = frozenset(columns)
    named: set[str] = set()
    for each in _models(estimator):
        for value in each.extractParamMap().values():
            values = value if isinstance(value, (list, tuple)) else [value]
            named.update(v for v in values if isinstance(v, str) and v in columns)
    return frozenset(named) or columns


def _java_name(value: Any) -> str:
    """Return the py4j name of a Java object, or "" for anything else."""
    return str(getattr(value, "_target_id", ""))


def _models(value: Any) -> Iterator[Any]:
    """Yield the models and estimators of a value, including nested ones."""
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
