"""The workbench in a browser: pages that call the library, served from this machine alone. Needs the extra ``studio``."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.studio.command import COMMAND as COMMAND
    from noisewright.studio.digests import digest_of as digest_of
    from noisewright.studio.jobs import Job as Job
    from noisewright.studio.security import Guard as Guard
    from noisewright.studio.server import serve as serve
    from noisewright.studio.site import PAGES as PAGES
    from noisewright.studio.site import Page as Page
    from noisewright.studio.task import Task as Task
    from noisewright.studio.visits import Visit as Visit
else:
    __getattr__, __dir__ = door(__name__)
