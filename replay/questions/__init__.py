"""Questions that replay stored operations, one per file."""
