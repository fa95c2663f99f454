"""State of a running script besides files: caches, RDDs, reads on the driver."""
