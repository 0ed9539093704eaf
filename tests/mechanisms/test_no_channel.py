"""What a mechanism does not have is told apart from a wrong parameter: no channel, no such loss."""

import pytest

import noisewright as nw
from noisewright.exceptions import NoChannelError, NoLossError, ParameterError
from noisewright.mechanisms.numeric.staircase import snapped
from noisewright.testing import check_mechanism

WITHOUT_CHANNEL = {
    "geometric": lambda: nw.geometric(epsilon=1),
    "laplace": lambda: nw.laplace(epsilon=1),
    "wide": lambda: nw.geometric(epsilon=1, within=(0, 10**6)),
    "half line": lambda: nw.laplace(epsilon=1, within=(0, None)),
    "planar": lambda: nw.planar_laplace(epsilon=1),
    "sphere": lambda: nw.mechanisms.spherical_laplace(epsilon=1, dimension=3),
    "sets": lambda: nw.mechanisms.unary_encoding(200, epsilon=1),
    "hashes": lambda: nw.mechanisms.local_hashing(200, epsilon=1),
    "curves": lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=(0, 1, 2)),
}


@pytest.mark.parametrize("name", WITHOUT_CHANNEL)
def test_no_channel(name):
    with pytest.raises(NoChannelError):
        WITHOUT_CHANNEL[name]().channel()


def test_no_loss():
    for mechanism in (
        nw.mechanisms.unary_encoding(4, epsilon=1),
        nw.randomised_response(["a", "b"], epsilon=1),
    ):
        with pytest.raises(NoLossError):
            mechanism.error("absolute")
    with pytest.raises(ParameterError) as caught:
        nw.randomised_response(["a", "b"], epsilon=1).error("absolut")
    assert not isinstance(caught.value, NoLossError)


class Faulty:
    """A mechanism whose channel cannot be asked for, because of a parameter of its own that is wrong."""

    name = "faulty"
    guarantee = nw.Guarantee(1.0, nw.metrics.Line())
    inner = nw.geometric(epsilon=1)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def channel(self):
        raise ParameterError("the step must be above 0.")

    def error(self, loss="absolute"):
        raise ParameterError("the step must be above 0.")

    def audit(self):
        raise AssertionError("nobody asks: the channel said that something is wrong")


def test_a_wrong_parameter_is_not_taken_for_a_missing_channel():
    with pytest.raises(ParameterError, match="the step"):
        nw.audit(Faulty())
    with pytest.raises(ParameterError, match="the step"):
        nw.estimate([[1, 2, 3], [1, 2, 3]], [nw.geometric(epsilon=1), Faulty()], within=(0, 5))
    with pytest.raises(ParameterError, match="the step"):
        check_mechanism(Faulty(), secrets=[0, 1, 2])


def test_a_snapped_mechanism_without_a_channel_has_the_bound_of_the_inner_one():
    inner = nw.geometric(epsilon=1)
    assert snapped(inner, within=(0, None)).error() == inner.error()
