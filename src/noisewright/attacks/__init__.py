"""Attacks: what an adversary finds out from documents, faces, tables and counts."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.attacks.attribute_inference import Attack as Attack
    from noisewright.attacks.attribute_inference import attack_mechanism as attack_mechanism
    from noisewright.attacks.attribute_inference import attack_release as attack_release
    from noisewright.attacks.attribute_inference import optimum_beside as optimum_beside
    from noisewright.attacks.authorship import LinearWords as LinearWords
    from noisewright.attacks.authorship import NearestDocuments as NearestDocuments
    from noisewright.attacks.authorship import RandomSubspaces as RandomSubspaces
    from noisewright.attacks.authorship import character_ngrams as character_ngrams
    from noisewright.attacks.base import Success as Success
    from noisewright.attacks.base import TrainedOnNoise as TrainedOnNoise
    from noisewright.attacks.base import success as success
    from noisewright.attacks.classifiers import ATTACKERS as ATTACKERS
    from noisewright.attacks.classifiers import distortion_of as distortion_of
    from noisewright.attacks.correlation import Correlation as Correlation
    from noisewright.attacks.correlation import CrossTable as CrossTable
    from noisewright.attacks.correlation import dalenius_vulnerability as dalenius_vulnerability
    from noisewright.attacks.disclosure import SuppressedTable as SuppressedTable
    from noisewright.attacks.disclosure import anonymity as anonymity
    from noisewright.attacks.disclosure import link as link
    from noisewright.attacks.disclosure import rank_swapped as rank_swapped
    from noisewright.attacks.disclosure import rounded as rounded
    from noisewright.attacks.face_identification import LabelledFaces as LabelledFaces
    from noisewright.attacks.face_identification import LevelAttacker as LevelAttacker
    from noisewright.attacks.face_identification import PictureAttackers as PictureAttackers
    from noisewright.attacks.face_identification import WindowAttacker as WindowAttacker
    from noisewright.attacks.face_identification import composed_guesses as composed_guesses
    from noisewright.attacks.face_identification import intersections as intersections
    from noisewright.attacks.face_identification import picture_risks as picture_risks
    from noisewright.attacks.face_identification import without as without
    from noisewright.attacks.face_risk import Attribute as Attribute
    from noisewright.attacks.face_risk import FaceAttacks as FaceAttacks
    from noisewright.attacks.face_risk import Risk as Risk
    from noisewright.attacks.face_risk import Trial as Trial
    from noisewright.attacks.inferential_privacy import check_promise as check_promise
    from noisewright.attacks.inferential_privacy import check_secrecy_focussed as check_secrecy_focussed
    from noisewright.attacks.inferential_privacy import check_utility_focussed as check_utility_focussed
    from noisewright.attacks.inferential_privacy import focus as focus
    from noisewright.attacks.inferential_privacy import placements as placements
    from noisewright.attacks.inferential_privacy import secrecy_focussed as secrecy_focussed
    from noisewright.attacks.inferential_privacy import smallest_promise as smallest_promise
    from noisewright.attacks.inferential_privacy import utility_focussed as utility_focussed
    from noisewright.attacks.local_and_central import Local as Local
    from noisewright.attacks.local_and_central import Oblivious as Oblivious
    from noisewright.attacks.local_and_central import TallySurvey as TallySurvey
    from noisewright.attacks.local_and_central import noisy_tally as noisy_tally
    from noisewright.attacks.local_and_central import randomised_tally as randomised_tally
    from noisewright.attacks.new_row import NewRow as NewRow
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "ATTACKERS": "classifiers",
            "Attack": "attribute_inference",
            "Attribute": "face_risk",
            "Correlation": "correlation",
            "CrossTable": "correlation",
            "FaceAttacks": "face_risk",
            "LabelledFaces": "face_identification",
            "LevelAttacker": "face_identification",
            "LinearWords": "authorship",
            "Local": "local_and_central",
            "NearestDocuments": "authorship",
            "NewRow": "new_row",
            "Oblivious": "local_and_central",
            "PictureAttackers": "face_identification",
            "RandomSubspaces": "authorship",
            "Risk": "face_risk",
            "Success": "base",
            "SuppressedTable": "disclosure",
            "TallySurvey": "local_and_central",
            "TrainedOnNoise": "base",
            "Trial": "face_risk",
            "WindowAttacker": "face_identification",
            "anonymity": "disclosure",
            "attack_mechanism": "attribute_inference",
            "attack_release": "attribute_inference",
            "character_ngrams": "authorship",
            "check_promise": "inferential_privacy",
            "check_secrecy_focussed": "inferential_privacy",
            "check_utility_focussed": "inferential_privacy",
            "composed_guesses": "face_identification",
            "dalenius_vulnerability": "correlation",
            "distortion_of": "classifiers",
            "focus": "inferential_privacy",
            "intersections": "face_identification",
            "link": "disclosure",
            "noisy_tally": "local_and_central",
            "optimum_beside": "attribute_inference",
            "picture_risks": "face_identification",
            "placements": "inferential_privacy",
            "randomised_tally": "local_and_central",
            "rank_swapped": "disclosure",
            "rounded": "disclosure",
            "secrecy_focussed": "inferential_privacy",
            "smallest_promise": "inferential_privacy",
            "success": "base",
            "utility_focussed": "inferential_privacy",
            "without": "face_identification",
        },
    )
