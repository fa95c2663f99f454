"""Data model of all other packages; it imports only numpy and pyarrow."""
