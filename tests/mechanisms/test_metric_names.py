"""A certificate proves its claim for the metric it is about, and cannot be renamed to another one."""

import pytest

import noisewright as nw
from noisewright.core import checker
from noisewright.core.errors import CertificateError

PARIS = (48.8566, 2.3522)

MADE = {
    "planar": (nw.planar_laplace(epsilon=1), "euclidean"),
    "planar level": (nw.planar_laplace(level=1, radius=200), "euclidean"),
    "planar geometric": (nw.planar_geometric(nw.Grid(3, 3), epsilon=1), "euclidean"),
    "geo": (nw.geo_laplace(level=1, radius=200, reference=PARIS), "metres around (48.8566, 2.3522)"),
    "product": (nw.product_laplace(epsilon=1, dimension=3), "manhattan"),
    "curve": (nw.curve(epsilon=1, sensitivity=1, grid=range(3)), "largest of 3 differences"),
    "curve l1": (nw.curve(epsilon=1, sensitivity=1, grid=range(3), norm="l1"), "sum of 3 differences"),
}

OTHERS = ["euclidean", "discrete", "manhattan", "hamming", "angular", "line", "sum of 3 differences", "anything else"]


def renamed(certificate, metric, **claim):
    document = {**certificate.document, "claim": {**certificate.document["claim"], "metric": metric, **claim}}
    return nw.Certificate({**document, "digest": checker.digest(document)})


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", MADE)
def test_a_certificate_cannot_be_renamed(name, other):
    mechanism, own = MADE[name]
    certificate = mechanism.certificate()
    assert own in certificate.verify()
    if other == own or (name == "product" and other == "line"):  # one coordinate alone is on a line
        assert renamed(certificate, other).verify()
        return
    with pytest.raises(CertificateError, match="says nothing about the metric"):
        renamed(certificate, other).verify()


@pytest.mark.parametrize("name", MADE)
def test_the_sentence_states_the_step(name):
    """Another factor before the name of the metric shows as another step in the sentence."""
    mechanism, own = MADE[name]
    certificate = mechanism.certificate()
    said = certificate.verify()
    again = renamed(certificate, f"1/1000 * {own}").verify()
    assert again != said
    step = getattr(mechanism, "step", None) or mechanism.lattice.step
    assert f"in steps of {1000 * step}" in again
    assert step == 1 or f"in steps of {step}" in said


def test_a_floating_certificate_stays_floating():
    certificate = nw.spherical_laplace(epsilon=1, dimension=3).certificate()
    for metric in ("euclidean", "manhattan", "line"):
        with pytest.raises(CertificateError, match="floating"):
            renamed(certificate, metric).verify()
