"""Export of answers: tables as CSV and Parquet, the neighbourhood of rows as W3C PROV and as graphs."""
