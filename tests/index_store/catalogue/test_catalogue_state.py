from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provspark.errors import SettingsError
from provspark.index_store.catalogue.state import StepState
from provspark.index_store.catalogue.urls import store_url
from provspark.index_store.store.fs.opening import open_folder
from provspark.model.steps import StepKey
from provspark.model.times import utc

TIMES = st.sampled_from(["", "2026-01-01T00:00:00.000000+00:00", "2026-01-02T00:00:00.000000+00:00"])
STATES = st.builds(
    StepState,
    st.sampled_from([None, StepKey("t", "r")]),
    st.sampled_from(["running", "succeeded", "failed"]),
    st.booleans(),
    TIMES,
    TIMES,
    st.booleans(),
)


@given(STATES, STATES, STATES)
def test_neither_order_nor_repetition_matters(a, b, c):
    assert a.merge(b) == b.merge(a)
    assert a.merge(b.merge(c)) == a.merge(b).merge(c)
    assert a.merge(a) == a
    assert a.merge(b).merge(a) == a.merge(b)


def test_the_manifest_has_the_last_word():
    early, late = "2026-01-01T00:00:00.000000+00:00", "2026-01-02T00:00:00.000000+00:00"
    said = StepState(StepKey("t", "r"), "succeeded", True, late, late)
    events = StepState(None, "failed", False, early, "")
    assert events.merge(said) == said


@given(
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)),
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
    st.sampled_from(["auto", "seconds", "milliseconds", "microseconds"]),
)
def test_times_are_those_of_the_standard_library(moment, minutes, precision):
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    text = aware.isoformat(timespec=precision)
    expected = datetime.fromisoformat(text).astimezone(timezone.utc).isoformat(timespec="microseconds")
    assert utc(text) == expected == utc(text.replace("T", " ")) == utc(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100000+00:00"),
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456+00:00"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05.000000+00:00"),
        ("2026-01-02T03:04:05-0130", "2026-01-02T04:34:05.000000+00:00"),
    ],
)
def test_times_that_other_producers_write(text, expected):
    assert utc(text) == expected


@pytest.mark.parametrize("text", ["", "now", "2026-01-02", "2026-13-02T03:04:05Z", "0001-01-01T00:00:00+02:00", "٢٠٢٦"])
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match=r"."):
        utc(text)


@pytest.mark.parametrize(
    "text",
    [
        "/data/prov",
        "/data//prov/./",
        "/a b/ü%20",
        "file:/data/prov",
        "file:///data/a%20b",
        "file://localhost/data",
        "/",
    ],
)
def test_store_urls_are_those_of_the_store(text):
    assert store_url(text) == open_folder(text).url == store_url(store_url(text))


def test_stores_that_are_elsewhere_for_others_are_refused():
    with pytest.raises(SettingsError, match="relative"):
        store_url("data/prov")
    with pytest.raises(SettingsError, match="another machine"):
        store_url("file://host/data/prov")
