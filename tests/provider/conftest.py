"""A home for Airflow; modules of helpers whose assertions tell what they compared."""

from collections.abc import Iterator

import _airflow_home  # noqa: F401
import pytest

from provspark.index_store.query.question import QUESTIONS

pytest.register_assert_rewrite("_history_answers", "_history_page")


@pytest.fixture
def registry() -> Iterator[None]:
    """Forget the questions that a test registers."""
    before = dict(QUESTIONS)
    yield
    QUESTIONS.clear()
    QUESTIONS.update(before)
