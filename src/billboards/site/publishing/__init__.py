"""A site without a server: its pages written as files that any web host serves, or a browser opens from a disk.

The pages are those of the site, asked for as a visitor and walked along their own links, so that they can't differ from
what a server would show, and nothing hidden can be in them. Links become relative; what needs a server is left out.
"""
