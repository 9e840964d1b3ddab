"""Programs that measure: generated sites, servers with a log, and crawls scored from that log (bench/README.md)."""
