"""The tensor store: boxes, manifests, catalogue and queries."""
