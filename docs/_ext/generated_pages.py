"""Sphinx extension: fills ``<!-- generated: NAME -->`` in pages, and resolves the names in docstrings."""

from __future__ import annotations

import re
from typing import Any

import command_pages
import question_pages
import route_pages
import setting_pages
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import NumpyDocstring
from sphinx.util.nodes import make_refnode

__all__ = ["setup"]

_GENERATED = {
    "questions": question_pages.markdown,
    "commands": command_pages.markdown,
    "routes": route_pages.markdown,
    "settings": setting_pages.markdown,
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the parts to Sphinx."""
    app.connect("source-read", _fill)
    app.connect("env-get-outdated", lambda _app, env, *_: [d for d in env.found_docs if d.startswith("reference/")])
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-process-docstring", _keep, priority=400)
    app.connect("autodoc-process-docstring", _attribute, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _fill(_app: Sphinx, _page: str, source: list[str]) -> None:
    for name, markdown in _GENERATED.items():
        mark = f"<!-- generated: {name} -->"
        if mark in source[0]:
            source[0] = source[0].replace(mark, markdown())
    # Links to an HTML anchor work where Markdown is shown as it is. Sphinx checks those to a target of its own.
    source[0] = re.sub(r'<a id="([\w-]+)"></a>([^|\n]*[^|\s])', r"[\2]{#\1}", source[0])


_kept: list[str] = []


def _keep(_app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Remember a docstring as it was before napoleon, for `_attribute`."""
    _kept[:] = lines


def _attribute(app: Sphinx, what: str, name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Parse the docstring of an attribute as any other: napoleon reads what precedes a colon as its type."""
    if what in ("attribute", "property"):
        lines[:] = str(NumpyDocstring(list(_kept), app.config, app, "method", name)).splitlines()


def _resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Element) -> nodes.Element | None:
    """Resolve a bare name, such as an error that a docstring raises, to the one object that has it.

    A name in single backticks that has no entry is a parameter or an attribute, and stays code.
    """
    domain = env.domains["py"]
    assert isinstance(domain, PythonDomain)
    target = node.get("reftarget", "")
    listed = domain.find_obj(env, None, None, target, node.get("reftype"), 1) if node.get("refdomain") == "py" else []
    if len(listed) == 1:
        name, entry = listed[0]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, text, name)
    return text if node.get("reftype") == "obj" else None
