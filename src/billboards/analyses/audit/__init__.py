"""What a metric really rewards: make outputs for it, and see who else likes them (Deutsch, Dror and Roth 2022)."""
