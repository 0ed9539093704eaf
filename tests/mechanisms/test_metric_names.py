"""A certificate proves its claim for the metric it is about, and cannot be renamed to another one."""

import pytest
from claim_support import LATTICE, record_of

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.exceptions import CertificateError

PARIS = (48.8566, 2.3522)
MADE = {
    "planar": (nw.planar_laplace(epsilon=1), f"euclidean{LATTICE}-10"),
    "planar level": (nw.planar_laplace(epsilon=1, radius=200), f"euclidean{LATTICE}-3"),
    "planar geometric": (nw.mechanisms.planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1), "euclidean"),
    "geo": (
        nw.mechanisms.geo_laplace(epsilon=1, radius=200, reference=PARIS),
        f"metres around (48.8566, 2.3522){LATTICE}-3",
    ),
    "product": (nw.mechanisms.product_laplace(epsilon=1, dimension=3), f"manhattan{LATTICE}-10"),
    "curve": (nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=range(3)), "largest of 3 differences"),
    "curve l1": (nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=range(3), norm="l1"), "sum of 3 differences"),
}

OTHERS = ["euclidean", "discrete", "manhattan", "hamming", "angular", "line", "sum of 3 differences", "anything else"]


def renamed(certificate, metric, **claim):
    metric = record_of(metric)
    document = {**certificate.document, "claim": {**certificate.document["claim"], "metric": metric, **claim}}
    return nw.Certificate({**document, "digest": checker.digest(document)})


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", MADE)
def test_a_certificate_cannot_be_renamed(name, other):
    mechanism, own = MADE[name]
    certificate = mechanism.certificate()
    assert own in certificate.verify()
    if other == own:
        assert renamed(certificate, other).verify() == certificate.verify()
    elif (name, other) in (("planar", "euclidean"), ("product", "manhattan")):
        # Also true, of points that need no rounding because they are in such steps.
        assert (
            renamed(certificate, other).verify()
            == f"epsilon = 1 per unit of {other}, between points in steps of 1/1024"
        )
    else:
        with pytest.raises(
            CertificateError, match=r"says nothing about the metric|rounded to the lattice of the metric"
        ):
            renamed(certificate, other).verify()


@pytest.mark.parametrize("name", MADE)
def test_the_sentence_states_the_step(name):
    """Another factor before the name of the metric shows as another step in the sentence, or is not that of the lattice."""
    mechanism, own = MADE[name]
    certificate = mechanism.certificate()
    said = certificate.verify()
    if LATTICE in own:
        for other in (f"1/1000 * {own}", f"2 * {own}", own + "1"):
            with pytest.raises(CertificateError, match=r"not the one that the noise is on|rounded to the lattice"):
                renamed(certificate, other).verify()
        return
    if "lattice" in certificate.document:  # it states its step beside the claim, which then does not fit
        with pytest.raises(CertificateError, match="the step of the lattice is not the one"):
            renamed(certificate, f"1/1000 * {own}").verify()
        return
    again = renamed(certificate, f"1/1000 * {own}").verify()
    assert again != said
    step = getattr(mechanism, "step", None) or mechanism.lattice.step
    assert f"in steps of {1000 * step}" in again
    assert f"in steps of {step}" in said


def test_a_floating_certificate_stays_floating():
    certificate = nw.mechanisms.spherical_laplace(epsilon=1, dimension=3).certificate()
    for metric in ("euclidean", "manhattan", "line"):
        with pytest.raises(CertificateError, match="floating"):
            renamed(certificate, metric).verify()
