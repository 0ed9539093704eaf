"""The shared vocabulary of all packages: channels, metrics, guarantees, mechanisms, certificates, public files, errors.

It does not depend on files, frames, plots or the network.
"""

VERSION = "0.1.0"
