"""``python -m tools.sbom out/sbom.json``: a bill of materials (CycloneDX 1.5, JSON) of the environment that runs it.

Everything comes from the metadata of the installed packages: names, versions, licences as their authors state them, and which
needs which. Nothing is fetched.
"""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

__all__ = ["bill", "licence_of", "main"]

APPROVED = "License :: OSI Approved :: "
LONGEST = 80
"""Letters of a licence's name; more is its text."""


def main(arguments: list[str]) -> int:
    """Write the bill to the file that is named."""
    if len(arguments) != 1:
        print("name one file, such as out/sbom.json", file=sys.stderr)
        return 2
    target = Path(arguments[0])
    target.parent.mkdir(parents=True, exist_ok=True)
    found = bill(distributions())
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{target}: {len(found['components'])} packages")
    return 0


def bill(installed: Iterable[Distribution]) -> dict[str, Any]:
    """The document; packages in the order of their names."""
    packages = {canonical(package.metadata["Name"]): package for package in installed if package.metadata["Name"]}
    own = packages.pop("noisewright", None)
    when = os.environ.get("SOURCE_DATE_EPOCH")
    time = datetime.fromtimestamp(int(when), UTC) if when else datetime.now(UTC)
    subject = {"type": "application", "name": "noisewright", "bom-ref": "noisewright"}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": subject | ({"version": own.version} if own is not None else {}),
        },
        "components": [_component(name, packages[name]) for name in sorted(packages)],
        "dependencies": [
            {"ref": _ref(name, packages) if name in packages else name, "dependsOn": _needed(package, packages)}
            for name, package in sorted({**packages, **({"noisewright": own} if own is not None else {})}.items())
        ],
    }


def licence_of(package: Distribution) -> str | None:
    """The licence as the package states it: an SPDX expression, a classifier, or a short name; None if it states none."""
    stated = package.metadata
    if expression := stated.get("License-Expression"):
        return str(expression)
    classifiers = [c.removeprefix(APPROVED) for c in stated.get_all("Classifier") or [] if c.startswith(APPROVED)]
    if classifiers:
        return " AND ".join(classifiers)
    named = str(stated.get("License") or "").strip()
    return named.splitlines()[0][:LONGEST] if named and named.upper() != "UNKNOWN" else None


def canonical(name: str) -> str:
    """The one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _component(name: str, package: Distribution) -> dict[str, Any]:
    reference = f"pkg:pypi/{name}@{package.version}"
    found = {"type": "library", "bom-ref": reference, "name": name, "version": package.version, "purl": reference}
    licence = licence_of(package)
    if licence is None:
        return found
    if package.metadata.get("License-Expression"):
        return found | {"licenses": [{"expression": licence}]}
    return found | {"licenses": [{"license": {"name": licence}}]}


def _ref(name: str, packages: dict[str, Distribution]) -> str:
    return f"pkg:pypi/{name}@{packages[name].version}"


def _needed(package: Distribution, packages: dict[str, Distribution]) -> list[str]:
    """What a package needs whatever extras were asked for, as far as it is installed."""
    names = set()
    for line in package.requires or []:
        wanted, _, marker = line.partition(";")
        found = re.match(r"[A-Za-z0-9._-]+", wanted.strip())
        if found and "extra" not in marker:
            names.add(canonical(found[0]))
    return [_ref(name, packages) for name in sorted(names & packages.keys())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
