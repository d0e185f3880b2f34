#!/bin/sh
# sh run.sh source.jsonl generator.jsonl references.jsonl scores.txt
export HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error
exec python3 -B nubia.py "$@"
