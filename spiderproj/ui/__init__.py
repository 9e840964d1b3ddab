"""The page of ``scrapy ui``: a server on this machine that shows stored crawls, starts and stops them.

Pure: ``access`` (who may ask), ``choices`` (arguments), ``expression`` (the filter as rows), ``families``.
Reading: ``copies``, ``snapshot``, ``tables``, ``estimate``, ``progress``. Doing: ``runs``, ``asked``, ``scrapyd``.
``answers`` and ``deeds`` are what can be asked and done; ``server``, ``pages`` and ``service`` speak HTTP.
"""
