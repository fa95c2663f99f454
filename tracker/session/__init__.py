"""What a running script holds beside files: caches, RDDs, reads on the driver."""
