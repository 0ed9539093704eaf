"""Makes ``src/noisewright/images/data/drawn-faces.nwm``: eigenfaces of drawn people.  Run:  python -m tools.make_face_model

The first 68 people of the sprites are the model's public faces; the others are left for examples, in which they are to be hidden.
"""

from __future__ import annotations

from noisewright.images import sprite_faces, train_eigenfaces
from noisewright.images.faces.model import COMES_ALONG

PUBLIC, COMPONENTS = 68, 56


def main() -> None:
    """Make the file."""
    public = sprite_faces().of(range(PUBLIC))
    model = train_eigenfaces(
        COMES_ALONG / "drawn-faces.nwm",
        public.pictures,
        people=public.people,
        components=COMPONENTS,
        source="drawn by facesjs: nobody's",
        small=True,
    )
    print(f"{model} of {model.resource.size:,} bytes")


if __name__ == "__main__":
    main()
