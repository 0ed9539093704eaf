"""Parameters that several mechanisms for pictures share."""

from noisewright.core.loading.parameters import Parameter

FIT = Parameter("Treatment of a picture of another size: refuse or resize.", 'fit = "resize"')
PICTURE_WIDTH = Parameter("Width of every picture, in pixels.", "width = 640")
PICTURE_HEIGHT = Parameter("Height of every picture, in pixels.", "height = 480")
BLOCK = Parameter("Side, in pixels, of the blocks that come out in one colour.", "block = 16")
COLOURS = Parameter("Reading of pictures: in colour or in grey.", 'colours = "rgb"')
BETWEEN = Parameter(
    "Pictures that epsilon compares: any two, those that differ in some pixels, or in some steps of colour.",
    'between = "pixels"',
)
BLUR = Parameter("Standard deviation, in pixels, of a blur applied to the output; 0 for no blur.", "blur = 1.0")
QUALITY = Parameter(
    "Measure of the similarity between the true colours and a candidate output.", 'quality = "absolute"'
)
LEVELS = Parameter("Number of levels at which a colour can come out, from black to full.", "levels = 4")
