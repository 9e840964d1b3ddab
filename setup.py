"""Let scrapyd-deploy, which calls setup.py, build the egg; everything about the package is in pyproject.toml."""

from setuptools import setup

setup()
