"""Pictures: of mechanisms, what they cost and leak, surveys and populations. Needs the extra ``plots`` (matplotlib)."""
