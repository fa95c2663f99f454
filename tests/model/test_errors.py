"""Messages of errors that depend on what is known."""

from __future__ import annotations

import pytest

from provspark.model.errors import UnknownVersionError


@pytest.mark.parametrize(
    ("known", "end"),
    [
        ([], "It has no stored version of this dataset: first run a captured job that reads or writes it."),
        (["a"], "Pass one of its versions: a."),
        (list("abcdefg"), "Pass one of its versions: c, d, e, f, g and 2 older ones."),
    ],
)
def test_an_unknown_version_names_the_stored_ones(known: list[str], end: str) -> None:
    error = UnknownVersionError("file:///out", "x", known)
    assert str(error) == f"No version 'x' of file:///out in this store. {end}"
