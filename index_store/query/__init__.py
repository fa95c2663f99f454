"""Questions of lineage over boxes: one engine for one row or ten million."""
