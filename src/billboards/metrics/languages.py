"""Languages as metrics need them: which one a board's word for it means, and how it is written.

A board may say `zh`, `zh-CN`, `zho_Hans`, `cmn` or `Chinese`. What decides how texts are cut into words is the
language and its script: a script without spaces between words is cut into characters, one other than Latin needs a
tokenizer that knows it, and stems exist for some languages only. A language that isn't listed here keeps its code and
counts as written in Latin letters with spaces, so that a metric's defaults hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Code, name, three-letter codes, and the script where it isn't Latin.
_LISTED = """
af Afrikaans afr
am Amharic amh Ethi
ar Arabic ara arb arz apc Arab
as Assamese asm Beng
az Azerbaijani aze azj
be Belarusian bel Cyrl
bg Bulgarian bul Cyrl
bn Bengali ben Beng
bo Tibetan bod tib Tibt
bs Bosnian bos
ca Catalan cat
cs Czech ces cze
cy Welsh cym wel
da Danish dan
de German deu ger
el Greek ell gre Grek
en English eng
es Spanish spa
et Estonian est ekk
eu Basque eus baq
fa Persian fas per pes Arab
fi Finnish fin
fr French fra fre
ga Irish gle
gl Galician glg
gu Gujarati guj Gujr
ha Hausa hau
he Hebrew heb Hebr
hi Hindi hin Deva
hr Croatian hrv
hu Hungarian hun
hy Armenian hye arm Armn
id Indonesian ind
is Icelandic isl ice
it Italian ita
ja Japanese jpn Jpan
ka Georgian kat geo Geor
kk Kazakh kaz Cyrl
km Khmer khm Khmr
kn Kannada kan Knda
ko Korean kor Kore
ky Kyrgyz kir Cyrl
lo Lao lao Laoo
lt Lithuanian lit
lv Latvian lav lvs
mk Macedonian mkd mac Cyrl
ml Malayalam mal Mlym
mn Mongolian mon khk Cyrl
mr Marathi mar Deva
ms Malay msa may zsm
my Burmese mya bur Mymr
nb Bokmål nob
ne Nepali nep npi Deva
nl Dutch nld dut
nn Nynorsk nno
no Norwegian nor
or Odia ori ory Orya
pa Punjabi pan Guru
pl Polish pol
ps Pashto pus pbt Arab
pt Portuguese por
ro Romanian ron rum
ru Russian rus Cyrl
si Sinhala sin Sinh
sk Slovak slk slo
sl Slovenian slv
so Somali som
sq Albanian sqi alb als
sr Serbian srp Cyrl
sv Swedish swe
sw Swahili swa swh
ta Tamil tam Taml
te Telugu tel Telu
tg Tajik tgk Cyrl
th Thai tha Thai
tl Tagalog tgl fil
tr Turkish tur
uk Ukrainian ukr Cyrl
ur Urdu urd Arab
uz Uzbek uzb uzn
vi Vietnamese vie
yue Cantonese Hant
zh Chinese zho chi cmn Hans
"""
#: Scripts that put no spaces between words: Chinese and Japanese, whose characters are alone in every tokenizer here
#: but 13a, and those of South East Asia and Tibet, whose letters are cut only where that is asked for.
HAN = frozenset({"Hans", "Hant", "Hani", "Jpan", "Hira", "Kana"})
UNSPACED = frozenset({"Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
#: Letters in the name of a script.
_SCRIPT = 4


@dataclass(frozen=True, slots=True)
class Language:
    """A language by its shortest code, and the script that it is written in, as ISO 15924 names it."""

    code: str
    script: str = "Latn"

    @property
    def unspaced(self) -> bool:
        """Whether words stand without spaces between them."""
        return self.script in HAN or self.script in UNSPACED


def language_of(text: str | None) -> Language | None:
    """The language that is meant by a code or an English name, with a region or script or without; None for none."""
    first, *others = re.split(r"[-_\s]+", (text or "").strip())
    if not first:
        return None
    words = [first, *(other for other in others if len(other) > _SCRIPT)]
    named = (_BY_WORD[word.casefold()] for word in words if word.casefold() in _BY_WORD)
    listed = next(named, Language(first.casefold()))
    script = next((other.title() for other in others if re.fullmatch(r"[A-Za-z]{4}", other)), listed.script)
    return Language(listed.code, script)


def _listed() -> dict[str, Language]:
    """Every listed language by each of its words, folded."""
    by_word: dict[str, Language] = {}
    for line in _LISTED.split("\n"):
        words = line.split()
        script = words.pop() if words and re.fullmatch(r"[A-Z][a-z]{3}", words[-1]) and len(words) > 2 else "Latn"
        by_word |= {word.casefold(): Language(words[0], script) for word in words}
    return by_word


_BY_WORD = _listed()
