"""Where boards come from: the board folder, and importers of public data sets."""
