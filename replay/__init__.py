"""Replay: the stored operations of a step run again, on Spark, for the few rows in question.

The user's script never runs. Each operation is built again from its stored text over the rows that the record
came to; what it needs beside them (a join's other side, a group's other members) is read with the record's keys.
"""
