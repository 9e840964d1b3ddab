"""Fetch over HTTP/1.1: bounded in size, time and memory, and only from addresses that may be dialled."""
