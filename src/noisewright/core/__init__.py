"""Channels, metrics, guarantees, audits and certificates: the vocabulary that every other room speaks."""
