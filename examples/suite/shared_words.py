"""The share of a reference's words that the output holds; of several references, the best."""


def score(outputs: list[str], references: list[list[str]], _inputs: list[str]) -> list[float]:
    return [max(recall(output, text) for text in texts) for output, texts in zip(outputs, references, strict=True)]


def recall(output: str, reference: str) -> float:
    held, wanted = set(output.lower().split()), set(reference.lower().split())
    return len(held & wanted) / max(len(wanted), 1)
