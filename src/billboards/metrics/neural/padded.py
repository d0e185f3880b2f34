"""Any encoder of transformers, through its own forward pass, on texts padded to the longest of their batch.

The texts of a batch come sorted by length, so there is little padding. Layers above the one that is read are dropped
before anything is computed; a model that ends in a norm of its own keeps it, as in bert_score.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.readout import Readout

if TYPE_CHECKING:
    from torch import Tensor

#: Where the families keep their layers: BERT, T5, ALBERT's and BART's kin, DistilBERT, XLNet, ModernBERT.
LAYERS = ("encoder.layer", "encoder.block", "encoder.layers", "transformer.layer", "layer", "layers", "block")


def load_model(folder: Any) -> Any:
    """A model's encoder, ready to read; of an encoder-decoder only the encoder."""
    from transformers import AutoConfig, AutoModel, T5EncoderModel

    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    kind = T5EncoderModel if config.model_type in ("t5", "mt5") else AutoModel
    with quiet():
        model = kind.from_pretrained(folder, local_files_only=True)
    if hasattr(model, "decoder") and hasattr(model, "encoder"):
        model = model.encoder
    return model.eval().requires_grad_(False)


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bar for a model that lies on this machine, and no word on heads that the encoder doesn't have."""
    from transformers.utils import logging

    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def count_layers(model: Any) -> int:
    """How many layers a model has above its embeddings."""
    if hasattr(model, "n_layers"):
        return int(model.n_layers)
    if hasattr(getattr(model, "encoder", None), "albert_layer_groups"):
        return int(model.encoder.config.num_hidden_layers)
    return len(_layer_list(model)[2])


def keep_layers(model: Any, layers: int) -> None:
    """Drop the layers above this one."""
    if not 0 <= layers <= count_layers(model):
        name = model.config.model_type
        raise InvalidInput(f"this {name} model has the layers 0 to {count_layers(model)}; layer {layers} is none")
    if hasattr(model, "n_layers"):
        model.n_layers = layers
    elif hasattr(getattr(model, "encoder", None), "albert_layer_groups"):
        model.encoder.config.num_hidden_layers = layers
    else:
        owner, name, own_layers = _layer_list(model)
        setattr(owner, name, own_layers[:layers])


def _layer_list(model: Any) -> tuple[Any, str, Any]:
    for path in LAYERS:
        owner = model
        *above, name = path.split(".")
        for step in above:
            owner = getattr(owner, step, None)
        if hasattr(getattr(owner, name, None), "__len__"):
            return owner, name, getattr(owner, name)
    raise InvalidInput(f"the layers of a {model.config.model_type} model are not found; use another model")


def longest_input(config: Any) -> int | None:
    """How many tokens a model can read, where its positions have an end."""
    if config.model_type in ("xlnet", "t5", "mt5"):
        return None
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions <= 0:
        return None
    shifted = config.model_type in ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "longformer", "bigbird")
    return int(positions) - (config.pad_token_id + 1 if shifted else 0)


class PaddedModel:
    """An encoder of any family, given padded batches."""

    def __init__(self, model: Any, device: Any, dtype: Any, padding: int) -> None:
        self.model, self.device, self.padding = model.to(device=device, dtype=dtype), device, padding

    def __call__(self, ids: NDArray[np.int32], lengths: NDArray[np.int64], readout: Readout) -> Tensor:
        import torch

        filled = np.arange(lengths.max(initial=0)) < lengths[:, None]
        padded = np.full(filled.shape, self.padding, np.int64)
        padded[filled] = ids
        mask = torch.from_numpy(filled).to(self.device)
        given = torch.from_numpy(padded).to(self.device)
        states = self.model(given, attention_mask=mask.long(), output_hidden_states=readout.every)
        return readout(self._unpadded(states, mask, every=readout.every), lengths)

    def _unpadded(self, states: Any, mask: Tensor, *, every: bool) -> Iterator[Tensor]:
        """The layers as tokens end to end; a model's last norm is applied to each, as if it were the top one."""
        if every:
            norm = getattr(self.model, "final_norm", None)
            for hidden in states.hidden_states[:-1]:
                yield (hidden if norm is None else norm(hidden))[mask]
        yield states[0][mask]
