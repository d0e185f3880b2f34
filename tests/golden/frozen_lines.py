"""The command lines that are frozen: every analysis with several of its options, on every kind of board.

Each runs in a fresh copy of the workspace, so their order doesn't matter. Numbers of draws are small where what they
draw is the same as with many.
"""

from __future__ import annotations

import shlex

#: Words in capitals stand for ids and signatures that were made when the workspace was.
WORDS = ("FIRST_RANKING", "VERSUS_RANKING", "SLICED_RANKING", "SIGNATURE", "ADA_SIGNATURE")

#: Analyses whose JSON, CSV and LaTeX are all kept.
IN_THREE_FORMS = """
rank harbour --no-save
rank versus --no-save
ensemble study harbour
overrating harbour --human Mara --no-score --jobs 1
compare harbour chrF BLEU --draws 200
compare harbour Atlas Brisk
compare harbour --draws 200
sensitivity harbour --draws 100
hybrids harbour --mixtures 500
estimate harbour
power harbour Atlas Brisk
agreement harbour overall crowd --show 2
ratings agreement harbour --resamples 100
ratings severity harbour
annotators fit inputs/counts.csv
references harbour --jobs 1 --metric chrF --metric TER
challenge harbour --jobs 1 --metric chrF --metric length
suite tables suite.toml --draws 100
suite rank suite.toml --draws 100
history harbour FIRST_RANKING
"""

#: Analyses with other options or on other boards; JSON is enough.
AS_JSON = """
rank harbour
rank harbour --by chrF --no-save --draws 100
rank harbour --by ensemble --no-save --draws 100
rank harbour --k 5 --no-save --draws 100
rank harbour --lambda 20 --no-save --draws 0
rank harbour --ensemble best-subset --k 2 --no-save --draws 100
rank harbour --aggregate crowd --no-save --draws 100
rank harbour --aggregate fluency --no-save --draws 100
rank harbour --aggregate slips --no-save --draws 100
rank harbour --domain weather --no-save --draws 100
rank harbour --document day-2 --no-save --draws 100
rank harbour --tag warning --no-save --draws 100
rank harbour --tag large --domain ferry --no-save --draws 0
rank harbour --references Ada --no-save --draws 100
rank harbour --resample documents --draws 200 --no-save
rank harbour --resample generators --draws 200 --no-save
rank harbour --resample both --draws 200 --no-save
rank harbour --draws 0 --no-save
rank harbour --seed 7 --draws 200 --no-save
rank versus --by length --no-save --draws 100
rank versus --seed 3 --draws 100 --no-save
rank versus
rank captions --no-save
rank captions --aggregate right --no-save --draws 100
rank captions --by chrF --no-save --draws 100
rank quiet --no-save
rank quiet --by chrF --no-save
ensemble study harbour --k 2
ensemble study harbour --lambda 1
ensemble study harbour --ensemble best-subset
ensemble study harbour --aggregate crowd
ensemble study harbour --domain market
ensemble apply SIGNATURE inputs/new.jsonl --board harbour --scores inputs/new_scores.tsv --jobs 1
ensemble apply inputs/ensemble.json inputs/new.jsonl --board harbour --scores inputs/new_scores.tsv --jobs 1
ensemble apply ADA_SIGNATURE inputs/new.jsonl --board harbour --scores inputs/new_qe.tsv --jobs 1
overrating harbour --human Mara --crossed --no-score --jobs 1
overrating harbour --human Mara --references Ada --jobs 1
overrating harbour --human Ben --jobs 1
overrating harbour --human Mara --aggregate crowd --k 2 --no-score --jobs 1
overrating harbour --human Mara --metric chrF --metric TER --ensemble best-subset --jobs 1
overrating harbour --human Mara --lambda 1 --no-score --jobs 1
compare harbour Vessel QE --unit instances --resample documents --draws 200 --seed 2
compare harbour chrF TER --unit generators --resample generators --draws 100
compare harbour chrF length --aggregate crowd --domain ferry --draws 100
compare harbour Atlas Mara --by chrF --show 2
compare harbour Chant Drift --by Vessel --tag warning --draws 100
compare harbour --aggregate crowd --unit instances --draws 100 --seed 5
compare versus chrF BLEU --draws 200
compare versus Atlas Mara
compare versus Brisk Chant --by chrF --draws 100
compare versus --draws 100
compare captions chrF length --draws 100
sensitivity harbour --values --draws 50 --aggregate crowd
sensitivity harbour --domain weather --draws 50 --seed 4
sensitivity versus --draws 50
sensitivity captions --draws 50
hybrids harbour --mixtures 300 --parents all --sample 50 --seed 3
hybrids harbour --mixtures 300 --parents 3 --aggregate crowd
hybrids harbour --mixtures 200 --tag warning
estimate harbour --aggregate crowd --seed 1
estimate harbour --metric chrF --domain ferry
estimate harbour Atlas --target population
estimate harbour Echo --target instances --aggregate crowd
estimate harbour Atlas
estimate harbour Brisk --labels 10
estimate harbour Chant --labels 12 --metric Vessel --seed 3
estimate harbour Mara --labels 8 --metric QE --target population
estimate harbour Chant --next 4 --aggregate crowd
estimate harbour Atlas --next 3 --aggregate crowd --metric chrF --seed 9
estimate harbour Drift --drawn inputs/drawn.json --aggregate crowd
power harbour chrF BLEU
power harbour Vessel TER --power 0.9 --level 0.01
power harbour Mara Drift --aggregate crowd --domain weather
power versus chrF length
power versus Atlas Mara
agreement harbour adequacy fluency
agreement harbour crowd overall --domain weather --show 1
ratings agreement harbour --by day --campaign crowd --dimension appeal --resamples 100
ratings agreement harbour --by campaign --scale ordinal --weights linear --resamples 50
ratings agreement harbour --dimension adequacy --scale nominal --weights plain --resamples 50 --seed 2
ratings agreement inputs/ratings.csv --item item,system --value rating --annotator who --scale ratio --resamples 50
ratings designs harbour --campaign experts --labels 2 --rounds 30
ratings designs inputs/ratings.csv --item item --value rating --annotator who --generator system --labels 2
ratings severity harbour --campaign crowd --dimension appeal
ratings severity harbour --campaign crowd --dimension appeal --no-drift
ratings severity harbour --dimension adequacy
ratings severity inputs/ratings.csv --item item --value rating --annotator who --generator system --time when
ratings consensus harbour --dimension adequacy
ratings consensus harbour --campaign crowd --dimension appeal --method mean --method majority
ratings consensus inputs/ratings.csv --item item,system --value rating --annotator who --method mace
ratings doubts harbour
ratings doubts harbour --metric chrF --show 5 --domain ferry
ratings doubts harbour --aggregate crowd --metric Vessel --show 3
annotators fit inputs/counts.csv --model class/fixed/2
annotators fit inputs/counts.csv --model rate/learned/1 --threshold 0.9 --accuracy 0.8
annotators fit inputs/counts.csv --model rate/jeffreys
annotators fit inputs/counts.csv --model rate/uniform
annotators fit inputs/counts.csv --model rate/fixed/2
annotators checks inputs/appraise.csv
annotators checks inputs/appraise.csv --corrupt --rounds 3 --share 0.3 --seed 2
annotators simulate --rounds 2 --annotators 20 --most 30
annotators simulate --rounds 2 --counts inputs/counts.csv --seed 3
references harbour --jobs 1 --most 2 --seed 5
references harbour --jobs 1 --aggregate crowd --metric BLEU
references versus --jobs 1
audit harbour --no-save --jobs 1 --metric length
audit harbour --no-save --jobs 1 --metric length --method extract --sentences 1
audit harbour --no-save --jobs 1 --metric repetition-2 --method rerank --against chrF --seed 3
audit harbour --no-save --jobs 1 --metric QE --against TER --against BLEU
audit harbour --no-save --jobs 1 --metric TER --method risk --against chrF
audit harbour --no-save --jobs 1 --metric length --method rerank --candidates inputs/candidates.jsonl
audit versus --jobs 1 --metric length
audit articles --no-save --jobs 1 --metric length --method extract --sentences 2
audit articles --no-save --jobs 1 --metric length --method extract --sentences 3 --budget 50
audit articles --no-save --jobs 1 --metric length --method enumerate --sentences 2 --against chrF
audit articles --no-save --jobs 1 --metric abstractness-1 --method extract --sentences 1
audit articles --jobs 1
rank articles --no-save --draws 100
card articles
check articles
challenge articles --jobs 1 --metric chrF --seed 4
challenge harbour --jobs 1 --base Ben --metric BLEU --kind negation --kind number --seed 2
challenge versus --jobs 1
check harbour
check harbour --recompute --sample 10 --seed 1
check versus
check captions --recompute
check quiet
check inputs/broken
card harbour
card versus
card captions
card quiet
history versus VERSUS_RANKING
history harbour SLICED_RANKING
suite run suite.toml --jobs 1 --draws 100
suite run suite.toml --jobs 1 --draws 100 --add shared_words.py
suite tables suite.toml --draws 50 --metric chrF --metric length --seed 2
suite tables suite.toml --statistic kendall --show intervals --draws 50
suite tables suite.toml --show p --draws 50
suite rank suite.toml --role other --block one --draws 50
suite rank suite.toml --block none --draws 50 --seed 1
metric report chrF --suite suite.toml --jobs 1 --draws 50 --failures 2
metric report BLEU harbour --jobs 1 --draws 50
metric report shared_words.py harbour versus --jobs 1 --draws 50 --metric chrF
metrics
metrics chrF
metrics 'BLEU(tokenize=zh)'
"""

#: Lines with another form of output, files of other tools, and mistakes whose exit code stays.
AS_THEY_ARE = """
rank harbour --domain ferry --no-save --draws 50 --csv
rank captions --no-save --draws 50 --csv
rank harbour --aggregate crowd --no-save --draws 50 --latex
compare versus --draws 50 --csv
sensitivity harbour --values --draws 50 --csv
estimate harbour Atlas --labels 10 --csv
estimate harbour Mara --next 4 --aggregate crowd --csv
estimate harbour Drift --next 6
power versus Atlas Mara --latex
ratings designs harbour --campaign experts --labels 2 --rounds 20 --csv
ratings consensus harbour --dimension fluency --csv
ratings doubts harbour --show 4 --csv
annotators simulate --rounds 2 --annotators 15 --latex
audit harbour --no-save --jobs 1 --metric length --csv
suite run suite.toml --jobs 1 --draws 50 --csv
suite run suite.toml --jobs 1 --draws 50 --latex
metric report chrF --suite suite.toml --jobs 1 --draws 50 --latex
ensemble list harbour
ensemble list versus
history harbour
history versus
history quiet
card harbour --markdown
card harbour --html
metrics chrF --markdown
score harbour --jobs 1
score versus --jobs 1
score captions --jobs 1
score quiet --jobs 1
score quiet --jobs 1 --metric 'chrF(beta=1)' --generator Atlas
report harbour --jobs 1 --no-references --no-studies -o report.html
judgments write harbour --format csv --key secret --campaign crowd
judgments write harbour --format csv --key secret --campaign experts --tests
judgments write harbour --format mqm --key secret --campaign experts
judgments write harbour --format appraise --key secret --campaign crowd
judgments write harbour --format label-studio --key secret --campaign experts
judgments write versus --format csv --key secret
judgments add harbour inputs/judgments.csv --format csv --campaign pilot -o out
judgments add harbour inputs/mqm.tsv --format mqm --campaign errors -o out
judgments add harbour inputs/appraise_harbour.csv --format appraise --campaign esa -o out
judgments add harbour inputs/label_studio.json --format label-studio --campaign studio -o out
import table inputs/notices.csv --judgment adequacy --range adequacy=1:5 --card inputs/facts.toml -o out
import table inputs/loose.jsonl --output-id key --judgment good --tags labels --card inputs/loose.toml -o out
import mtme inputs/mtme --language-pair en-en --name again --fact task=Notices --card inputs/mtme.toml -o out
report versus --jobs 1 -o report.html
audit harbour --no-save --jobs 1 --metric length --html page.html --json
suite run suite.toml --jobs 1 --draws 50 --html page.html
metric report chrF harbour --jobs 1 --draws 50 --html page.html --json
ratings agreement harbour --by day --campaign crowd --dimension appeal --resamples 50 --chart page.svg --json
ratings designs harbour --campaign experts --labels 2 --rounds 20 --chart page.svg --json
export mtme harbour -o out --language-pair en-en
new out --name fresh
judges
suite new out.toml harbour versus
campaign template list
campaign template show genie-translation
campaign template show mqm
campaign template preview pairwise
campaign template check esa
overrating harbour
overrating quiet
overrating versus
rank nowhere
rank harbour --aggregate beauty
rank harbour --by SPAM
rank harbour --domain sea
rank harbour --resample nothing
compare harbour chrF Atlas
compare harbour Atlas
compare quiet chrF TER
hybrids versus
hybrids quiet
estimate versus Atlas
estimate quiet Atlas
power quiet Atlas Brisk
power harbour Atlas Nobody
agreement harbour overall better
ratings doubts quiet
references captions --jobs 1
references quiet --jobs 1
audit quiet --jobs 1 --metric length
challenge harbour --jobs 1 --kind magic
ensemble study versus
ensemble study quiet
ensemble apply ensemble.nothing inputs/new.jsonl --board harbour
history harbour 000000000000
check nowhere
metrics SPAM
score harbour --metric SPAM
suite rank nowhere.toml
annotators fit inputs/ratings.csv
judgments add harbour inputs/counts.csv --format csv --campaign pilot -o out
import table inputs/notices.csv -o out
frobnicate
rank harbour --frobnicate
"""


def command_lines(words: dict[str, str]) -> list[list[str]]:
    """Every line as arguments, with ids put in."""
    lines = [[*shlex.split(line), form] for line in _lines(IN_THREE_FORMS) for form in ("--json", "--csv", "--latex")]
    lines += [[*shlex.split(line), "--json"] for line in _lines(AS_JSON)]
    lines += [shlex.split(line) for line in _lines(AS_THEY_ARE)]
    return [[words.get(word, word) for word in line] for line in lines]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]
