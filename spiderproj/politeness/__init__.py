"""How long a host must be left alone before the next request: delays, back-off, sleep, and what they forecast."""

from spiderproj.politeness.host import HostPoliteness, Learned, Wait, forecast
from spiderproj.politeness.retry_after import parse_retry_after

__all__ = ["HostPoliteness", "Learned", "Wait", "forecast", "parse_retry_after"]
