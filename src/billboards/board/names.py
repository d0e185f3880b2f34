"""Names on a board: what may be one, and the file name it is kept under.

Instance ids and generators' names stand in tab-separated tables, in commands and in file names, so a name is one line
of ordinary characters. Any such name can be a file name: what file systems treat specially is percent-encoded.
"""

from __future__ import annotations

import re
import unicodedata
import urllib.parse
from functools import lru_cache
from pathlib import Path

_SAFE = " ()+,-._@="
_LONGEST = 200
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_RESERVED = re.compile(r"#\d+")
_BOARD = re.compile(r"\w[\w.-]*")


def file_name(name: str) -> str:
    """A generator's or metric's name as a file name; any name can be one."""
    quoted = urllib.parse.quote(name, safe=_SAFE)
    return "%2E" + quoted[1:] if quoted.startswith(".") else quoted


def named(path: Path) -> str:
    """The name that `file_name` made a file name of."""
    return urllib.parse.unquote(path.stem)


def name_mistake(name: str) -> str | None:
    """What is wrong with a name, if anything, as the end of a sentence that begins with it."""
    if not name:
        return "is empty"
    forbidden = _FORBIDDEN.search(name)
    if forbidden is None:
        return None
    return f"holds the character U+{ord(forbidden[0]):04X}; names have no tabs, line ends or other control characters"


def file_name_mistake(name: str) -> str | None:
    """What is wrong with a name that a file is to be called by, if anything."""
    mistake = name_mistake(name)
    if mistake is None and len(file_name(name)) > _LONGEST:
        return f"is too long: as a file name it has {len(file_name(name))} bytes, and at most {_LONGEST} are allowed"
    return mistake


def is_loose(name: str) -> bool:
    """Whether a row of this name holds outputs that belong to no generator."""
    return _RESERVED.fullmatch(name) is not None


def generator_name_mistake(name: str) -> str | None:
    """What is wrong with a generator's name, if anything."""
    if is_loose(name):
        return "is taken: #1, #2, … are the rows of outputs that belong to no generator"
    return file_name_mistake(name)


def mistake_in(kind: str, name: str) -> str | None:
    """What is wrong with the name of a `kind` of thing, if anything; some of them name files."""
    if kind == "generator":
        return generator_name_mistake(name)
    return file_name_mistake(name) if kind in ("campaign", "scores") else name_mistake(name)


def board_name_mistake(name: str) -> str | None:
    """What is wrong with a board's name, if anything; it stands in signatures and commands."""
    if _BOARD.fullmatch(name):
        return None
    return "may hold letters, digits, dots, dashes and underscores only, and begins with a letter or digit"


def folded(name: str) -> str:
    """The name as a file system sees it that ignores case and how accents are encoded."""
    return unicodedata.normalize("NFC", name).casefold()


#: Letters that are drawn as a Latin one is, each beside that one: of Cyrillic, Greek, Armenian and Cherokee, of
#: phonetic writing and small capitals, and digits.
_DRAWN = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0417"
    "\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u04bb\u0501\u051b\u051d"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03bf\u03bd\u03c4\u03b9\u03ba\u03c1\u03c5\u03c7\u03b1"
    "\u04c0\u0585\u0578\u2223|"
    "\u13aa\u13f4\u13df\u13a0\u13ac\u13c0\u13bb\u13a5\u13ab\u13e6\u13de\u13b7\u13e2\u13a1\u13da\u13a2\u13d9\u13b3\u13c3"
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b"
    "\u1d1c\u1d20\u1d21\u028f\u1d22\u0251\u0261\u0131\u0237\u0269\u028b\u01c0"
    "01",
    "ABESIJKMHOPCTYX3aesijopcyxhdqwABEZHIKMNOPTYXovtikpuxalonllABCDEGHiJKLMPRSTVWZabcdefghijklmnoprstuvwyzagijivlOl",
)
#: Two letters that are drawn as one.
_PAIRS = (("rn", "m"), ("vv", "w"))
#: What has no width of its own, or turns what stands around it.
_JOINERS = "\u200c\u200d"
#: What is drawn as nothing at all wherever it stands, although Unicode calls it a letter or a sign.
_BLANKS = re.compile("[\u115f\u1160\u2800\u3164\uffa0\ufffc]")
#: Marks that are drawn as nothing, or that choose how the sign before them is drawn.
_UNSEEN = re.compile("[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def deceiving_mistake(name: str) -> str | None:
    """What makes a name of a newcomer's look like another or lead elsewhere, if anything, as the end of a sentence."""
    for letter in name:
        if letter not in _JOINERS and unicodedata.category(letter) in ("Cf", "Co", "Cn", "Zl", "Zp"):
            return f"holds the character U+{ord(letter):04X}, which nobody sees or which turns the text around it"
    if blank := _BLANKS.search(name):
        return f"holds the character U+{ord(blank[0]):04X}, which nobody sees"
    if name != name.strip():
        return "begins or ends with a blank"
    if {".", ".."} & set(name.split("/")):
        return "holds a part . or .., which addresses take for a folder"
    return None


def look_alike(name: str, other: str) -> bool:
    """Whether two names are the same to the eye: but for case, accents' encoding, and letters drawn alike."""
    return folded(name) == folded(other) or _drawn(name) == _drawn(other)


@lru_cache(maxsize=2**14)
def _drawn(name: str) -> str:
    """A name as the eye sees it: letters of other alphabets and other forms as the plain letters they look like."""
    seen = _UNSEEN.sub("", name).translate({ord(letter): None for letter in _JOINERS})
    drawn = unicodedata.normalize("NFKC", seen).translate(_DRAWN).replace("I", "l")
    drawn = re.sub(r"[\s_-]+", "-", unicodedata.normalize("NFKC", drawn).casefold())
    for pair, letter in _PAIRS:
        drawn = drawn.replace(pair, letter)
    return drawn


def folder_order(name: str) -> str:
    """Sorts names as a board folder lists their files, so that a board opens as it was imported."""
    return f"{file_name(name)}.jsonl"


def is_human(name: str) -> bool:
    """Whether a system's name says that people wrote its outputs, as Human, Human-A and Human-A.0 do."""
    return re.fullmatch(r"Human(-.+)?", name) is not None


def plain_name(name: str) -> str:
    """A system's name without the submission number that WMT appends: `Human-A.0` is `Human-A`."""
    return re.sub(r"\.\d+$", "", name)
