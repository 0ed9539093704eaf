"""Values of a table become secrets of a correlation; what then goes wrong is said without them."""

from __future__ import annotations

import pytest

import noisewright as nw
from noisewright.attacks.correlation import Correlation
from noisewright.estimation.comparison import kantorovich
from noisewright.exceptions import MetricError

TABLE = {"town": ["Hinxworth", "York", "York"], "age": [17, 2, 2]}
OTHERS = nw.metrics.Table([[0, 1], [1, 0]], ["a", "b"])


@pytest.mark.parametrize(
    "metric",
    [
        nw.metrics.Line(),
        nw.metrics.Euclidean(),
        OTHERS,
        nw.metrics.EarthMovers(),
        nw.metrics.Product((nw.metrics.Line(), nw.metrics.Line())),
    ],
    ids=str,
)
def test_a_metric_that_does_not_fit_shows_no_value_of_a_table(metric):
    towns = Correlation.from_table(TABLE, "age", "town").inputs
    assert towns == ("Hinxworth", "York")
    answer = nw.randomised_response(towns, epsilon=1)
    asked = [lambda: nw.audit(answer, metric), lambda: kantorovich([1, 0], [0, 1], towns, metric)]
    for ask in asked:
        with pytest.raises(MetricError) as refused:
            ask()
        assert "Hinx" not in str(refused.value)
        assert "York" not in str(refused.value)
