"""Output of a release: certificate, lock and files, under a hidden name until they are whole; and checking such a folder."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.output.adopting import adopt as adopt
    from noisewright.releases.output.certificate import ReleaseCertificate as ReleaseCertificate
    from noisewright.releases.output.earlier import Written as Written
    from noisewright.releases.output.earlier import converted as converted
    from noisewright.releases.output.earlier import find_written as find_written
    from noisewright.releases.output.earlier import read_folder as read_folder
    from noisewright.releases.output.folder_check import FolderCheck as FolderCheck
    from noisewright.releases.output.folder_check import verify_folder as verify_folder
    from noisewright.releases.output.layout import ANSWERS as ANSWERS
    from noisewright.releases.output.layout import CERTIFICATE as CERTIFICATE
    from noisewright.releases.output.layout import REPORT as REPORT
    from noisewright.releases.output.layout import answer_files as answer_files
    from noisewright.releases.output.layout import has_its_files as has_its_files
    from noisewright.releases.output.lock import LOCK as LOCK
    from noisewright.releases.output.lock import Given as Given
    from noisewright.releases.output.lock import Lock as Lock
    from noisewright.releases.output.lock import Making as Making
    from noisewright.releases.output.lock import Sealing as Sealing
    from noisewright.releases.output.lock import file_digest as file_digest
    from noisewright.releases.output.lock import foreign_file as foreign_file
    from noisewright.releases.output.mark import Mark as Mark
    from noisewright.releases.output.mark import content_digest as content_digest
    from noisewright.releases.output.mark import fingerprint as fingerprint
    from noisewright.releases.output.places import check_places as check_places
    from noisewright.releases.output.proving import Verification as Verification
    from noisewright.releases.output.proving import certificate_bytes as certificate_bytes
    from noisewright.releases.output.proving import examined as examined
    from noisewright.releases.output.recomputing import Recomputed as Recomputed
    from noisewright.releases.output.recomputing import recomputed as recomputed
    from noisewright.releases.output.recorded import FolderRecord as FolderRecord
    from noisewright.releases.output.recorded import check_record as check_record
    from noisewright.releases.output.recorded import complete as complete
    from noisewright.releases.output.recorded import sealed_at as sealed_at
    from noisewright.releases.output.recorded import sealed_lock as sealed_lock
    from noisewright.releases.output.references import References as References
    from noisewright.releases.output.staging import Staging as Staging
    from noisewright.releases.output.staging import clean as clean
    from noisewright.releases.output.written_answers import read_answer as read_answer
    from noisewright.releases.output.written_answers import write_answer as write_answer
    from noisewright.releases.output.written_answers import write_cells as write_cells
else:
    __getattr__, __dir__ = door(__name__)
