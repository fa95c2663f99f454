"""The bottom: what all other packages pass around. It imports numpy and pyarrow at most."""
