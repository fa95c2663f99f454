"""Values that a column is compared with: text or Python values, as Arrow scalars of the column's type."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from provspark.index_store.values.converters import text_converter
from provspark.model.datasets import Field
from provspark.model.errors import ConditionError, ValuesUnavailableError

__all__ = ["bind"]


def bind(field: Field, kind: pa.DataType, value: Any) -> pa.Scalar:
    """Return a value as a scalar that values of the field's type can be compared with.

    Raises
    ------
    ConditionError
        The value does not fit the type, or values of the type have no order.
    """
    if value is None:
        raise ConditionError(f"Values can't be compared with null. Write `{field.name} is null`.")
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_null(kind):
        raise ConditionError(f"Column {field.name} is {field.type}. Use `is null` or `is not null`.")
    out = _from_text(field, kind, value) if isinstance(value, str) else _from_value(kind, value)
    if out is None:
        raise ConditionError(
            f"{value!r} does not fit column {field.name}, which is {field.type}. Pass a value of this type."
        )
    try:
        return out if isinstance(out, pa.Scalar) else pa.scalar(out, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise ConditionError(
            f"{value!r} does not fit column {field.name}, which is {field.type}. Pass a value of this type."
        ) from None


def _from_text(field: Field, kind: pa.DataType, text: str) -> Any:
    if pa.types.is_string(kind):
        return text
    text = text.strip()
    if pa.types.is_decimal(kind):
        return _decimal(text)
    try:
        return text_converter(field.type, {"timezone": "UTC"})(text)
    except ValuesUnavailableError as e:
        raise ConditionError(f"{text!r} does not fit column {field.name}, which is {field.type}: {e}") from None


def _decimal(value: Any) -> pa.Scalar | None:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return pa.scalar(number) if number.is_finite() else None


def _from_value(kind: pa.DataType, value: Any) -> Any:
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    if isinstance(value, bool) or pa.types.is_boolean(kind):
        return value if isinstance(value, bool) and pa.types.is_boolean(kind) else None
    if pa.types.is_integer(kind):
        return value if isinstance(value, int) else None
    if pa.types.is_decimal(kind):
        return _decimal(value) if isinstance(value, (int, Decimal)) else None
    if pa.types.is_floating(kind):
        return float(value) if isinstance(value, (int, float, Decimal)) else None
    if pa.types.is_timestamp(kind):
        if not isinstance(value, datetime):
            return None
        return value.replace(tzinfo=value.tzinfo or timezone.utc) if kind.tz else value
    if pa.types.is_date(kind):
        return value if isinstance(value, date) and not isinstance(value, datetime) else None
    return None
