"""Files: channels, certificates, mechanisms and models in and out, written whole or not at all."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.files.arrays import map_array as map_array
    from noisewright.files.arrays import read_array as read_array
    from noisewright.files.arrays import read_header as read_header
    from noisewright.files.atomic import check_free as check_free
    from noisewright.files.atomic import exchange as exchange
    from noisewright.files.atomic import rename_new as rename_new
    from noisewright.files.atomic import sync_folder as sync_folder
    from noisewright.files.atomic import whole_file as whole_file
    from noisewright.files.atomic import write_atomically as write_atomically
    from noisewright.files.channels import load as load
    from noisewright.files.channels import load_blocks_csv as load_blocks_csv
    from noisewright.files.channels import load_certificate as load_certificate
    from noisewright.files.channels import load_channel as load_channel
    from noisewright.files.channels import load_either as load_either
    from noisewright.files.channels import load_exact_csv as load_exact_csv
    from noisewright.files.channels import load_gaps_csv as load_gaps_csv
    from noisewright.files.channels import load_labelled_csv as load_labelled_csv
    from noisewright.files.channels import save as save
    from noisewright.files.endings import endings_as_exceptions as endings_as_exceptions
    from noisewright.files.endings import interrupt_outside_imports as interrupt_outside_imports
    from noisewright.files.endings import was_interrupted as was_interrupted
    from noisewright.files.folders import Found as Found
    from noisewright.files.folders import files_in as files_in
    from noisewright.files.folders import look_in as look_in
    from noisewright.files.folders import numbered_name as numbered_name
    from noisewright.files.folders import own_names as own_names
    from noisewright.files.folders import whole_folder as whole_folder
    from noisewright.files.inputs import bounded_lines as bounded_lines
    from noisewright.files.inputs import check_input as check_input
    from noisewright.files.inputs import check_nesting as check_nesting
    from noisewright.files.inputs import max_memory as max_memory
    from noisewright.files.inputs import max_unpacked as max_unpacked
    from noisewright.files.inputs import open_archive as open_archive
    from noisewright.files.inputs import open_input as open_input
    from noisewright.files.inputs import read_input as read_input
    from noisewright.files.inputs import read_json as read_json
    from noisewright.files.inputs import unpacked as unpacked
    from noisewright.files.model_file import read_model as read_model
    from noisewright.files.model_file import write_model as write_model
    from noisewright.files.places import user_data as user_data
    from noisewright.files.processes import alive as alive
    from noisewright.files.processes import dead as dead
    from noisewright.files.processes import place as place
    from noisewright.files.processes import started as started
    from noisewright.files.registries import Archive as Archive
    from noisewright.files.scratch import Spool as Spool
    from noisewright.files.scratch import scratch_folder as scratch_folder
    from noisewright.files.urls import has_password as has_password
    from noisewright.files.urls import is_url as is_url
    from noisewright.files.xml import events as events
    from noisewright.files.xml import text_of as text_of
else:
    __getattr__, __dir__ = door(__name__)
