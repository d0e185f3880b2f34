"""A metric as a model on the hub: fetched by a worker from the mirror that HF_ENDPOINT names, once, and ranked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hub_mirror import HubMirror, Repository
from small_sites import TEXT, MakeHarbour

from billboards.site.boards.live import live_board
from billboards.site.submissions import sending

COMMIT = "0" * 38 + "ab"
WORK = """
import sys
from billboards.site.site import open_site
from billboards.site.work.worker import work_until_done
work_until_done(open_site(sys.argv[1], clock=lambda: 1_800_000_000.0))
"""


def tiny_bert(folder: Path) -> dict[str, bytes]:
    """The files of a BERT of two layers that knows the words of the test's board."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: k for k, word in enumerate(dict.fromkeys(("[PAD]", "[CLS]", "[SEP]", "[UNK]", *TEXT.split())))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    words.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **names).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(5)
    config = transformers.BertConfig(vocab_size=len(vocabulary), initializer_range=0.3, **sizes)
    transformers.BertModel(config).save_pretrained(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.long
def test_an_allowed_model_is_fetched_once_at_its_commit_and_ends_in_a_ranked_column(
    make_harbour: MakeHarbour, tmp_path: Path
) -> None:
    harbour = make_harbour(settings='[metrics]\nhub = ["lab/*"]\n')
    address = {"metric": "bertscore(layer=2)", "model": "lab/tiny", "revision": COMMIT}
    one = sending.submit_address(harbour.site, harbour.person("ann"), "ferry", "hub", "tiny bert", address).submission
    with HubMirror({"lab/tiny": Repository(commits={COMMIT: tiny_bert(tmp_path / "model")})}) as mirror:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment |= {"HF_ENDPOINT": mirror.address, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_DISABLE_XET": "1"}
        subprocess.run([sys.executable, "-c", WORK, str(harbour.site.data)], env=environment, check=True, timeout=600)
        now = harbour.now(one)
        assert now.state == "scored", now.reason
        assert mirror.asked["model.safetensors"] == 1
        mirror.shutdown()
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    (column,) = [m for m in document["ranking"]["metrics"] if m["name"] == "tiny bert"]
    assert column["rank"] is not None
    assert column["n"] == 48
    assert f"commit:{COMMIT}" in column["signature"]
    assert "model:lab/tiny" in column["signature"]
    log = "".join(line.text for line in sending.read_log(harbour.site, harbour.owner, one.id))
    assert f"fetched lab/tiny at {COMMIT}" in log
