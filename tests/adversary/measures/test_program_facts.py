"""Programs that reveal part of a whole number: their Bayes vulnerability at every width, and so at 32 bits."""

from __future__ import annotations

from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.qif.vulnerability import posterior_vulnerability

PROGRAMS = {
    "multiple of 8": (lambda x: x if x % 8 == 0 else "no", lambda bits: Fraction(2 ** (bits - 3) + 1, 2**bits)),
    "multiple of 4": (lambda x: x if x % 4 == 0 else "no", lambda bits: Fraction(2 ** (bits - 2) + 1, 2**bits)),
    "low 8 bits": (lambda x: x % 256, lambda bits: Fraction(256, 2**bits)),
    "low 4 bits": (lambda x: x % 16, lambda bits: Fraction(16, 2**bits)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("bits", [8, 9, 10])
def test_05_f09_a_program_is_guessed_through_its_number_of_answers(name, bits):
    program, formula = PROGRAMS[name]
    channel = nw.Channel.deterministic(program, range(2**bits))
    assert posterior_vulnerability(None, channel, "identity") == pytest.approx(float(formula(bits)), abs=1e-15)


def test_05_f09_at_32_bits():
    found = [formula(32) for _, formula in PROGRAMS.values()]
    assert found == [Fraction(2**29 + 1, 2**32), Fraction(2**30 + 1, 2**32), Fraction(1, 2**24), Fraction(1, 2**28)]
