"""Sealing: what taps noted becomes tensors."""
