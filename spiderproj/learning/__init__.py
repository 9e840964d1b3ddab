"""Which parts of a URL never change the content: rewrites, and the test by which one becomes a rule."""

from spiderproj.learning.parameters import Parameters
from spiderproj.learning.rewrites import (
    HOST_WIDE,
    Kind,
    Rewrite,
    apply,
    own_rewrites,
    parameter_names,
    scope_template,
    siblings,
)
from spiderproj.learning.rule import FIRST_AUDITS, TRIALS_A_BASE, TRIALS_ON_FEW_BASES, Pin, Rule, State, Trial

__all__ = [
    "FIRST_AUDITS",
    "HOST_WIDE",
    "TRIALS_A_BASE",
    "TRIALS_ON_FEW_BASES",
    "Kind",
    "Parameters",
    "Pin",
    "Rewrite",
    "Rule",
    "State",
    "Trial",
    "apply",
    "own_rewrites",
    "parameter_names",
    "scope_template",
    "siblings",
]
