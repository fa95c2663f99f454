"""Benchmarks: `make bench` runs them and rewrites docs/performance.md."""
