"""Attacks by fresh attackers on a private value from released records, whatever made the release, with honest
intervals.

``attack_release(released, private, original=...)`` for tables, ``attack_mechanism(release, original, private)`` for
anything that can be drawn from several times; ``distortion_of`` measures the changes by a release."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.learned.evaluation.attack import attack_mechanism as attack_mechanism
    from noisewright.learned.evaluation.attack import attack_release as attack_release
    from noisewright.learned.evaluation.attackers import ATTACKERS as ATTACKERS
    from noisewright.learned.evaluation.changes import Distortion as Distortion
    from noisewright.learned.evaluation.changes import distortion_of as distortion_of
    from noisewright.learned.evaluation.found import Attack as Attack
    from noisewright.learned.evaluation.found import Tried as Tried
    from noisewright.learned.evaluation.optima import Optimum as Optimum
    from noisewright.learned.evaluation.optima import optimum_beside as optimum_beside
    from noisewright.learned.evaluation.tables import Columns as Columns
else:
    __getattr__, __dir__ = door(__name__)
