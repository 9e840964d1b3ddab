"""Fetching: turns of each host (concurrency, delay, back-off) and our own HTTP/1.1 client."""
