"""Where paid annotators come from: one contract, one module per platform.

A campaign needs no platform: annotators of a site and magic links cost nothing here. Where people are paid through a
platform, money moves only in two verbs, publishing and paying, and both ask for a quote to be confirmed first.
"""
