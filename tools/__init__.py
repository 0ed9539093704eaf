"""What a maintainer runs: the bill of materials and the lock file of a release. Standard library only."""
