"""Configuration of the documentation site: `make docs` builds it into build/docs, without network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from provspark.model.release import __version__

# Importing the operators makes Airflow write its configuration, and log that it read it.
os.environ.setdefault("AIRFLOW_HOME", str(Path(__file__).parents[1] / "build" / "airflow"))
os.environ.setdefault("AIRFLOW__LOGGING__LOGGING_LEVEL", "ERROR")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "ProvSpark"
author = "the ProvSpark authors"
release = version = __version__
copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "generated_pages"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_ext"]
nitpicky = True
nitpick_ignore = [("py:exc", "AirflowFailException")]  # Airflow's

myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
# No block of the pages is a directive's argument, and "console" has output that no lexer knows.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_typehints = "none"  # the types are in the docstrings, in words
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False  # types of parameters are words, not references
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "py:obj"

html_theme = "furo"
html_title = f"ProvSpark {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_extra_path = ["openapi.json"]
