"""Everything that proves the package: unit tests, a scripted web server, black-box cases and kill tests."""
