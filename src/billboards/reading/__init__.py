"""Text files as people write them: lines, numbers and JSON, read alike at every border."""
