"""qif, an independent library, agrees on vulnerabilities, uncertainties, leakage and capacity of thousands of adversaries."""

from __future__ import annotations

import numpy as np
import pytest
from adversary_support import cases

from noisewright.design.loss import Loss
from noisewright.qif.gains import Gain, property_gain
from noisewright.qif.vulnerability import (
    bayes_capacity,
    leakage,
    posterior_vulnerability,
    prior_vulnerability,
    uncertainty,
)

qif = pytest.importorskip("qif")
close = pytest.approx


def test_qif_agrees_on_g_vulnerability_of_two_thousand_adversaries() -> None:
    for case in cases(2000, seed=1):
        theirs = qif.measure.g_vuln
        found = leakage(case.channel, case.prior, case.gain)
        assert found.prior == close(theirs.prior(case.gain, case.prior), abs=1e-12)
        assert found.posterior == close(theirs.posterior(case.gain, case.prior, case.channel.matrix), abs=1e-12)
        if found.prior > 0:
            assert found.multiplicative == close(theirs.mult_leakage(case.gain, case.prior, case.channel.matrix))
        assert found.additive == close(theirs.add_leakage(case.gain, case.prior, case.channel.matrix), abs=1e-12)


def test_qif_agrees_on_signed_gains() -> None:
    for case in cases(300, seed=2):
        signed = case.gain * 3 - 1
        assert posterior_vulnerability(case.prior, case.channel, Gain(signed)) == close(
            qif.measure.g_vuln.posterior(signed, case.prior, case.channel.matrix), abs=1e-12
        )


def test_qif_agrees_on_bayes_vulnerability_and_capacity() -> None:
    for case in cases(500, seed=3):
        found = leakage(case.channel, case.prior)
        assert found.prior == close(qif.measure.bayes_vuln.prior(case.prior))
        assert found.posterior == close(qif.measure.bayes_vuln.posterior(case.prior, case.channel.matrix))
        assert found.bits == close(
            qif.measure.bayes_vuln.min_entropy_leakage(case.prior, case.channel.matrix), abs=1e-9
        )
        assert bayes_capacity(case.channel) == close(qif.measure.bayes_vuln.mult_capacity(case.channel.matrix))


def test_qif_agrees_on_properties() -> None:
    for case in cases(300, seed=4):
        n = len(case.prior)
        chosen = set(range(0, n, 2))
        gain = property_gain(range(n), chosen)
        inside = np.array([[1 if x in chosen else 0 for x in range(n)]])
        both = np.vstack([inside, 1 - inside]).astype(float)
        assert posterior_vulnerability(case.prior, case.channel, gain) == close(
            qif.measure.g_vuln.posterior(both, case.prior, case.channel.matrix)
        )
        assert prior_vulnerability(case.prior, gain) == close(qif.measure.g_vuln.prior(both, case.prior))


@pytest.mark.parametrize("measure", ["shannon", "guessing", "bayes"])
def test_qif_agrees_on_uncertainties(measure: str) -> None:
    theirs = {"shannon": qif.measure.shannon, "guessing": qif.measure.guessing, "bayes": qif.measure.bayes_risk}[
        measure
    ]
    for case in cases(400, seed=5):
        found = uncertainty(case.channel, case.prior, measure)
        assert found.prior == close(theirs.prior(case.prior), abs=1e-12)
        assert found.posterior == close(theirs.posterior(case.prior, case.channel.matrix), abs=1e-9)


def test_qif_agrees_on_the_risk_of_a_loss() -> None:
    for case in cases(300, seed=6):
        found = uncertainty(case.channel, case.prior, Loss(case.gain))
        assert found.posterior == close(
            qif.measure.l_risk.posterior(case.gain, case.prior, case.channel.matrix), abs=1e-12
        )
