"""Metrics that read pairs of texts, beside their authors' packages on tiny checkpoints of the published layouts.

The packages want an older transformers than this one, so they lie in a folder of their own, which an environment
variable names; each is asked in a process that sees that folder first:

    pip install --no-deps --target PEERS bleurt-pytorch==0.0.1 summac==0.0.4 lens-metric==0.2.0 \\
        sentencepiece protobuf pytorch-lightning==2.0.9 torchmetrics==1.4.0 lightning-utilities setuptools==70.0.0 \\
        transformers==4.46.3 tokenizers==0.20.3 huggingface_hub==0.26.5
    BILLBOARDS_PAIR_PEERS=PEERS python benchmarks/parity_pairs.py

AlignScore's package is not on a package index: it is compared with the definition written out, in its tests.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "stand_ins"))
from pair_checkpoints import write_albert, write_layer, write_lens, write_port, write_roberta
from punkt_data import sentence_data

from billboards.metrics.base import Batch

PEERS = os.environ.get("BILLBOARDS_PAIR_PEERS")
#: Metric, layout with its source, largest difference, what it was compared with.
Row = tuple[str, str, float, str]
WORDS = ("the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "and", "not", "very", "small")

BLEURT = """
from bleurt_pytorch import BleurtForSequenceClassification
from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer
model = BleurtForSequenceClassification.from_pretrained(given["folder"]).eval()
tokenizer = BleurtSPTokenizer.from_pretrained(given["folder"])
with torch.no_grad():
    answer = []
    for reference, output in given["pairs"]:
        inputs = tokenizer([reference], [output], padding="longest", return_tensors="pt")
        answer += model(**inputs).logits.flatten().tolist()
"""
SUMMAC = """
from summac import model_summac
model_summac.model_map["tiny"] = {"model_card": given["folder"], "entailment_idx": 0, "contradiction_idx": 1}
if given["layer"]:
    options = {"bins": given["bins"], "nli_labels": given["labels"], "agg": given["agg"], "start_file": given["layer"]}
    model = model_summac.SummaCConv(models=["tiny"], granularity=given["granularity"], imager_load_cache=False,
                                    device="cpu", **options)
else:
    model = model_summac.SummaCZS(model_name="tiny", granularity=given["granularity"], imager_load_cache=False,
                                  device="cpu")
answer = [model.score([text], [summary])["scores"][0] for text, summary in given["pairs"]]
"""
LENS = """
from lens.models import load_from_checkpoint
model = load_from_checkpoint(given["folder"] + "/checkpoints/model.ckpt").eval()
answer = []
with torch.no_grad():
    for source, output, reference in given["triples"]:
        sample = {"src": source.lower(), "mt": output.lower(), "ref": reference.lower()}
        inputs = model.prepare_sample([sample], "predict")
        answer += [100 * score for score in model.forward(**inputs).scores.tolist()]
"""
PIECES = """
import io
import sentencepiece
written = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(given["sentences"]), model_writer=written, vocab_size=90, pad_id=0, unk_id=1, bos_id=-1,
    eos_id=-1, control_symbols=["[CLS]", "[SEP]"], user_defined_symbols=["<br>"], minloglevel=2)
open(given["file"], "wb").write(written.getvalue())
answer = sentencepiece.SentencePieceProcessor(model_file=given["file"]).encode(given["texts"])
"""


def ask(program: str, given: dict[str, Any]) -> Any:
    """What a peer's program answers."""
    prologue = "import json, sys, torch\nsys.stdout, shown = sys.stderr, sys.stdout\ngiven = json.load(sys.stdin)\n"
    epilogue = "\nprint(json.dumps(answer), file=shown)\n"
    environment = {**os.environ, "PYTHONPATH": str(PEERS), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", prologue + program + epilogue]
    done = subprocess.run(
        command, input=json.dumps(given), env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout)


def texts(count: int, seed: int, sentences: int = 1, words: tuple[int, int] = (4, 9)) -> list[str]:
    draw = random.Random(seed)
    drawn = [
        [
            " ".join(draw.choices(WORDS, k=draw.randint(*words))).capitalize() + "."
            for _ in range(draw.randint(1, sentences))
        ]
        for _ in range(count)
    ]
    return [" ".join(each) for each in drawn]


def largest(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return float(np.abs(np.array(ours) - np.array(theirs)).max())


def bleurt_row(folder: Path) -> Row:
    from billboards.metrics.neural.bleurt import Bleurt

    port = write_port(folder / "BLEURT-20")
    outputs, references = (texts(40, seed, words=(1, 3)) for seed in (1, 2))
    outputs[3], references[4] = "", "ﬁ 東京 [x]"
    ours = Bleurt(str(port)).score_batch(Batch(outputs, [[text] for text in references]))
    theirs = ask(BLEURT, {"folder": str(port), "pairs": list(zip(references, outputs, strict=True))})
    return (
        "BLEURT",
        "lucadiliello/BLEURT-20 (RemBERT, spm.model)",
        largest(ours.tolist(), theirs),
        "bleurt-pytorch 0.0.1",
    )


def summac_rows(folder: Path) -> list[Row]:
    from billboards.metrics.neural.summac import SummaCConv, SummaCZS

    albert, outputs, inputs = write_albert(folder / "albert"), texts(12, 3, 3), texts(12, 4, 6)
    rows: list[Row] = []
    layout = "tals/albert-xlarge-vitaminc-mnli (ALBERT, spiece.model)"
    batch, pairs = Batch(outputs, (), inputs), list(zip(inputs, outputs, strict=True))
    for granularity in ("sentence", "2sents", "document-sentence"):
        ours = SummaCZS(str(albert), granularity=granularity).score_batch(batch)
        theirs = ask(SUMMAC, {"folder": str(albert), "pairs": pairs, "granularity": granularity, "layer": ""})
        rows.append(("SummaC-ZS", f"{layout}, {granularity}", largest(ours.tolist(), theirs), "summac 0.0.4"))
    for bins, labels, agg, width in (("percentile", "e", "mean", 23), ("even50", "ec", "all", 100)):
        layer = write_layer(folder / f"{bins}.bin", width)
        options = {"bins": bins, "agg": agg}
        ours = SummaCConv(str(albert), convolution=str(layer), nli_labels=labels, **options).score_batch(batch)
        given = {
            "folder": str(albert),
            "pairs": pairs,
            "granularity": "sentence",
            "layer": str(layer),
            "labels": labels,
        }
        theirs = ask(SUMMAC, {**given, **options})
        of_layer = f"summac_conv_vitc_sent_perc_e.bin ({bins}, {labels}, {agg})"
        rows.append(("SummaC-Conv", of_layer, largest(ours.tolist(), theirs), "summac 0.0.4"))
    return rows


def lens_row(folder: Path) -> Row:
    from billboards.metrics.neural.lens import Lens

    checkpoint = write_lens(folder / "lens", write_roberta(folder / "roberta"))
    outputs, references, inputs = (texts(12, seed, words=(1, 6)) for seed in (6, 7, 8))
    batch = Batch(outputs, [[text] for text in references], inputs)
    ours = Lens(str(checkpoint), rescale=False).score_batch(batch)
    theirs = ask(LENS, {"folder": str(checkpoint), "triples": list(zip(inputs, outputs, references, strict=True))})
    return "LENS", "davidheineman/lens (RoBERTa, of 100)", largest(ours.tolist(), theirs), "lens-metric 0.2.0"


def piece_row(folder: Path) -> Row:
    """Texts of any characters; the difference is the share of texts that are cut otherwise."""
    from billboards.metrics.neural.pieces import read_pieces

    draw, known = random.Random(5), [*WORDS, "große", "été", "東京", "タワー", "привет", "ﬁt", "½", "№", "Ⅳ"]
    sentences = [" ".join(draw.choices(known, k=draw.randint(3, 12))) + draw.choice(".,!?") for _ in range(3000)]
    pool = [
        *"abc the xyz .,!?½ﬁ№Ⅳ\u00a0\u3000\t\n éüß東京タワーﾀﾜｰ한국어👍🏽e\u0301\u0308[]<>br▁\u200b\u200d",
        "[CLS]",
        "[SEP]",
    ]
    pool += ["<br>", " ", "  ", "cat", "große"]
    odd = ["".join(draw.choices(pool, k=draw.randint(0, 15))) for _ in range(20_000)]
    theirs = ask(PIECES, {"sentences": sentences, "texts": odd, "file": str(folder / "odd.model")})
    ours = read_pieces(folder / "odd.model").cut(odd)
    differing = sum(one != other for one, other in zip(ours, theirs, strict=True))
    return "BLEURT", "spm.model on 20,000 odd texts (share cut otherwise)", differing / len(odd), "sentencepiece 0.2"


def rows() -> list[Row]:
    """What was compared; nothing where no peers are named."""
    if not PEERS:
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with sentence_data(folder / "nltk"):
            os.environ["NLTK_DATA"] = str(folder / "nltk")
            return [bleurt_row(folder), piece_row(folder), *summac_rows(folder), lens_row(folder)]


def main() -> None:
    compared = rows()
    if not compared:
        print("nothing was compared: BILLBOARDS_PAIR_PEERS names no folder with the authors' packages")
    for metric, layout, difference, oracle in compared:
        print(f"{metric:12} {layout:70} {difference:9.1e}  {oracle}")


if __name__ == "__main__":
    main()
