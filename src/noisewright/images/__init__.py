"""Images: pictures and faces with a formal guarantee."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images import attackers as attackers
    from noisewright.images import baselines as baselines
    from noisewright.images import faces as faces
    from noisewright.images import networks as networks
    from noisewright.images import pipeline as pipeline
    from noisewright.images.face_scale import FaceScale as FaceScale
    from noisewright.images.face_scale import measured_on_public_faces as measured_on_public_faces
    from noisewright.images.hidden_faces import PrivateFaces as PrivateFaces
    from noisewright.images.hidden_faces import private_faces as private_faces
    from noisewright.images.mechanism import PictureMechanism as PictureMechanism
    from noisewright.images.methods import FaceMethod as FaceMethod
    from noisewright.images.methods import PixelMethod as PixelMethod
    from noisewright.images.obfuscation import obfuscate_picture as obfuscate_picture
    from noisewright.images.obfuscation import obfuscate_pictures as obfuscate_pictures
    from noisewright.images.obfuscation import picture_files as picture_files
    from noisewright.images.pictures.reading import read_picture as read_picture
    from noisewright.images.pictures.similarity import mse as mse
    from noisewright.images.pictures.similarity import ssim as ssim
    from noisewright.images.pictures.writing import png_of as png_of
    from noisewright.images.pixels.exponential import pixel_exponential as pixel_exponential
    from noisewright.images.pixels.laplace import pixel_laplace as pixel_laplace
    from noisewright.images.pixels.windows import pixel_windows as pixel_windows
    from noisewright.images.training import train_model as train_model
else:
    __getattr__, __dir__ = door(__name__)
