"""Models of faces behind one protocol, in public files, and the public faces that they are made of."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = door(__name__)
