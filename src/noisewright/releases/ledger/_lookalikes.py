"""Which names look alike: two datasets whose names a person takes for one would have two budgets for the same people.

A name is reduced to its **skeleton**: compatibility forms (full width, ligatures) and digits of other scripts to plain ones,
marks dropped, and each letter replaced by the Latin one that it looks like. That is done once before and once after upper
and lower case are made one: ``I`` looks like ``l``, and ``CLINIC`` is read as ``clinic``. The idea is Unicode's (Technical
Standard 39); the table is a short one of our own, of letters that print alike in common fonts.

>>> alike("clinic", "Clinic"), alike("clinic", "cIinic"), alike("clinic", "clinic 2")
(True, True, False)
"""

from __future__ import annotations

import unicodedata

__all__ = ["alike"]

_PAIRS = (
    ("аеорсухіјѕһԁԛԝѵӏвмнткгпьԍ", "aeopcyxijshdqwvlbmhtkrnbg"),
    ("АЕОРСУХІЈЅԌԚԜѴӀВМНТКЗЬГҺ", "AEOPCYXIJSGQWVlBMHTK3brh"),
    ("αβγεηικμνορστυχωϲϳ", "abyeniluvopotuxwcj"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ", "ABEZHIKMNOPTYXCJ"),
    ("օսհոցզլյ", "ouhngqlj"),
    ("ՕՍՏԼ", "OUSL"),
    ("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃᎡ", "ABCDEGHJKLMPSTVWZR"),
    ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU"),
    ("ⲃⲉⲏⲓⲕⲙⲛⲟⲣⲥⲧⲭ", "behikmnopctx"),
    ("ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdeghijklmnoprstuvwyz"),
    ("ıɑɡɩƿøđłħŧƅɛØĐŁĦŦ", "iagipodlhtbeODLHT"),
    ("‐‑‒–—―−⁃", "--------"),
    ("‘’ʼ′`´·•∙", "''''''..."),
    ("0O1I|!", "oollll"),
)
_TABLE = {ord(one): ord(plain) for many, plains in _PAIRS for one, plain in zip(many, plains, strict=True)}
_JOINED = (("rn", "m"), ("vv", "w"))
"""Two letters that look like one."""


def alike(first: str, second: str) -> bool:
    """Return whether a person could take one name for the other."""
    return not _skeletons(first).isdisjoint(_skeletons(second))


def _skeletons(name: str) -> set[str]:
    plain = "".join(_plain(character) for character in unicodedata.normalize("NFKD", name))
    before = _replaced(plain).casefold()
    return {_joined(before), _joined(_replaced(plain.casefold()))}


def _plain(character: str) -> str:
    """Without marks and invisible signs; one blank for all, and a digit for every digit."""
    kind = unicodedata.category(character)
    if kind in ("Mn", "Me", "Cf", "Cc"):
        return ""
    digit = unicodedata.digit(character, None)
    return str(digit) if digit is not None else " " if kind == "Zs" else character


def _replaced(name: str) -> str:
    return name.translate(_TABLE)


def _joined(name: str) -> str:
    for two, one in _JOINED:
        name = name.replace(two, one)
    return " ".join(name.split())
