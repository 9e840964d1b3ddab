"""Downloader middlewares: what is asked before a request goes out, in this order: scope, robots, gate, identity."""
