"""Accent colours that owners choose: whether they can be read, and the shades that go with them.

Contrast is WCAG 2's: (L + 0.05) / (l + 0.05) of two relative luminances. Links and buttons need 4.5 against everything
they stand on. No colour reaches that on white and on black alike, so each theme has its own; for the dark one the
owner's colour is lightened until it can be read.
"""

from __future__ import annotations

#: What an accent stands on, by theme: the page, and what stands out of it (`--ground` and `--raised` of site.css).
LIGHT, DARK = ("#ffffff", "#f5f6f8"), ("#121518", "#1a1e23")
ENOUGH = 4.5
#: How much of the accent is in its faintest shade.
FAINT = {False: 0.06, True: 0.14}


def luminance(colour: str) -> float:
    """The relative luminance of a colour such as #1d4ed8."""
    shares = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """How much two colours differ in brightness, from 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def mixed(colour: str, ground: str, share: float) -> str:
    """A colour with only this share of it left on a ground."""
    pairs = ((int(colour[k : k + 2], 16), int(ground[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round(share * own + (1 - share) * other):02x}" for own, other in pairs)


def wash(accent: str, *, dark: bool) -> str:
    """The faintest shade of an accent on the page of a theme."""
    return mixed(accent, (DARK if dark else LIGHT)[0], FAINT[dark])


def on_accent(accent: str) -> str:
    """The colour of text on an accent: white or nearly black, whichever is easier to read."""
    return max(("#ffffff", "#0b0d10"), key=lambda text: contrast(accent, text))


def least_contrast(accent: str, *, dark: bool) -> float:
    """The contrast of an accent with what it is hardest to read on."""
    grounds = (*(DARK if dark else LIGHT), wash(accent, dark=dark), on_accent(accent))
    return min(contrast(accent, ground) for ground in grounds)


def contrast_mistake(accent: str, *, dark: bool) -> str | None:
    """What is wrong with an accent colour, if anything."""
    ratio = least_contrast(accent, dark=dark)
    if ratio >= ENOUGH:
        return None
    theme, better = ("dark", "lighter") if dark else ("light", "darker")
    return (
        f"can't be read well on the {theme} theme: its contrast is {ratio:.1f} to 1 and must be {ENOUGH} or more; "
        f"choose a {better} colour"
    )


def lightened(accent: str) -> str:
    """A shade of an accent for the light theme that can be read on the dark one."""
    for step in range(21):
        shade = mixed("#ffffff", accent, step / 20)
        if least_contrast(shade, dark=True) >= ENOUGH:
            return shade
    return "#ffffff"
