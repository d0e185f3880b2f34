"""What pages show, as plain values: tables laid out, outputs found, differences marked, badges drawn."""
