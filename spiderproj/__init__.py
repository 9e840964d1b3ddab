"""Crawl and copy web sites: politely, completely, without duplicates, and with a reason for every URL."""
