"""Layouts of claims: the short line, the full sentence, the parts of a release. The words are in :mod:`noisewright.claims`."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.render.audit import audit_meaning as audit_meaning
    from noisewright.render.audit import smallest as smallest
    from noisewright.render.mechanism import meaning as meaning
    from noisewright.render.mechanism import promised as promised
    from noisewright.render.mechanism import short as short
    from noisewright.render.release import part_pair as part_pair
    from noisewright.render.release import part_sentence as part_sentence
else:
    __getattr__, __dir__ = door(__name__)
