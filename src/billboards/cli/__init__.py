"""The command line: one door to the services, with nothing but arguments in and tables or JSON out."""
