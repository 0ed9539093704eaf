"""Small databases: what five mechanisms cost for means and counts as the number of records grows.

Run:  noisewright reproduce database_size [--quick] [--json]

Published as figures 5.4 to 5.7 of a doctoral thesis on range-adherent mechanisms: the differences between mechanisms
are largest for small databases and vanish as they grow. Each number is the expected absolute error, at face value and
after the best guess of somebody with the uniform prior.
"""

from __future__ import annotations

from experiments.comparison import SOURCE, measures, mechanisms
from experiments.report import Result, Row, Table, command

SECONDS = (2, 20)
ORDER = {
    "mean": ("snapped Laplace", "snapped staircase", "normalised Laplace", "variant 1", "variant 2"),
    "count": ("truncated geometric", "explicit fair", "normalised Laplace", "variant 1", "variant 2"),
}
REPORTED: dict[tuple[str, str, int], str] = {
    ("count", "0.2", 2): ".8459/.6667 .8278/.6667 .8447/.6667 .6667/.6667 .7903/.6667",
    ("count", "0.2", 5): "1.7756/1.3735 1.6967/1.4283 1.7675/1.4499 1.3735/1.3735 1.5768/1.3883",
    ("count", "0.2", 10): "2.7519/2.2668 2.8910/2.5610 3.0545/2.6287 2.2668/2.2668 2.5058/2.3247",
    ("count", "0.2", 25): "3.9188/3.6008 4.9165/4.7325 5.6925/5.3308 3.6008/3.6008 3.8095/3.7020",
    ("count", "0.5", 5): "1.1466/1.0605 1.3461/1.2676 1.5192/1.3677 1.0605/1.0605 1.1381/1.0945",
    ("count", "0.5", 10): "1.4775/1.4174 1.9417/1.8960 2.3222/2.1985 1.4174/1.4174 1.4974/1.4722",
    ("count", "0.5", 25): "1.7314/1.7055 2.1880/2.1774 3.2580/3.2092 1.7055/1.7055 1.7540/1.7438",
    ("mean", "0.2", 2): "1.7441/1.1110 1.7414/1.1109 1.4311/1.1111 1.1088/1.1088 1.3530/1.1108",
    ("mean", "0.2", 6): "1.3826/.9666 1.3804/.9661 1.2590/1.0268 .9649/.9649 1.1085/.9742",
    ("mean", "0.2", 10): "1.1284/.8667 1.1267/.8660 1.1633/.9893 .8655/.8655 .9544/.8764",
    ("mean", "0.2", 14): ".9443/.7740 .9428/.7733 1.0827/.9522 .7728/.7728 .8322/.7843",
    ("mean", "0.5", 2): "1.4446/1.0466 1.4297/1.0427 1.3570/1.1058 1.0398/1.0398 1.1742/1.0435",
    ("mean", "0.5", 6): ".8988/.7619 .8896/.7571 1.0815/.9612 .7540/.7540 .7959/.7606",
    ("mean", "0.5", 10): ".6345/.5761 .6280/.5717 .9045/.8453 .5700/.5700 .5901/.5759",
    ("mean", "0.5", 14): ".4859/.4551 .4809/.4512 .7668/.7352 .4503/.4503 .4625/.4546",
}


def reported(query: str, epsilon: str, size: int, mechanism: str) -> tuple[float, ...]:
    cell = REPORTED[query, epsilon, size].split()[ORDER[query].index(mechanism)]
    return tuple(float(v) for v in cell.split("/"))


def run(query: str, epsilon: str, size: int) -> list[Row]:
    """One row for each mechanism: the error at face value and the Bayes error."""
    rows = []
    for name, build in mechanisms(query, size, epsilon).items():
        face, _, bayes, _ = measures(build())
        loose = (1,) if name == "variant 2" else ()
        label = (query, epsilon, str(size), name)
        rows.append(Row(label, (face, bayes), reported(query, epsilon, size, name), loose))
    return rows


def result(quick: bool = False) -> Result:
    """All cases; a quick run has one of each query."""
    cases = [("count", "0.5", 5), ("mean", "0.5", 2)] if quick else list(REPORTED)
    rows = [row for case in cases for row in run(*case)]
    columns = ("query", "epsilon", "records", "mechanism")
    return Result([Table("Expected absolute errors", columns, ("face value", "best guess"), rows, SOURCE)])


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("database_size", given)


if __name__ == "__main__":
    raise SystemExit(main())
