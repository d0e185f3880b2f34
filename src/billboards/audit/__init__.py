"""What a metric really rewards: outputs optimised for it, its biases, its pseudo-references, its blind spots."""
