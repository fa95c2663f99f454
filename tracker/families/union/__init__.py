"""Union."""
