"""Replay: run the stored operations of a step again on Spark, for a few rows.

The user's script never runs. Each operation is rebuilt from its stored text over the rows that reached it. Other rows
that it needs (the other side of a join, the other rows of a group) are read with the keys of these rows.
"""
