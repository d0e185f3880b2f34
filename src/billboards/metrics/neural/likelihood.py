"""How likely a language model finds texts: the sum of its own log-probabilities, token by token.

An encoder-decoder reads one text and is asked for another, with the tokens that its tokenizer puts around a target; a
causal model is asked for a text alone, after the token that begins one. A text longer than the model reads is cut
there, and counted. An empty text is the token that ends a text: it is as likely as that the model ends at once.

Of many pairs of texts each distinct one is asked for once: distinct texts are tokenised once, pairs are sorted by
length and cut into batches by their number of tokens, and every device takes the next batch when it is done with one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.encoder import PRECISIONS, Precision, batches
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.padded import longest_input, quiet
from billboards.metrics.neural.tokens import NO_LIMIT
from billboards.metrics.neural.weights import Weights
from billboards.metrics.neural.windows import halve_until_it_fits

if TYPE_CHECKING:
    from torch import Tensor


Kind = Literal["encoder-decoder", "causal"]
#: The codes of what is read and of what is asked for, where a model knows several languages.
Languages = tuple[str, str]
NO_LANGUAGE = "none"
ONE_LANGUAGE: Languages = (NO_LANGUAGE, NO_LANGUAGE)
#: What transformers leaves out of a loss.
IGNORED = -100


class LanguageModel(ABC):
    """A model with its own head and tokenizer on one device."""

    loader: ClassVar[str]

    def __init__(
        self, weights: Weights, precision: Precision, device: str, languages: Languages = ONE_LANGUAGE
    ) -> None:
        need("this metric", "torch", "transformers")
        import torch
        from transformers import AutoConfig

        self.weights, self.device = weights, torch.device(device)
        config = AutoConfig.from_pretrained(weights.folder, local_files_only=True)
        self._check_kind(config)
        self.tokenizer = _tokenizer(weights, languages)
        own = self.tokenizer.model_max_length
        limits = (longest_input(config), own if own < NO_LIMIT else None)
        self.limit = min((limit for limit in limits if limit is not None), default=None)
        dtype = getattr(torch, PRECISIONS[precision])
        self.model = load_with_head(weights, self.loader, dtype, "writes").to(self.device)

    @property
    def end(self) -> int:
        """The token that ends a text."""
        named = (self.tokenizer.eos_token_id, self.tokenizer.sep_token_id)
        token = next((candidate for candidate in named if candidate is not None), None)
        if token is None:
            raise InvalidInput(f"the tokenizer of {self.weights.name} names no token that ends a text; use another")
        return int(token)

    @cached_property
    def marks(self) -> frozenset[int]:
        """Tokens that are no part of a text, such as a language's, less the one that ends it."""
        # An unknown word is part of a text, though its token is a special one.
        return frozenset(self.tokenizer.all_special_ids) - {self.end, self.tokenizer.unk_token_id}

    @abstractmethod
    def given_tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """What the model reads before it is asked, and how many texts were cut."""

    @abstractmethod
    def asked_tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """What the model is asked for, and how many texts were cut."""

    @abstractmethod
    def logits(self, given: Sequence[Sequence[int]], labels: Tensor) -> Tensor:
        """The model's logits for each token that it is asked for; pairs × tokens × vocabulary."""

    def sums(self, given: Sequence[Sequence[int]], asked: Sequence[Sequence[int]], *, marks: bool) -> Tensor:
        """The sum of log-probabilities of each pair's tokens, as a column; without `marks` those count nothing."""
        import torch

        ids, asked_for = pad_lists(asked, IGNORED)
        counted = asked_for if marks else asked_for & ~np.isin(ids, list(self.marks))
        labels, mask = torch.from_numpy(ids).to(self.device), torch.from_numpy(counted).to(self.device)
        logits = self.logits(given, labels)
        # One pair at a time: log-probabilities of a whole batch in full precision would double its memory.
        rows = (
            -torch.nn.functional.cross_entropy(row.float(), own, reduction="none", ignore_index=IGNORED)
            for row, own in zip(logits, labels, strict=True)
        )
        return torch.stack([(row.double() * own).sum() for row, own in zip(rows, mask, strict=True)])[:, None]

    @abstractmethod
    def _check_kind(self, config: Any) -> None:
        """Refuse a model that can't be asked in this way."""

    def _encode(self, texts: Sequence[str], **how: Any) -> tuple[list[list[int]], int]:
        lists = [list(ids) for ids in self._call(texts, **how)]
        long = [k for k, ids in enumerate(lists) if self.limit is not None and len(ids) > self.limit]
        if long:
            cut = self._call([texts[k] for k in long], truncation=True, max_length=self.limit, **how)
            for k, ids in zip(long, cut, strict=True):
                lists[k] = list(ids)
        return [ids or [self.end] for ids in lists], len(long)

    def _call(self, texts: Sequence[str], *, target: bool = False, **how: Any) -> Any:
        asked = {"text_target" if target else "text": list(texts)}
        return self.tokenizer(**asked, verbose=False, **how)["input_ids"]

    def upload(self, lists: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Tokens padded to the longest, and where there are any."""
        import torch

        ids, mask = pad_lists(lists, self.tokenizer.pad_token_id or 0)
        return torch.from_numpy(ids).to(self.device), torch.from_numpy(mask).long().to(self.device)


class EncoderDecoder(LanguageModel):
    """A model that reads one text and writes another: BART, T5, Marian, mBART and their kin."""

    loader = "AutoModelForSeq2SeqLM"

    def given_tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        return self._encode(texts)

    def asked_tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        return self._encode(texts, target=True)

    def logits(self, given: Sequence[Sequence[int]], labels: Tensor) -> Tensor:
        ids, mask = self.upload(given)
        # The model itself knows what its decoder begins with.
        logits: Tensor = self.model(input_ids=ids, attention_mask=mask, labels=labels, use_cache=False).logits
        return logits

    def _check_kind(self, config: Any) -> None:
        if not config.is_encoder_decoder:
            raise InvalidInput(
                f"{self.weights.name} is a {config.model_type} model, which reads no other text before it writes; "
                "name an encoder-decoder, such as BART or T5"
            )


class Causal(LanguageModel):
    """A model that writes on: GPT-2 and its kin."""

    loader = "AutoModelForCausalLM"

    @property
    def beginning(self) -> int:
        """The token after which a text begins."""
        beginning = self.tokenizer.bos_token_id
        return self.end if beginning is None else int(beginning)

    def given_tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        return [[self.beginning] for _ in texts], 0

    def asked_tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        return self._encode(texts, add_special_tokens=False)

    def logits(self, given: Sequence[Sequence[int]], labels: Tensor) -> Tensor:
        import torch

        before = torch.cat((self.upload(given)[0], labels[:, :-1]), 1)
        mask = before != IGNORED
        ids = before.masked_fill(~mask, self.end)
        logits: Tensor = self.model(input_ids=ids, attention_mask=mask.long(), use_cache=False).logits
        return logits

    def _check_kind(self, config: Any) -> None:
        names = config.architectures or ()
        if config.is_encoder_decoder or not any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names):
            named = ", ".join(names) or config.model_type
            raise InvalidInput(f"{self.weights.name} is {named}, which is no causal model; name one such as GPT-2")


def _tokenizer(weights: Weights, languages: Languages) -> Any:
    """A model's tokenizer; one of several languages must be told which, and no other may."""
    from transformers import AutoTokenizer

    name, (source, target) = weights.name, languages
    plain = AutoTokenizer.from_pretrained(weights.folder, local_files_only=True)
    asks = hasattr(plain, "src_lang")
    if any((language != NO_LANGUAGE) != asks for language in languages):
        what = "reads several languages; name them as it does" if asks else "is not told languages; name none"
        raise InvalidInput(f"{name} {what} (found {source!r} and {target!r})")
    if not asks:
        return plain
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            weights.folder, local_files_only=True, src_lang=source, tgt_lang=target
        )
        unknown = tokenizer.unk_token_id in {*tokenizer(text="")["input_ids"], *tokenizer(text_target="")["input_ids"]}
    except KeyError:
        unknown = True
    if unknown:
        raise InvalidInput(f"{name} knows no language {source!r} or {target!r}; its model card lists its codes")
    return tokenizer


def load_with_head(weights: Weights, loader: str, dtype: Any, does: str) -> Any:
    """A model with its head; one whose head is not in the files would give random numbers."""
    import transformers

    kind = getattr(transformers, loader)
    with quiet():
        try:
            model, info = kind.from_pretrained(
                weights.folder, local_files_only=True, dtype=dtype, output_loading_info=True
            )
        except ValueError as error:
            reason = str(error).strip().splitlines()[0]
            raise InvalidInput(f"{weights.name} is no model that {does}: {reason}") from error
    if info["missing_keys"]:
        missing = sorted(info["missing_keys"])
        raise InvalidInput(
            f"{weights.name} lacks {len(missing)} weights of a model that {does}, first {missing[0]}; name another"
        )
    return model.eval().requires_grad_(False)


def pad_lists(lists: Sequence[Sequence[int]], filler: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Lists of tokens filled up to the longest, and where there are any."""
    lengths = np.array([len(ids) for ids in lists])
    filled = np.arange(lengths.max(initial=0)) < lengths[:, None]
    ids = np.full(filled.shape, filler, np.int64)
    ids[filled] = np.concatenate([np.asarray(ids_of_text, np.int64) for ids_of_text in lists])
    return ids, filled


KINDS: dict[Kind, type[LanguageModel]] = {"encoder-decoder": EncoderDecoder, "causal": Causal}


@lru_cache(maxsize=4)
def language_model(
    weights: Weights, kind: Kind, precision: Precision, device: str, languages: Languages = ONE_LANGUAGE
) -> LanguageModel:
    """A model that is kept for the next call."""
    return KINDS[kind](weights, precision, device, languages)


#: A text that is read, and the text whose likelihood after it is asked for.
Pair = tuple[str, str]
Waiting = SimpleQueue[NDArray[np.intp]]
Tokeniser = Callable[[Sequence[str]], tuple[list[list[int]], int]]
#: Tokens in a batch: each has a logit for every word of the vocabulary.
BATCH = {"cpu": 1024, "cuda": 16384}


@dataclass(frozen=True)
class Likelihoods:
    """The log-likelihood of each pair, summed or per token, and how many of the distinct texts were cut."""

    of: Mapping[Pair, float]
    texts: int
    cut: int


@dataclass(frozen=True)
class _Tokens:
    """What is read and what is asked for, pair by pair."""

    given: Sequence[Sequence[int]]
    asked: Sequence[Sequence[int]]


def log_likelihoods(
    models: Sequence[LanguageModel], pairs: Iterable[Pair], *, normalised: bool = True, marks: bool = True
) -> Likelihoods:
    """How likely the second text of each pair is after the first; per token of the second where `normalised`.

    Without `marks`, tokens that are no part of a text (a language's, a text's beginning) count nothing.
    """
    distinct = list(dict.fromkeys(pairs))
    model = models[0]
    given, cut_given = _tokenised([pair[0] for pair in distinct], model.given_tokens)
    asked, cut_asked = _tokenised([pair[1] for pair in distinct], model.asked_tokens)
    sums = _run(models, _Tokens(given, asked), marks)
    if normalised:
        sums = sums / [_counted(model, ids, marks) for ids in asked]
    texts = len({pair[0] for pair in distinct}) + len({pair[1] for pair in distinct})
    return Likelihoods(dict(zip(distinct, sums.tolist(), strict=True)), texts, cut_given + cut_asked)


def _tokenised(texts: Sequence[str], tokenise: Tokeniser) -> tuple[list[list[int]], int]:
    """The tokens of each text, equal texts sharing theirs."""
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return [], 0
    lists, cut = tokenise(distinct)
    tokens = dict(zip(distinct, lists, strict=True))
    return [tokens[text] for text in texts], cut


def _counted(model: LanguageModel, ids: Sequence[int], marks: bool) -> int:
    """How many tokens count; a text of nothing but marks is divided by 1, since its sum is 0."""
    return max(1, len(ids) if marks else sum(token not in model.marks for token in ids))


def _run(models: Sequence[LanguageModel], tokens: _Tokens, marks: bool) -> NDArray[np.float64]:
    """The sum of each pair's log-probabilities, on all devices."""
    read, wanted = (np.array([len(ids) for ids in lists], np.int64) for lists in (tokens.given, tokens.asked))
    order = np.lexsort((read, wanted))
    waiting: Waiting = SimpleQueue()
    for part in batches((read + wanted)[order], BATCH.get(models[0].device.type, BATCH["cuda"])):
        waiting.put(order[part])
    sums = np.empty(len(order), np.float64)
    with ThreadPoolExecutor(len(models)) as pool:
        work = [pool.submit(list, _drain(model, waiting, tokens, marks)) for model in models]
        try:
            for places, of_batch in (result for future in work for result in future.result()):
                sums[places] = of_batch
        finally:
            # After an error or Ctrl-C the devices end with the batch in hand.
            list(_taken(waiting))
    return sums


def _taken(waiting: Waiting) -> Iterator[NDArray[np.intp]]:
    """What is waiting, until nothing is."""
    with suppress(Empty):
        while True:
            yield waiting.get_nowait()


def _drain(
    model: LanguageModel, waiting: Waiting, tokens: _Tokens, marks: bool
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    import torch

    def sums(some: NDArray[np.intp]) -> torch.Tensor:
        return model.sums([tokens.given[k] for k in some], [tokens.asked[k] for k in some], marks=marks)

    with torch.inference_mode():
        for places in _taken(waiting):
            yield places, halve_until_it_fits(places, sums)[:, 0].cpu().numpy()
