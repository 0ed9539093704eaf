"""Surveys with randomised answers: devices, designs and plans."""
