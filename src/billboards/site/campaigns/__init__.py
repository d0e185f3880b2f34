"""Campaigns on a site: what owners and annotators do, and what becomes of the answers."""
