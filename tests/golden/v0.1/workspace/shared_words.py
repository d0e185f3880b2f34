"""The share of a reference's words that the output has."""

NAME = "shared-words"
NEEDS = ["references"]


def score(outputs, references, inputs):
    return [max(recall(output, text) for text in texts) for output, texts in zip(outputs, references, strict=True)]


def recall(output, reference):
    words = set(reference.lower().split())
    return len(words & set(output.lower().split())) / max(len(words), 1)
