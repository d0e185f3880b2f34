"""Marks of bad language: what a reader stumbles over, each with its price.

Most marks are patterns over the text; the rest count verbs. The patterns know the little English of these bulletins and
no more, and the prices are set by hand: a wrong ending costs less than a phrase that breaks off.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Flaw:
    """A mark of bad language: a pattern, the price of each place it matches, and the most it can cost."""

    name: str
    pattern: re.Pattern[str]
    price: float
    limit: float


def _flaw(name: str, price: float, limit: float, *patterns: str, flags: re.RegexFlag = re.IGNORECASE) -> Flaw:
    return Flaw(name, re.compile("|".join(patterns), flags), price, limit)


_SMALL = "the|a|an|of|to|from|for|with|and|so|at|bring"
_SKIES = "sunny|cloudy|clear|overcast|mixed|foggy"
_REPEATED = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?!The|It|On)[A-Z][\w-]+ [A-Z][\w-]+|\d+ [a-z]+"
FLAWS = (
    _flaw(
        "agreement",
        0.3,
        1.2,
        r"\b(?:temperature|reason|ticket|it) (?:are|have)\b",
        r"\bit cost\b",
        r"\bthere is (?:showers|thunderstorms)\b",
        r"(?<!for )\b(?:adults|families|children|beginners|tickets) (?:starts|is|takes|opens|lasts)\b",
        r"\bmust \w+s\b",
        r"\bare cancel\b",
        r"\brain are\b",
    ),
    _flaw(
        "agreement with a name",
        0.3,
        0.6,
        r"\b(?!Children|People|You|We|They|Everyone)[A-Z]\w*[a-rt-z] (?:are|have|leave|take)\b",
        r"\bSands have\b",
        flags=re.NOFLAG,
    ),
    _flaw("number", 0.2, 0.4, r"(?<!\S)(?!1 )\d+ (?:degree|minute|crown)\b"),
    _flaw("article", 0.5, 1.0, r"\ba [aeio]\w+", r"\ban [^aeiouh\W]"),
    _flaw("unidiomatic", 0.2, 0.4, r"\ba \w+ weather\b", r"\bgo at \d", r"\band for\b"),
    _flaw(
        "abbreviation",
        0.3,
        0.9,
        r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b",
        r"\bmin\b|\b[ap]\.m\b|\beve\.|\bo/n\b",
        r"\b\d+ C\b|\b(?:[NESW]|[NS][EW])\b",
        flags=re.NOFLAG,
    ),
    _flaw(
        "padding",
        0.4,
        1.6,
        "please be informed|as regards|be noted|kindly|last but not least|great pleasure|please note|we thank you",
    ),
    _flaw("repetition", 0.3, 0.9, rf"\b({_REPEATED})\b(?=.*\b\1\b)", flags=re.NOFLAG),
    _flaw("loose end", 1.2, 2.4, rf"\b(?:{_SMALL})(?=[,;:!?]|\.(?:\s|$)|$)", r"[^.!?]$"),
    _flaw(
        "broken phrase",
        1.4,
        2.8,
        r"\b(?:a|an|the) (?:from|to|on|at|in|of|and|is|are|will|with)\b",
        r"\b(?:of|at|from|with|to) (?:is|are|will|and|on|at|of|for|may)\b",
        r"\b(?:in|for) (?:is|are|will|and|may|of|at)\b",
        rf"\b(?:{_SKIES}|light|strong|moderate) (?:from|may|is|brings)\b",
        rf"\ba (?:{_SKIES}) on\b",
        r"\b(?:none|calm) (?:falls|wind|from)\b|\bis none\b|\bgale [a-z-]+ (?:wind|brings)\b",
        r"\b(?:there is|an|a) (?:delayed|moved|cancelled)\b",
        r"\b(?:people|drivers|hikers) are likely\b|\badmission is welcome\b|\bvisitors of (?!the)",
        r"\bshould note that \w+day because\b|\bexpect \w+day at\b|\bgo from the\b|\bopen to \d",
    ),
)
_VERB = re.compile(
    r"\b(?:is|are|was|will|be|can|may|should|has|have|must|need|do|does|looks|expect|expects|keeps|keep|stays"
    r"|stay|brings|bring|starts|start|begins|lies|lie|leaves|leave|takes|take|runs|run|costs|cost|opens"
    r"|lasts|reaches|reach|turns|holds|comes|come|goes|go|gets|get|put|puts|hold|pack|mind|make|set|find"
    r"|spread|dust|wrap|falls|rises|rise|rolls|walk|wheel|carry|climb|tie|wear|catch|remember|hear|see"
    r"|invites|mends|meet|sets|strike|sits|fill|creaks|asks|join|thank|warned|welcome|smell|stroll|brake"
    r"|wakes|wants|pay|complete|would|warn|reopens)\b"
)
_FINITE = re.compile(
    r"\b(?:is|are|will|may|starts|brings|costs|stays|reach|lie|takes|opens|leaves|runs|lasts|falls|comes|should)\b"
)
_LINKS = re.compile(
    r"[,;:]|\b(?:and|so|because|that|which|when|while|where|if|as|since|but|until|before|who|whoever|what)\b"
)
_ADDRESS = re.compile(r"\b(?:you|your|yourselves|because|so|when|while|where|if|until|since|but|for it|then|once)\b")


def flaws_of(text: str) -> dict[str, float]:
    """The marks of bad language in a text, each with its price."""
    prices = {flaw.name: min(flaw.limit, flaw.price * len(flaw.pattern.findall(text))) for flaw in FLAWS}
    sentences = [s.lower() for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)]
    prices["no verb"] = min(2.0, float(sum(not _VERB.search(s) for s in sentences)))
    prices["run-on"] = min(2.8, 1.4 * sum(_surplus_verbs(s) for s in sentences))
    prices["overlong"] = 0.4 * (len(text.split()) > 45)
    prices["stiff"] = 0.0 if _ADDRESS.search(text.lower()) else 0.4
    return {name: price for name, price in prices.items() if price}


def _surplus_verbs(sentence: str) -> int:
    """Verbs that no word or comma links to the rest of the sentence."""
    return max(0, len(_FINITE.findall(sentence)) - 1 - len(_LINKS.findall(sentence)))
