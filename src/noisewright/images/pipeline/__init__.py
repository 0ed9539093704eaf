"""Faces in photographs and videos: found, hidden one by one, and put back; the rest stays in the clear."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images.pipeline.detection import Face as Face
    from noisewright.images.pipeline.detection import find_faces as find_faces
    from noisewright.images.pipeline.finding import FoundFaces as FoundFaces
    from noisewright.images.pipeline.finding import OwnPlaces as OwnPlaces
    from noisewright.images.pipeline.finding import face_to_keep as face_to_keep
    from noisewright.images.pipeline.frame_boxes import OwnFrames as OwnFrames
    from noisewright.images.pipeline.frames import Video as Video
    from noisewright.images.pipeline.frames import open_video as open_video
    from noisewright.images.pipeline.heads import aligned_face as aligned_face
    from noisewright.images.pipeline.hiding import HiddenPlaces as HiddenPlaces
    from noisewright.images.pipeline.hiding import in_frames as in_frames
    from noisewright.images.pipeline.keeping import KeptFaces as KeptFaces
    from noisewright.images.pipeline.landmarks import landmarks_of as landmarks_of
    from noisewright.images.pipeline.marking import marked as marked
    from noisewright.images.pipeline.networks import fetch_networks as fetch_networks
    from noisewright.images.pipeline.outlines import outline_of as outline_of
    from noisewright.images.pipeline.places import Cover as Cover
    from noisewright.images.pipeline.places import Place as Place
    from noisewright.images.pipeline.tracks import Track as Track
    from noisewright.images.pipeline.tracks import tracks_of as tracks_of
    from noisewright.images.pipeline.videos import HiddenVideo as HiddenVideo
    from noisewright.images.pipeline.videos import hide_video as hide_video
else:
    __getattr__, __dir__ = door(__name__)
