"""Sealing: turns the records of taps into tensors."""
