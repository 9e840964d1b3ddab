"""Pages drawn in a real browser that has no way to the network but ours.

``renderer`` is what the spider asks, ``chromium`` one browser with its driver, ``page`` one page in it, ``requests``
what its page asks for, by the crawl's own rules and client; ``processes`` measures and ends what was started.
"""
