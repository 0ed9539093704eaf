"""Nothing follows from a name: a certificate says the same about its secrets whatever its mechanism is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisewright.certificates.composition import Part, product_certificate
from noisewright.cli import run
from noisewright.mechanisms.categorical.randomised_response import randomised_response

NAMES = ("faces-recognised", "pixel-peeping", "pixel-laplace", "words-of-wisdom", "a column of pictures")


def verified(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What ``noisewright verify`` prints about eight coins under a name, without the name."""
    parts = [Part(randomised_response([0, 1], epsilon="1/4").certificate(), 8)]
    file = folder / "certificate.json"
    file.write_text(product_certificate(name, parts, metric="discrete").to_json())
    capsys.readouterr()
    assert run(["verify", str(file)]) == 0
    return " ".join(capsys.readouterr().out.replace(f'"{name}"', "NAME").replace(name, "NAME").split())


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_does_not_depend_on_the_name_of_its_mechanism(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = verified(name, tmp_path, capsys)
    assert said == verified("coins", tmp_path, capsys)
    for thing in ("two pictures", "two faces", "two words", "two places"):
        assert thing not in said
