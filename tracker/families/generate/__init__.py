"""Generate."""
