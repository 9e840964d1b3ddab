"""Looking before crawling: what to fetch of a site to learn what it holds, and what is likely by what was seen.

``families`` groups URLs, ``sample`` chooses, ``ranges`` estimates, ``suspects`` finds what may be a trap, ``records``
are the result, ``text`` shows it to people. Pure: who fetches and who reads the store is above.
"""

from spiderproj.survey.arguments import MOST, TAKEN, SurveyOptions, parse_survey_arguments
from spiderproj.survey.families import Family, family_of, variant
from spiderproj.survey.ranges import End, Estimate, Range, Seen, estimate
from spiderproj.survey.sample import Sample
from spiderproj.survey.suspects import FamilyFacts, Suspect, suspect
from spiderproj.survey.text import render

__all__ = [
    "MOST",
    "TAKEN",
    "End",
    "Estimate",
    "Family",
    "FamilyFacts",
    "Range",
    "Sample",
    "Seen",
    "SurveyOptions",
    "Suspect",
    "estimate",
    "family_of",
    "parse_survey_arguments",
    "render",
    "suspect",
    "variant",
]
