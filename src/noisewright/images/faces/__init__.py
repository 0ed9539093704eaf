"""Faces by their codes in a public model: the metric of codes, exact noise on them, and models behind one protocol."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images.faces.cartoons import cartoon_faces as cartoon_faces
    from noisewright.images.faces.code_space import CodeSpace as CodeSpace
    from noisewright.images.faces.code_space import LatentMetric as LatentMetric
    from noisewright.images.faces.code_space import least_error_weights as least_error_weights
    from noisewright.images.faces.counting import component_count as component_count
    from noisewright.images.faces.identities import Mixture as Mixture
    from noisewright.images.faces.identities import identity_weights as identity_weights
    from noisewright.images.faces.models.basis import Basis as Basis
    from noisewright.images.faces.models.drawable import left_out as left_out
    from noisewright.images.faces.models.drawable import most_left_out as most_left_out
    from noisewright.images.faces.models.eigenfaces import Eigenfaces as Eigenfaces
    from noisewright.images.faces.models.eigenfaces import train_eigenfaces as train_eigenfaces
    from noisewright.images.faces.models.gallery import Gallery as Gallery
    from noisewright.images.faces.models.model import FaceModel as FaceModel
    from noisewright.images.faces.models.model import open_model as open_model
    from noisewright.images.faces.models.model import shipped_model as shipped_model
    from noisewright.images.faces.models.onnx_model import OnnxFaces as OnnxFaces
    from noisewright.images.faces.models.onnx_model import onnx_faces as onnx_faces
    from noisewright.images.faces.models.public_faces import PublicFaces as PublicFaces
    from noisewright.images.faces.models.public_faces import read_faces as read_faces
    from noisewright.images.faces.noisy_codes import NoisyCodes as NoisyCodes
    from noisewright.images.faces.obfuscator import LatentObfuscator as LatentObfuscator
    from noisewright.images.faces.snapped_law import SnappedLaw as SnappedLaw
    from noisewright.images.faces.sprites import SpriteFaces as SpriteFaces
    from noisewright.images.faces.sprites import sprite_faces as sprite_faces
    from noisewright.images.faces.sprites import sprite_landmarks as sprite_landmarks
else:
    __getattr__, __dir__ = door(__name__)
