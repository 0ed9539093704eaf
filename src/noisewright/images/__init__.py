"""Pictures: mechanisms for pixels, blocks and faces, and what runs them over photographs and videos."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.images import faces as faces
    from noisewright.images import pipeline as pipeline
    from noisewright.images.blocks import Blocks as Blocks
    from noisewright.images.blocks import ChangedPixels as ChangedPixels
    from noisewright.images.blocks import Windows as Windows
    from noisewright.images.blocks import blurred as blurred
    from noisewright.images.blocks import mse as mse
    from noisewright.images.blocks import ssim as ssim
    from noisewright.images.blocks import window_ssim as window_ssim
    from noisewright.images.faces.autoencoder import AutoEncoder as AutoEncoder
    from noisewright.images.faces.autoencoder import OwnFaces as OwnFaces
    from noisewright.images.faces.autoencoder import TrainingNoise as TrainingNoise
    from noisewright.images.faces.autoencoder import own_faces as own_faces
    from noisewright.images.faces.autoencoder import train_autoencoder as train_autoencoder
    from noisewright.images.faces.eigenfaces import Basis as Basis
    from noisewright.images.faces.eigenfaces import Eigenfaces as Eigenfaces
    from noisewright.images.faces.eigenfaces import train_eigenfaces as train_eigenfaces
    from noisewright.images.faces.generators import AttGan as AttGan
    from noisewright.images.faces.generators import IdentityGenerator as IdentityGenerator
    from noisewright.images.faces.generators import critic_of as critic_of
    from noisewright.images.faces.generators import train_attgan as train_attgan
    from noisewright.images.faces.generators import train_identities as train_identities
    from noisewright.images.faces.latent_noise import LatentObfuscator as LatentObfuscator
    from noisewright.images.faces.latent_noise import NoisyCodes as NoisyCodes
    from noisewright.images.faces.latent_noise import SnappedLaw as SnappedLaw
    from noisewright.images.faces.latent_space import CodeSpace as CodeSpace
    from noisewright.images.faces.latent_space import component_count as component_count
    from noisewright.images.faces.latent_space import identity_weights as identity_weights
    from noisewright.images.faces.latent_space import least_error_weights as least_error_weights
    from noisewright.images.faces.mechanism import private_faces as private_faces
    from noisewright.images.faces.model import onnx_faces as onnx_faces
    from noisewright.images.faces.model import open_model as open_model
    from noisewright.images.faces.model import shipped_model as shipped_model
    from noisewright.images.faces.public_faces import Gallery as Gallery
    from noisewright.images.faces.public_faces import PublicFaces as PublicFaces
    from noisewright.images.faces.public_faces import SpriteFaces as SpriteFaces
    from noisewright.images.faces.public_faces import cartoon_faces as cartoon_faces
    from noisewright.images.faces.public_faces import read_faces as read_faces
    from noisewright.images.faces.public_faces import sprite_faces as sprite_faces
    from noisewright.images.faces.public_faces import sprite_landmarks as sprite_landmarks
    from noisewright.images.faces.reidentification import BayesAttacker as BayesAttacker
    from noisewright.images.faces.reidentification import Recogniser as Recogniser
    from noisewright.images.faces.reidentification import gallery_risk as gallery_risk
    from noisewright.images.faces.training import train_model as train_model
    from noisewright.images.pictures import Picture as Picture
    from noisewright.images.pictures import Region as Region
    from noisewright.images.pictures import as_pixels as as_pixels
    from noisewright.images.pictures import chunks_of as chunks_of
    from noisewright.images.pictures import kept_metadata as kept_metadata
    from noisewright.images.pictures import png_of as png_of
    from noisewright.images.pictures import read_picture as read_picture
    from noisewright.images.pictures import replaced as replaced
    from noisewright.images.pictures import resized as resized
    from noisewright.images.pictures import strip as strip
    from noisewright.images.pipeline.baselines import ActiveAppearance as ActiveAppearance
    from noisewright.images.pipeline.baselines import blurred_picture as blurred_picture
    from noisewright.images.pipeline.baselines import boxed as boxed
    from noisewright.images.pipeline.baselines import cluster_means as cluster_means
    from noisewright.images.pipeline.baselines import inpainted as inpainted
    from noisewright.images.pipeline.baselines import k_clusters as k_clusters
    from noisewright.images.pipeline.baselines import k_same_codes as k_same_codes
    from noisewright.images.pipeline.baselines import k_same_pixels as k_same_pixels
    from noisewright.images.pipeline.baselines import noisy_singular_values as noisy_singular_values
    from noisewright.images.pipeline.baselines import pixelised as pixelised
    from noisewright.images.pipeline.baselines import raw_losses as raw_losses
    from noisewright.images.pipeline.baselines import raw_ssim_windows as raw_ssim_windows
    from noisewright.images.pipeline.baselines import two_valued as two_valued
    from noisewright.images.pipeline.detection import aligned_face as aligned_face
    from noisewright.images.pipeline.detection import fetch_networks as fetch_networks
    from noisewright.images.pipeline.detection import find_faces as find_faces
    from noisewright.images.pipeline.detection import landmarks_of as landmarks_of
    from noisewright.images.pipeline.finding import FoundFaces as FoundFaces
    from noisewright.images.pipeline.finding import HiddenPlaces as HiddenPlaces
    from noisewright.images.pipeline.finding import KeptFaces as KeptFaces
    from noisewright.images.pipeline.finding import OwnPlaces as OwnPlaces
    from noisewright.images.pipeline.finding import face_to_keep as face_to_keep
    from noisewright.images.pipeline.finding import in_frames as in_frames
    from noisewright.images.pipeline.geometry import Place as Place
    from noisewright.images.pipeline.geometry import marked as marked
    from noisewright.images.pipeline.methods import FaceMethod as FaceMethod
    from noisewright.images.pipeline.methods import PixelMethod as PixelMethod
    from noisewright.images.pipeline.methods import obfuscate_picture as obfuscate_picture
    from noisewright.images.pipeline.methods import obfuscate_pictures as obfuscate_pictures
    from noisewright.images.pipeline.video import HiddenVideo as HiddenVideo
    from noisewright.images.pipeline.video import OwnFrames as OwnFrames
    from noisewright.images.pipeline.video import Video as Video
    from noisewright.images.pipeline.video import hide_video as hide_video
    from noisewright.images.pipeline.video import open_video as open_video
    from noisewright.images.pipeline.video import tracks_of as tracks_of
    from noisewright.images.pixel_noise import level_table as level_table
    from noisewright.images.pixel_noise import pixel_exponential as pixel_exponential
    from noisewright.images.pixel_noise import pixel_laplace as pixel_laplace
    from noisewright.images.windows import WindowChoice as WindowChoice
    from noisewright.images.windows import pixel_windows as pixel_windows
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "ActiveAppearance": "pipeline.baselines",
            "AttGan": "faces.generators",
            "AutoEncoder": "faces.autoencoder",
            "Basis": "faces.eigenfaces",
            "BayesAttacker": "faces.reidentification",
            "Blocks": "blocks",
            "ChangedPixels": "blocks",
            "CodeSpace": "faces.latent_space",
            "Eigenfaces": "faces.eigenfaces",
            "FaceMethod": "pipeline.methods",
            "FoundFaces": "pipeline.finding",
            "Gallery": "faces.public_faces",
            "HiddenPlaces": "pipeline.finding",
            "HiddenVideo": "pipeline.video",
            "IdentityGenerator": "faces.generators",
            "KeptFaces": "pipeline.finding",
            "LatentObfuscator": "faces.latent_noise",
            "NoisyCodes": "faces.latent_noise",
            "OwnFaces": "faces.autoencoder",
            "OwnFrames": "pipeline.video",
            "OwnPlaces": "pipeline.finding",
            "Picture": "pictures",
            "PixelMethod": "pipeline.methods",
            "Place": "pipeline.geometry",
            "PublicFaces": "faces.public_faces",
            "Recogniser": "faces.reidentification",
            "Region": "pictures",
            "SnappedLaw": "faces.latent_noise",
            "SpriteFaces": "faces.public_faces",
            "TrainingNoise": "faces.autoencoder",
            "Video": "pipeline.video",
            "WindowChoice": "windows",
            "Windows": "blocks",
            "aligned_face": "pipeline.detection",
            "as_pixels": "pictures",
            "blurred": "blocks",
            "blurred_picture": "pipeline.baselines",
            "boxed": "pipeline.baselines",
            "cartoon_faces": "faces.public_faces",
            "chunks_of": "pictures",
            "cluster_means": "pipeline.baselines",
            "component_count": "faces.latent_space",
            "critic_of": "faces.generators",
            "face_to_keep": "pipeline.finding",
            "faces": "faces:",
            "fetch_networks": "pipeline.detection",
            "find_faces": "pipeline.detection",
            "gallery_risk": "faces.reidentification",
            "hide_video": "pipeline.video",
            "identity_weights": "faces.latent_space",
            "in_frames": "pipeline.finding",
            "inpainted": "pipeline.baselines",
            "k_clusters": "pipeline.baselines",
            "k_same_codes": "pipeline.baselines",
            "k_same_pixels": "pipeline.baselines",
            "kept_metadata": "pictures",
            "landmarks_of": "pipeline.detection",
            "least_error_weights": "faces.latent_space",
            "level_table": "pixel_noise",
            "marked": "pipeline.geometry",
            "mse": "blocks",
            "noisy_singular_values": "pipeline.baselines",
            "obfuscate_picture": "pipeline.methods",
            "obfuscate_pictures": "pipeline.methods",
            "onnx_faces": "faces.model",
            "open_model": "faces.model",
            "open_video": "pipeline.video",
            "own_faces": "faces.autoencoder",
            "pipeline": "pipeline:",
            "pixel_exponential": "pixel_noise",
            "pixel_laplace": "pixel_noise",
            "pixel_windows": "windows",
            "pixelised": "pipeline.baselines",
            "png_of": "pictures",
            "private_faces": "faces.mechanism",
            "raw_losses": "pipeline.baselines",
            "raw_ssim_windows": "pipeline.baselines",
            "read_faces": "faces.public_faces",
            "read_picture": "pictures",
            "replaced": "pictures",
            "resized": "pictures",
            "shipped_model": "faces.model",
            "sprite_faces": "faces.public_faces",
            "sprite_landmarks": "faces.public_faces",
            "ssim": "blocks",
            "strip": "pictures",
            "tracks_of": "pipeline.video",
            "train_attgan": "faces.generators",
            "train_autoencoder": "faces.autoencoder",
            "train_eigenfaces": "faces.eigenfaces",
            "train_identities": "faces.generators",
            "train_model": "faces.training",
            "two_valued": "pipeline.baselines",
            "window_ssim": "blocks",
        },
    )
