"""Files of a repository that ranks and publishes boards by itself; `repositories` puts them together."""
