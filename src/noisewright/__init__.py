"""Noisewright designs, proves, compares and runs privacy mechanisms.

>>> import noisewright as nw
>>> count = nw.geometric(epsilon=1, within=(0, 100))
>>> 0 <= count.release(42) <= 100
True
>>> nw.audit(count).value <= 1.0000001
True
>>> count.certificate().verify()
'epsilon = 1 per unit of line'

The verbs, the main types and the mechanisms of the tutorial are here; all mechanisms are in ``nw.mechanisms``, all metrics in
``nw.metrics``, everything else in its room.
"""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach
from noisewright._version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from noisewright import attacks as attacks
    from noisewright import base as base
    from noisewright import certificates as certificates
    from noisewright import channels as channels
    from noisewright import columns as columns
    from noisewright import context_aware as context_aware
    from noisewright import design as design
    from noisewright import engines as engines
    from noisewright import estimation as estimation
    from noisewright import exceptions as exceptions
    from noisewright import guarantees as guarantees
    from noisewright import images as images
    from noisewright import io as io
    from noisewright import learning as learning
    from noisewright import ledger as ledger
    from noisewright import matching as matching
    from noisewright import mechanisms as mechanisms
    from noisewright import metrics as metrics
    from noisewright import numerics as numerics
    from noisewright import planning as planning
    from noisewright import plotting as plotting
    from noisewright import policy as policy
    from noisewright import qif as qif
    from noisewright import queries as queries
    from noisewright import releases as releases
    from noisewright import render as render
    from noisewright import resources as resources
    from noisewright import sampling as sampling
    from noisewright import surveys as surveys
    from noisewright import tables as tables
    from noisewright import testing as testing
    from noisewright import text as text
    from noisewright import unsafe as unsafe
    from noisewright.certificates.certificate import Certificate as Certificate
    from noisewright.channels.channel import Channel as Channel
    from noisewright.channels.hyper import Prior as Prior
    from noisewright.design.loss import Loss as Loss
    from noisewright.design.optimal import optimal as optimal
    from noisewright.estimation.estimate import estimate as estimate
    from noisewright.exceptions import NoisewrightError as NoisewrightError
    from noisewright.guarantees import Guarantee as Guarantee
    from noisewright.io.serialization import save as save
    from noisewright.ledger.ledger import Ledger as Ledger
    from noisewright.mechanisms.audit import audit as audit
    from noisewright.mechanisms.categorical.base import mechanism as mechanism
    from noisewright.mechanisms.categorical.exponential import exponential as exponential
    from noisewright.mechanisms.categorical.randomised_response import randomised_response as randomised_response
    from noisewright.mechanisms.numeric.geometric import geometric as geometric
    from noisewright.mechanisms.numeric.laplace import laplace as laplace
    from noisewright.mechanisms.spatial.planar_laplace import planar_laplace as planar_laplace
    from noisewright.policy.policy import Policy as Policy
    from noisewright.qif.gains import Gain as Gain
    from noisewright.qif.refinement.compare import compare as compare
    from noisewright.qif.vulnerability import leakage as leakage
    from noisewright.releases.certificate import load as load
    from noisewright.releases.certificate import verify as verify
    from noisewright.releases.release import plan as plan
    from noisewright.releases.release import release as release
    from noisewright.surveys.planning import survey as survey
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Certificate": "certificates.certificate",
            "Channel": "channels.channel",
            "Gain": "qif.gains",
            "Guarantee": "guarantees",
            "Ledger": "ledger.ledger",
            "Loss": "design.loss",
            "NoisewrightError": "exceptions",
            "Policy": "policy.policy",
            "Prior": "channels.hyper",
            "attacks": "attacks:",
            "audit": "mechanisms.audit",
            "base": "base:",
            "certificates": "certificates:",
            "channels": "channels:",
            "columns": "columns:",
            "compare": "qif.refinement.compare",
            "context_aware": "context_aware:",
            "design": "design:",
            "engines": "engines:",
            "estimate": "estimation.estimate",
            "estimation": "estimation:",
            "exceptions": "exceptions:",
            "exponential": "mechanisms.categorical.exponential",
            "geometric": "mechanisms.numeric.geometric",
            "guarantees": "guarantees:",
            "images": "images:",
            "io": "io:",
            "laplace": "mechanisms.numeric.laplace",
            "leakage": "qif.vulnerability",
            "learning": "learning:",
            "ledger": "ledger:",
            "load": "releases.certificate",
            "matching": "matching:",
            "mechanism": "mechanisms.categorical.base",
            "mechanisms": "mechanisms:",
            "metrics": "metrics:",
            "numerics": "numerics:",
            "optimal": "design.optimal",
            "plan": "releases.release",
            "planar_laplace": "mechanisms.spatial.planar_laplace",
            "planning": "planning:",
            "plotting": "plotting:",
            "policy": "policy:",
            "qif": "qif:",
            "queries": "queries:",
            "randomised_response": "mechanisms.categorical.randomised_response",
            "release": "releases.release",
            "releases": "releases:",
            "render": "render:",
            "resources": "resources:",
            "sampling": "sampling:",
            "save": "io.serialization",
            "survey": "surveys.planning",
            "surveys": "surveys:",
            "tables": "tables:",
            "testing": "testing:",
            "text": "text:",
            "unsafe": "unsafe:",
            "verify": "releases.certificate",
        },
    )
