"""What can score an output: the contract, the discovery, and one file per family of metrics."""
