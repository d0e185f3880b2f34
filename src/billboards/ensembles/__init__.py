"""Ensembles: ways to say from many metrics' scores what people would say, one file for each family.

A family is given training outputs (`Training`) and returns a fitted model, which is one of the kinds in `_models`:
linear, trees, or a mean of others. So every model can be written down, signed, and used elsewhere. `FAMILIES` knows
those of this package and those that other packages offer by the entry point `billboards.ensembles`
(docs/how-to-add-an-ensemble.md).
"""

from __future__ import annotations

from billboards.ensembles._family import Family, Training, family
from billboards.ensembles._models import LinearModel, MixedModel, Model, TreesModel
from billboards.registry import Registry

#: Every family by name.
FAMILIES = Registry(kind="ensemble", room=__name__, type=Family)

__all__ = ["FAMILIES", "Family", "LinearModel", "MixedModel", "Model", "Training", "TreesModel", "family"]
