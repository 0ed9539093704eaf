"""The shared vocabulary of all packages: channels, metrics, guarantees, mechanisms, certificates, public files, errors.

It does not depend on files, frames, plots or the network.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

VERSION = "0.1.0"

if TYPE_CHECKING:
    from noisewright.core import certificates as certificates
    from noisewright.core import channels as channels
    from noisewright.core import metrics as metrics
    from noisewright.core.accountant import Accountant as Accountant
    from noisewright.core.arrays import Floats as Floats
    from noisewright.core.arrays import Indices as Indices
    from noisewright.core.arrays import Integers as Integers
    from noisewright.core.certificates.certificate import Certificate as Certificate
    from noisewright.core.channels.audit import Audit as Audit
    from noisewright.core.channels.channel import Channel as Channel
    from noisewright.core.choices import as_slack as as_slack
    from noisewright.core.choices import as_tolerance as as_tolerance
    from noisewright.core.choices import is_number as is_number
    from noisewright.core.choices import is_whole as is_whole
    from noisewright.core.choices import one_of as one_of
    from noisewright.core.errors import BudgetError as BudgetError
    from noisewright.core.errors import CertificateError as CertificateError
    from noisewright.core.errors import ChannelError as ChannelError
    from noisewright.core.errors import DataError as DataError
    from noisewright.core.errors import FileFormatError as FileFormatError
    from noisewright.core.errors import GuaranteeError as GuaranteeError
    from noisewright.core.errors import LedgerError as LedgerError
    from noisewright.core.errors import MetricError as MetricError
    from noisewright.core.errors import MissingPartError as MissingPartError
    from noisewright.core.errors import NoChannelError as NoChannelError
    from noisewright.core.errors import NoisewrightError as NoisewrightError
    from noisewright.core.errors import NoLedgerError as NoLedgerError
    from noisewright.core.errors import NoLossError as NoLossError
    from noisewright.core.errors import ParameterError as ParameterError
    from noisewright.core.errors import PolicyError as PolicyError
    from noisewright.core.errors import ResourceError as ResourceError
    from noisewright.core.exact import Exact as Exact
    from noisewright.core.exact import as_fraction as as_fraction
    from noisewright.core.exact import ceil_div as ceil_div
    from noisewright.core.exact import downward as downward
    from noisewright.core.exact import exp_bounds as exp_bounds
    from noisewright.core.exact import float_down as float_down
    from noisewright.core.exact import float_up as float_up
    from noisewright.core.exact import fraction_or_none as fraction_or_none
    from noisewright.core.exact import in_words as in_words
    from noisewright.core.exact import log_bounds as log_bounds
    from noisewright.core.exact import positive_fraction as positive_fraction
    from noisewright.core.exact import upward as upward
    from noisewright.core.exact import whole_or_fraction as whole_or_fraction
    from noisewright.core.guarantee import ContextAware as ContextAware
    from noisewright.core.guarantee import Guarantee as Guarantee
    from noisewright.core.guarantee import Scope as Scope
    from noisewright.core.guarantee import factor_in_words as factor_in_words
    from noisewright.core.guarantee import split as split
    from noisewright.core.labels import MOST_LABELS as MOST_LABELS
    from noisewright.core.labels import as_labels as as_labels
    from noisewright.core.labels import decode_label as decode_label
    from noisewright.core.labels import encode_label as encode_label
    from noisewright.core.labels import encode_number as encode_number
    from noisewright.core.labels import labels_between as labels_between
    from noisewright.core.labels import plain_label as plain_label
    from noisewright.core.loading.addresses import Addresses as Addresses
    from noisewright.core.loading.doors import door as door
    from noisewright.core.loading.doors import homes as homes
    from noisewright.core.loading.parameters import DELTA as DELTA
    from noisewright.core.loading.parameters import DIMENSION as DIMENSION
    from noisewright.core.loading.parameters import EPSILON as EPSILON
    from noisewright.core.loading.parameters import SEED as SEED
    from noisewright.core.loading.parameters import SENSITIVITY as SENSITIVITY
    from noisewright.core.loading.parameters import Parameter as Parameter
    from noisewright.core.mechanism import BaseMechanism as BaseMechanism
    from noisewright.core.mechanism import Described as Described
    from noisewright.core.mechanism import Mechanism as Mechanism
    from noisewright.core.mechanism import Takes as Takes
    from noisewright.core.mechanism import as_mechanism as as_mechanism
    from noisewright.core.mechanism import certificate_once as certificate_once
    from noisewright.core.mechanism import described as described
    from noisewright.core.mechanism import fields_alone as fields_alone
    from noisewright.core.metrics.metric import Metric as Metric
    from noisewright.core.resource import Resource as Resource
    from noisewright.core.resource import in_place as in_place
    from noisewright.core.resource import locate as locate
    from noisewright.core.resource import look_in as look_in
    from noisewright.core.resource import public_keys as public_keys
    from noisewright.core.seed import Seed as Seed
    from noisewright.core.seed import Stream as Stream
    from noisewright.core.verdict import EXACT as EXACT
    from noisewright.core.verdict import FAILS as FAILS
    from noisewright.core.verdict import UNDECIDED as UNDECIDED
    from noisewright.core.verdict import WITHIN as WITHIN
    from noisewright.core.verdict import Verdict as Verdict
else:
    __getattr__, __dir__ = door(__name__)
