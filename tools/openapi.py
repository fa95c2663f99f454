"""Writes the HTTP API's description to docs/openapi.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from provspark.settings import Settings
from provspark.web.app import create_app
from provspark.web.limits import Limits
from provspark.web.policy import Policy
from provspark.web.source import AnswerSource

TARGET = Path(__file__).resolve().parents[1] / "docs" / "openapi.json"


def describe() -> str:
    """Return the description as text."""
    app = create_app(AnswerSource(Settings.read().url, Policy()), lambda: None, Limits(), "")
    return json.dumps(app.openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(describe(), encoding="utf-8")
    sys.exit(0)
