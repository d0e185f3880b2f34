"""MetricX and UniEval beside transformers' own models, and beside the authors' programs where they lie on this machine.

Checkpoints are tiny, random and of the published layout (tests/stand_ins/tiny_t5.py). transformers' models read one
text at a time in double precision. The authors' programs want an older transformers, so they run in a process of their
own:

    BILLBOARDS_T5_AUTHORS=DIR BILLBOARDS_T5_PACKAGES=DIR python benchmarks/parity_t5.py

The first folder holds `metricx23/models.py` of google-research/metricx, and `unieval/` with `utils.py` and `metric/` of
maszhongming/UniEval, whose evaluators take the model's folder as their first argument; the second one transformers 4
with its tokenizers and huggingface_hub (`pip install --no-deps --target DIR …`). Without them only the first comparison
is made.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "stand_ins"))

#: Metric, layout with its source, the largest difference, and what it was compared with.
Row = tuple[str, str, float, str]
OUTPUTS = 40
LONGEST = {"23": 1024, "24": 1536}
NAMES = {
    ("MetricX", "24"): "metricx-24-hybrid-xl-v2p6",
    ("MetricX-QE", "24"): "metricx-24-hybrid-xl-v2p6",
    ("MetricX", "23"): "metricx-23-xl-v2p0",
    ("MetricX-QE", "23"): "metricx-23-qe-xl-v2p0",
}
FORMS = {
    ("MetricX", "24"): "source: {source} candidate: {output} reference: {reference}",
    ("MetricX-QE", "24"): "source: {source} candidate: {output}",
    ("MetricX", "23"): "candidate: {output} reference: {reference}",
    ("MetricX-QE", "23"): "candidate: {output} source: {source}",
}


def texts(count: int, seed: int, longest: int = 60) -> list[str]:
    """Texts of one to three sentences; one of them is longer than the models read."""
    from tiny_t5 import WORDS

    draw = random.Random(seed)
    made = [" ".join(draw.choices(WORDS, k=draw.randint(1, longest))) for _ in range(count)]
    made[3] = " ".join(draw.choices(WORDS, k=1700))
    return [f"{text.capitalize()}. The cat ran away." if k % 3 else text for k, text in enumerate(made)]


def write(folder: Path) -> dict[str, Any]:
    """The checkpoints, and the texts that both sides read."""
    from tiny_t5 import metricx_config, unieval_config, write_t5, write_tokenizer

    write_tokenizer(folder / "mt5-xl")
    for name in set(NAMES.values()):
        write_t5(folder / name, metricx_config())
    for name in ("unieval-sum", "unieval-dialog"):
        write_tokenizer(folder / name)
        write_t5(folder / name, unieval_config(vocabulary(folder / name)), seed=2)
    task = {"outputs": texts(OUTPUTS, 1), "sources": texts(OUTPUTS, 2), "references": texts(OUTPUTS, 3)}
    # Of a dialogue the history ends with an empty line, and the fact with the end of a line.
    task |= {"histories": [f"{text}\n\n" for text in task["sources"]], "facts": [f"{t}\n" for t in task["references"]]}
    (folder / "task.json").write_text(json.dumps(task))
    return task


def vocabulary(folder: Path) -> int:
    from transformers import AutoTokenizer

    return len(AutoTokenizer.from_pretrained(folder))


def write_punkt(folder: Path) -> None:
    """Parameters of Punkt that know no abbreviation, so that both sides cut sentences alike."""
    data = folder / "tokenizers" / "punkt_tab" / "english"
    data.mkdir(parents=True)
    for name in ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (data / name).write_text("")


def ours(folder: Path, task: Mapping[str, Any]) -> dict[str, list[float]]:
    import billboards as bb

    tokenizer, scores = str(folder / "mt5-xl"), {}
    for (name, generation), model in NAMES.items():
        scorer = bb.metric(name, model=str(folder / model), tokenizer=tokenizer)
        given = scorer.score(task["outputs"], task["references"], task["sources"])
        scores[f"{name} {generation}"] = given.sentences.tolist()
    summaries = bb.metric("UniEval", model=str(folder / "unieval-sum"))
    for part, values in summaries.score(task["outputs"], task["references"], task["sources"]).parts.items():
        scores[f"UniEval summarization {part}"] = values.tolist()
    responses = bb.metric("UniEval(task=dialogue)", model=str(folder / "unieval-dialog"))
    inputs = [history + fact for history, fact in zip(task["histories"], task["facts"], strict=True)]
    for part, values in responses.score(task["outputs"], None, inputs).parts.items():
        scores[f"UniEval dialogue {part}"] = values.tolist()
    return scores


def one_by_one(folder: Path, task: Mapping[str, Any]) -> dict[str, list[float]]:
    """transformers' own models, one text at a time, in double precision."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    words, scores = AutoTokenizer.from_pretrained(folder / "mt5-xl"), {}
    for key, name in NAMES.items():
        model = MT5ForConditionalGeneration.from_pretrained(folder / name).double().eval()
        head = load_file(folder / name / "model.safetensors")["lm_head.weight"][250089].double()
        values = []
        for text in read_by(key, task):
            ids = words(text, max_length=LONGEST[key[1]], truncation=True)["input_ids"][:-1]
            with torch.no_grad():
                states = model.encoder(input_ids=torch.tensor([ids])).last_hidden_state
                first = model.decoder(input_ids=torch.tensor([[0]]), encoder_hidden_states=states).last_hidden_state
            values.append(min(max(float(first[0, 0] @ head), 0.0), 25.0))
        scores[" ".join(key)] = values
    return scores


def read_by(key: tuple[str, str], task: Mapping[str, Any]) -> list[str]:
    columns = zip(task["outputs"], task["sources"], task["references"], strict=True)
    return [
        FORMS[key].format(output=output, source=source, reference=reference) for output, source, reference in columns
    ]


def authors(folder: Path) -> None:
    """In a process with an older transformers: the authors' own programs, their scores to the end of the output."""
    import torch
    import transformers

    sys.path[:0] = [os.environ["BILLBOARDS_T5_AUTHORS"], f"{os.environ['BILLBOARDS_T5_AUTHORS']}/unieval"]
    regression: Any = import_module("metricx23.models").MT5ForRegression
    evaluators: Any = import_module("metric.evaluator")
    convert_to_json: Any = import_module("utils").convert_to_json

    task = json.loads((folder / "task.json").read_text())
    words = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "mt5-xl" / "tokenizer.json"))
    scores: dict[str, list[float]] = {}
    for key, name in NAMES.items():
        model = regression.from_pretrained(folder / name).eval()
        values = []
        for text in read_by(key, task):
            # As their predict.py: cut, then the last token taken away; batches of one.
            given = words(text, max_length=LONGEST[key[1]], truncation=True, padding=False)
            ids, mask = (torch.tensor([given[what][:-1]]) for what in ("input_ids", "attention_mask"))
            with torch.no_grad():
                values.append(float(model(input_ids=ids, attention_mask=mask).predictions[0]))
        scores[" ".join(key)] = values
    for kind, evaluator, model_name, columns in (
        ("summarization", evaluators.SumEvaluator, "unieval-sum", {"src_list": "sources", "ref_list": "references"}),
        ("dialogue", evaluators.DialogEvaluator, "unieval-dialog", {"src_list": "histories", "context_list": "facts"}),
    ):
        given = {argument: task[column] for argument, column in columns.items()}
        rated = evaluator(str(folder / model_name)).evaluate(convert_to_json(output_list=task["outputs"], **given))
        for part in rated[0]:
            scores[f"UniEval {kind} {part}"] = [float(own[part]) for own in rated]
    print(json.dumps(scores))


def ask_authors(folder: Path) -> dict[str, list[float]] | None:
    """The authors' scores, or None where their programs are not on this machine."""
    programs, packages = (os.environ.get(f"BILLBOARDS_T5_{what}") for what in ("AUTHORS", "PACKAGES"))
    if not programs or not packages:
        return None
    surroundings = {**os.environ, "PYTHONPATH": packages, "NLTK_DATA": str(folder / "nltk")}
    command = [sys.executable, __file__, "--authors", str(folder)]
    done = subprocess.run(command, env=surroundings, check=True, capture_output=True, text=True)
    scores: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return scores


LAYOUTS = {
    "MetricX": "mT5 with lm_head.weight, 250,112 words (google-research/metricx, models.py)",
    "UniEval": "T5 (maszhongming/UniEval, metric/scorer.py)",
}


def compared(own: Mapping[str, Sequence[float]], other: Mapping[str, Sequence[float]], oracle: str) -> list[Row]:
    rows = []
    for name, values in other.items():
        largest = max(abs(x - y) for x, y in zip(own[name], values, strict=True))
        rows.append((name, LAYOUTS[name.split("-")[0].split()[0]], largest, oracle))
    return rows


def rows() -> list[Row]:
    """Metric, layout with its source, the largest difference, and what it was compared with."""
    import nltk
    import transformers

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_punkt(folder / "nltk")
        nltk.data.path.insert(0, str(folder / "nltk"))
        task = write(folder)
        own = ours(folder, task)
        alone = f"transformers {transformers.__version__}, one text at a time, float64"
        table = compared(own, one_by_one(folder, task), alone)
        theirs = ask_authors(folder)
        return table + ([] if theirs is None else compared(own, theirs, "the authors' programs, float32"))


def main() -> None:
    if sys.argv[1:2] == ["--authors"]:
        authors(Path(sys.argv[2]))
        return
    table = rows()
    print("| metric | layout | largest difference | compared with |\n| --- | --- | --- | --- |")
    for metric, layout, largest, oracle in table:
        print(f"| {metric} | {layout} | {largest:.1e} | {oracle} |")
    if not any("authors" in row[3] for row in table):
        print("the authors' programs: not compared; set BILLBOARDS_T5_AUTHORS and BILLBOARDS_T5_PACKAGES")


if __name__ == "__main__":
    main()
