"""What a plan costs: Omega of every technique, the cost models, calibration."""
