"""A home for Airflow; modules of helpers whose assertions tell what they compared."""

import _airflow_home  # noqa: F401
import pytest

pytest.register_assert_rewrite("_history_answers", "_history_page")
