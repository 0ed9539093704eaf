"""Networks of faces behind the protocol of models, in files of arrays and JSON; they need PyTorch, the extra ``networks``."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images.networks.attgan import AttGan as AttGan
    from noisewright.images.networks.attgan import critic_of as critic_of
    from noisewright.images.networks.attgan_training import train_attgan as train_attgan
    from noisewright.images.networks.attributes import Attribute as Attribute
    from noisewright.images.networks.autoencoder import AutoEncoder as AutoEncoder
    from noisewright.images.networks.autoencoder import train_autoencoder as train_autoencoder
    from noisewright.images.networks.identity_generator import IdentityGenerator as IdentityGenerator
    from noisewright.images.networks.identity_generator import train_identities as train_identities
    from noisewright.images.networks.network import NetworkFaces as NetworkFaces
    from noisewright.images.networks.noise_aware import TrainingNoise as TrainingNoise
    from noisewright.images.networks.own import OwnFaces as OwnFaces
    from noisewright.images.networks.own import own_faces as own_faces
else:
    __getattr__, __dir__ = door(__name__)
