"""The pages people read and send: one module per page, each a function from what was asked to what is shown."""
