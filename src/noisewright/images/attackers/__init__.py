"""Attackers on faces: the best possible one on codes, recognisers on pictures, and an attack that breaks k-same."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images.attackers.bayes import BayesAttacker as BayesAttacker
    from noisewright.images.attackers.bayes import gallery_risk as gallery_risk
    from noisewright.images.attackers.on_blocks import LevelAttacker as LevelAttacker
    from noisewright.images.attackers.on_clusters import composed_guesses as composed_guesses
    from noisewright.images.attackers.on_clusters import intersections as intersections
    from noisewright.images.attackers.on_clusters import without as without
    from noisewright.images.attackers.on_pictures import LabelledFaces as LabelledFaces
    from noisewright.images.attackers.on_pictures import PictureAttackers as PictureAttackers
    from noisewright.images.attackers.on_pictures import picture_risks as picture_risks
    from noisewright.images.attackers.on_windows import WindowAttacker as WindowAttacker
    from noisewright.images.attackers.recogniser import Recogniser as Recogniser
    from noisewright.images.attackers.risks import Attribute as Attribute
    from noisewright.images.attackers.risks import FaceAttacks as FaceAttacks
    from noisewright.images.attackers.risks import Risk as Risk
    from noisewright.images.attackers.trials import Trial as Trial
else:
    __getattr__, __dir__ = door(__name__)
