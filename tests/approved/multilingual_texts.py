"""Outputs in several languages with inputs and references of many kinds, short, long, empty, repeated and strange."""

from __future__ import annotations

from collections.abc import Mapping

from billboards.metrics.base import Batch

ENGLISH = Batch(
    [
        "The ferry leaves at noon from pier 2, doesn't it?",
        "the Ferry LEAVES at noon from Pier 2",
        "It is not late; it's very, very late... very late!",
        "",
        " \t ",
        "Mr. O'Neill's well-known U.S. friends paid $3,000.50 (about 20%) on 3/4/2024.",
        "cats cats cats cats cats",
        "A big dog ran quickly to the small houses. It was happy.\nIt ran home.",
        "noon at leaves ferry the",
        "“Naïve” café – déjà vu…",
        "The ferry leaves at noon from pier 2.",
        "x",
    ],
    [
        ["The ferry leaves at noon from pier 2, does it not?", "At noon, the ferry leaves pier two."],
        ["The ferry leaves at noon from pier 2.", "the ferry leaves", "It goes at twelve."],
        ["It is very late.", "It's very late indeed!", "It isn't early.", "late"],
        ["Something is said here."],
        ["Nothing.", ""],
        ["Mr. O'Neill's well known US friends paid $3000.50, about 20 %, on April 3, 2024."],
        ["cats", "two cats", "cats and dogs"],
        ["The large dog quickly ran to little houses.\nIt was glad. It ran home.", "A dog ran to a house."],
        ["the ferry leaves at noon"],
        ['"Naive" cafe - deja vu...', "“Naïve” café – déjà vu…"],
        ["The ferry leaves at noon from pier 2."],
        ["a much longer reference than this output has any right to expect", "x y"],
    ],
    [
        "La nave parte a mezzogiorno.",
        "The ferry departs at midday from the second pier.",
        "It is late, very late, and it is getting later.",
        "Something should be said here.",
        "",
        "Mr. O'Neill and friends of his paid three thousand dollars.",
        "cats cats cats cats cats",
        "A large and happy dog was running to the small houses where it lives.",
        "leaves the ferry at noon",
        "Naive café",
        "The ferry leaves at noon from pier 2.",
        "y",
    ],
    "en",
)
GERMAN = Batch(
    ["Die Fähre fährt um 12:30 Uhr ab.", "STRASSE Straße straße", "Das Haus, das alte Häuschen, steht dort.", "Ja"],
    [
        ["Die Fähre fährt mittags ab.", "Um 12:30 Uhr legt die Fähre ab."],
        ["Strasse Straße"],
        ["Das alte Haus steht dort.", "Dort stehen alte Häuser."],
        ["Nein", "Ja!"],
    ],
    ["The ferry leaves at 12:30.", "street", "Das Haus steht dort.", "Yes"],
    "de",
)
CHINESE = Batch(
    ["轮船中午12点离开二号码头。", "他們說：「不會下雨」。", "轮船 轮船 ABC def", "。"],
    [
        ["轮船中午离开第二码头。", "船在12点从二号码头开出。"],
        ["他们说不会下雨。"],
        ["轮船ABC", "轮船 abc def"],
        ["！"],
    ],
    ["Das Schiff fährt mittags ab.", "他们说：今天不会下雨。", "轮船", "?"],
    "zh",
)
JAPANESE = Batch(
    ["フェリーは正午に出ます。", "ﾌｪﾘｰは12時だ", "雨は降らない"],
    [["フェリーは正午に二番埠頭を出ます。", "船は12時に出る。"], ["フェリーは12時だ。"], ["雨が降らないだろう"]],
    ["The ferry leaves at noon.", "フェリーは12時", "雨"],
    "ja",
)
OTHERS = Batch(
    [
        "เรือออกตอนเที่ยง",
        "नौका दोपहर को निकलती है।",
        "Паром уходит в полдень.",
        "배는 정오에 떠난다",
        "e\u0301 é \u200b🚢🚢",
        "العبارة تغادر ظهرا",
    ],
    [
        ["เรือจะออกตอนเที่ยงวัน", "เรือออก"],
        ["नौका दोपहर में जाती है।"],
        ["Паром отходит в полдень.", "В полдень уходит паром"],
        ["배가 정오에 떠납니다"],
        ["é é 🚢"],
        ["تغادر العبارة ظهرًا", "العبارة"],
    ],
    ["The ferry leaves.", "नौका दोपहर", "Паром", "배", "é", "ferry"],
    None,
)
#: Batches by their names.
TEXTS: Mapping[str, Batch] = {
    "English": ENGLISH,
    "German": GERMAN,
    "Chinese": CHINESE,
    "Japanese": JAPANESE,
    "others": OTHERS,
}
