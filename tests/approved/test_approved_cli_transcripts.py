"""What every command prints that is no analysis: on rich boards, in every format, with right and wrong arguments."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copytree

import pytest
from approving import APPROVE, approve
from asked_boards import asked_boards
from command_transcripts import all_ran, files_below
from varied_boards import varied_boards

import billboards as bb

WIDTH = "132"
SEEN = ("ferry", "released otherwise", "private", "chinese")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the boards that commands are asked of, scored once."""
    home = tmp_path_factory.mktemp("transcripts")
    made = varied_boards(home)
    for name in SEEN:
        made[name]()
    (home / "ferry" / "rankings").mkdir(exist_ok=True)
    for name, board in asked_boards(tmp_path_factory.mktemp("compared")).items():
        bb.score(bb.save(board, home / name))
    return home


@pytest.fixture
def folder(scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of those boards, in which the commands are given."""
    copytree(scored, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", WIDTH)
    for name in [name for name in os.environ if name.startswith(("BILLBOARDS_", "HF_"))]:
        if name != APPROVE:
            monkeypatch.delenv(name)
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BILLBOARDS_JUDGE_CACHE", str(tmp_path / "answers.sqlite"))
    return tmp_path / "here"


COMMANDS = {
    "boards": """
        check ferry
        check ferry --json
        check ferry --recompute --sample 3 --json
        check private --recompute
        check otherwise --recompute --json
        check otherwise --recompute --sample 4 --seed 2
        check chinese --recompute
        check crowded
        check nowhere
        check ferry --sample 0
        check
        card ferry
        card ferry --json
        card ferry --csv
        card ferry --latex
        card crowded --markdown
        card private --markdown
        card chinese --html
        card ferry --template
        card ferry --template -o facts.toml
        card ferry --template -o facts.toml
        card ferry --fill facts.toml
        card ferry --fill nowhere.toml
        card ferry -o facts.md
        card chinese
        card otherwise --csv
        history ferry
        history private --json
        history private
        history private none
        history nowhere
        ensemble list ferry
        ensemble list ferry --json
        ensemble list private
        ensemble apply none ferry/generators/alpha.jsonl --board ferry
        schema board-toml
        schema check
        schema judges
        schema metrics
        schema catalogue
        new mine
        new mine
        new ferry
        check mine
        export mtme ferry -o exported
        export mtme ferry -o exported
        export mtme ferry -o exported --force --language-pair de-en
        export mtme compared -o compared-exported
        export hf private -o hub
        export hf private -o hub
        export hf private -o hub --force
        export xml private -o hub
        nonsense
        chek ferry
        version
        help card nothing
        rank
    """,
    "judgments": """
        judgments write crowded --format label-studio --key secret -o studio.json
        judgments write crowded --format appraise --key secret
        judgments write crowded --format mqm --key secret
        judgments write crowded --format csv --tests --campaign spring --key secret -o spring.csv
        judgments write crowded --format csv --campaign none
        judgments write compared --format csv --key secret
        judgments write compared --format mqm
        judgments write crowded --format none
        judgments write small --format csv --key secret
        judgments add crowded spring.csv --format csv --campaign summer -o summer
        judgments add crowded spring.csv --format csv --campaign summer -o summer
        judgments add crowded spring.csv --format csv --campaign summer -o summer --force
        judgments add small spring.csv --format csv --campaign summer -o other
        judgments add small spring.csv --format appraise --campaign summer -o other
        judgments add small nowhere.csv --format csv --campaign summer -o other
        judgments add small nowhere.csv --format csv -o other
        judgments add crowded studio.json --format label-studio --campaign studio -o studio
        check summer
    """,
    "scores": """
        scores add small added.csv --dry-run
        scores add small added.csv --new --dry-run
        scores add small added.csv --new
        scores add small added.csv
        scores add small changed.csv
        scores add small changed.csv --replace --json
        scores add small changed.csv --replace
        scores add small wide.tsv --metric edits --new --lower-is-better --needs nothing --json
        scores add small wide.tsv --metric edits2 --new --needs input,references --references A
        scores add small wide.tsv --metric edits3 --new --references A,Z
        scores add small wide.tsv --metric edits3 --needs input
        scores add small wide.tsv --metric edits3 --new --needs all
        scores add small wide.tsv
        scores add small wrong.csv --new
        scores add small nowhere.csv
        scores add nowhere added.csv
        scores add small lines.jsonl --metric words --generator g2 --new
        scores add small lines.jsonl --metric words --generator g9 --new
        check small
        rank small --draws 20 --csv --no-save
    """,
    "scoring": """
        score small --jobs 1
        score small --metric BLEU chrF(beta=1) ROUGE-L[recall] --jobs 1
        score small --metric TER --generator g1 --jobs 1
        score small --metric TER --references A --jobs 1
        score small --metric TER --references Z --jobs 1
        score small --metric TER --generator g9 --jobs 1
        score small --metric mine.py --jobs 1
        score small --metric broken.py --jobs 1
        score small --metric nothing.py --jobs 1
        score small --metric nowhere.py --jobs 1
        score --metric length small --jobs 1
        score chinese --metric BLEU --jobs 1
        score crowded --metric BLEU --jobs 1
        score ferry/board.toml
        score
        score small --draws 5
        score small --json
        score small --output a.txt
        score small --jobs 0
        score small --jobs -1
        score --output a.txt
        score --output a.txt --reference r.txt
        score --output a.txt --reference r.txt s.txt --metric BLEU chrF TER ROUGE-1 length --draws 50 --trials 50
        score --output a.txt b.txt c.txt --reference r.txt s.txt --metric BLEU TER --draws 50 --trials 50
        score --output a.txt b.txt c.txt --reference r.txt s.txt --metric BLEU TER --draws 50 --trials 50 --json
        score --output a.txt b.txt --reference r.txt --metric BLEU --draws 50 --trials 50 --latex --bold
        score --output a.txt b.txt --reference r.txt --metric TER chrF --draws 50 --trials 50 --markdown --bold
        score --output a.txt b.txt --reference r.txt --metric TER chrF --draws 50 --trials 50 --markdown
        score --output a.txt b.txt --reference r.txt --metric BLEU --no-compare --draws 50 --csv
        score --output a.txt b.txt --reference r.txt --metric BLEU --draws 50 --trials 50 --csv
        score --output one=a.txt two=b.txt --reference r.txt --metric BLEU --tokenize char --draws 50 --trials 50
        score --output one=a.txt one=b.txt --reference r.txt --metric BLEU
        score --output a.txt sub/a.txt --reference r.txt --metric BLEU --draws 50 --trials 50
        score --output a.txt --compare --reference r.txt
        score --output a.txt short.txt --reference r.txt
        score --output a.txt --reference nowhere.txt
        score --output zh.txt --reference zh.txt --metric BLEU --language zh --draws 50
        score --output zh.txt --reference zh.txt --metric BLEU(tokenize=char) --tokenize 13a --language zh --draws 50
        score --output zh.txt --reference zh.txt --metric BLEU --tokenize none-such
        score --output a.txt --reference r.txt --metric SARI --draws 20
        score --output a.txt --reference r.txt --source b.txt --metric SARI --draws 20 --seed 5
        score --output mark.txt --reference r.txt --metric length --draws 20
        score --output a.txt --reference r.txt --metric BLUE
        score --output a.txt --reference r.txt --generator g1
        score --output a.txt --reference r.txt --references A
        score --output empty.txt --reference empty.txt
        score --output a.txt --reference r.txt --table 9
    """,
    "metrics": """
        metrics BLEU
        metrics chrF++ --json
        metrics TER --markdown
        metrics BLEU(lowercase=True)
        metrics mine.py
        metrics nothing
        metrics length --json
        metrics judge-MQM
        metrics --verify nothing
        metrics --verify BLEU
        metrics --verify COMET --examples nowhere.toml
        judges
        judges --json
        judges --answers
        judges --spans small chrF
        judges --spans nowhere judge-MQM
        pack list --home packs
        pack list --home packs --json
        pack build nowhere --home packs
        pack check nothing small --home packs
        pack nothing
        completion bash
        completion fish
        completion zsh
        completion nothing
        published
        published beametrics
        published nothing
        published genie --csv
        get --list --csv
        get --list
        get
        get nothing
        get summeval --unverified
        get summeval --from nowhere
        get small --catalogue nowhere.toml
        get summeval -o small
        import
        import nothing
        import table
        import table nowhere.csv -o out
        import table rows.csv -o out
        import table rows.csv -o out
        import table rows.csv -o out --force --judgment quality
        check out
        report nowhere
        report small -o pages/report.html --no-studies --no-references --jobs 1
        report small --also nothing
        report small --human nobody
    """,
    "verified": """
        verify ferry
        verify ferry --json
        verify private --sample 3 --tolerance 0.1
        verify otherwise --metric chrF --csv
        verify otherwise --metric nothing
        verify otherwise --ranking nothing
        verify ferry --ranking 1
        verify ferry --key short
        verify ferry --key nowhere.pem
        verify nowhere
        verify ferry --sample 0
        verify ferry --tolerance -1
        verify a.txt
    """,
    "people": """
        annotators fit counts.csv
        annotators fit counts.csv --csv --model rate/fixed/1
        annotators fit counts.csv --json --model class/jeffreys/1 --threshold 0.5
        annotators fit counts.csv --latex --model rate/uniform/1 --accuracy 0.6
        annotators fit counts.csv --model nothing
        annotators fit counts.csv --threshold 1
        annotators fit rows.csv
        annotators fit nowhere.csv
        annotators checks controls.csv
        annotators checks controls.csv --json
        annotators checks controls.csv --corrupt --rounds 5 --share 0.5 --seed 3
        annotators checks counts.csv
        annotators checks controls.csv --share 2
        annotators simulate --rounds 1 --annotators 6 --most 10 --seed 2
        annotators simulate --rounds 1 --counts counts.csv --csv
        annotators simulate --rounds 0
        ratings agreement ratings.csv --item item --value stars --annotator worker --resamples 20
        ratings agreement ratings.csv --item item,worker --value stars --resamples 20
        ratings agreement ratings.csv --item item --value stars --annotator worker --dimensions of --resamples 20 --json
        ratings agreement ratings.csv --item item --value stars --dimensions of --dimension taste --resamples 20
        ratings agreement ratings.csv --item item --value stars --dimensions of --dimension tast
        ratings agreement ratings.csv --value stars
        ratings agreement ratings.csv --item item --value star
        ratings agreement ratings.csv --item item --value stars --range 5:1
        ratings agreement ratings.csv --item item --value stars --range five
        ratings agreement ratings.csv --item item --value stars --annotator worker --range 1:3
        ratings designs ratings.csv --item item --value stars --annotator worker --rounds 20 --labels 2 --csv
        ratings severity ratings.csv --item item --value stars --annotator worker --generator maker --latex
        ratings doubts ratings.csv --item item --value stars --annotator worker --range 1:5
        ratings days ratings.csv --item item --value stars --annotator worker --time at --generator maker --draws 20
        ratings nothing ratings.csv
    """,
    "suites": """
        suite new suite.toml small otherwise
        suite new suite.toml small
        suite new other.toml nowhere
        suite run suite.toml --jobs 1 --draws 20 --metric chrF --metric length --html pages/suite.html
        suite run suite.toml --jobs 1 --draws 20 --metric chrF --metric length --show p --csv
        suite run suite.toml --jobs 1 --draws 20 --metric chrF --add mine.py --show intervals --csv
        suite run suite.toml --jobs 1 --draws 20 --metric chrF --add broken.py
        suite tables suite.toml --metric chrF --metric length --draws 20 --show intervals
        suite tables suite.toml --task nothing --draws 20
        suite tables suite.toml --dimension adequacy --draws 20 --latex
        suite rank suite.toml --draws 20 --role other
        suite rank suite.toml --draws 20 --block one
        suite rank suite.toml --draws 20 --block none
        suite people suite.toml --draws 20
        suite people suite.toml --draws 20 --sides two --csv
        suite advise suite.toml --draws 20
        suite advise suite.toml --draws 20 --language en --references no --cost instant --json
        suite advise suite.toml --draws 20 --board small
        suite advise suite.toml --draws 20 --board smal
        suite tables nowhere.toml
        suite tables added.csv
        metric report chrF small otherwise --metric length --draws 20 --failures 1 --jobs 1 --html pages/metric.html
        metric report chrF --suite suite.toml --metric length --draws 20 --failures 1 --jobs 1 --imported no --json
        metric report mine.py small --metric length --draws 20 --failures 2 --jobs 1 --csv
        metric report chrF
        metric report chrF small --suite suite.toml
        metric report nothing small
        audit small --metric length --draws 5 --html pages/audit.html --no-save
        audit small otherwise --metric length --draws 5 --scatter pages/scatter.svg
        audit small nowhere --metric length --draws 5 --csv
        audit nowhere
    """,
}
TEXTS = {
    "a.txt": "The ferry leaves at noon.\nNobody saw the captain, they say.\nIt may rain tonight.\n\nGood night!\n",
    "b.txt": "Ferry left noon.\nNo one has seen the captain.\nRain may come tonight, they say.\nYes.\nGood evening!\n",
    "c.txt": "The ferry leaves at noon\nNobody saw a captain.\nIt might rain.\nNo.\nGood night.\n",
    "r.txt": (
        "The ferry leaves at noon.\nNobody has seen the captain.\nIt may rain tonight, they say.\nYes.\nGood night!\n"
    ),
    "s.txt": "At noon the ferry leaves.\nNo one saw the captain.\nRain is likely tonight.\nYes!\nSleep well!\n",
    "sub/a.txt": "A ferry leaves.\nNobody.\nRain.\nNo.\nNight.\n",
    "short.txt": "The ferry leaves at noon.\n",
    "zh.txt": "轮船中午离开。\n没有人看到船长。\n",
    "mark.txt": "\ufeffThe ferry.\nb\nc\nd\ne\n",
    "empty.txt": "",
    "mine.py": (
        '"""Words in capitals."""\n\n\ndef score(outputs, references, inputs):\n'
        "    return [sum(word[:1].isupper() for word in output.split()) + len(output) / 100 for output in outputs]\n"
    ),
    "broken.py": 'def score(outputs, references, inputs):\n    raise ValueError("no idea")\n',
    "nothing.py": "x = 1\n",
    "added.csv": "instance,generator,metric,score\n"
    + "".join(f"i{k},g{g},edits,{(k * (g + 2)) % 7}\n" for k in range(12) for g in range(2)),
    "changed.csv": "instance,generator,metric,score\n" + "".join(f"i{k},g0,edits,{k / 2}\n" for k in range(12)),
    "wrong.csv": "instance,generator,metric,score\ni0,g0,edits9,1\ni99,g0,edits9,1\ni1,g7,edits9,1\ni2,g0,edits9,x\n",
    "wide.tsv": "instance\tg0\tg1\tg2\n" + "".join(f"i{k}\t{k}\t{k + 1}\t{12 - k}\n" for k in range(12)),
    "lines.jsonl": "".join(f'{{"instance": "i{k}", "score": {k / 4}}}\n' for k in range(12)),
    "rows.csv": (
        "instance,generator,output,reference,quality\ni1,one,a ferry,the ferry,4\ni1,two,ferry,the ferry,2\n"
        "i2,one,at noon,at noon,5\ni2,two,noon,at noon,1\n"
    ),
    "counts.csv": (
        "annotator,right,wrong,kind\nann,19,1,positive\nann,18,1,negative\nbob,20,0,positive\nbob,0,16,negative\n"
        "cid,2,0,positive\ndan,5,5,positive\ndan,0,0,negative\neve,9,2,positive\n"
    ),
    "controls.csv": "".join(
        f"{person},s,{item},TGT,eng,deu,{60 + item},doc{item}#s,False,[],1,2\n"
        f"{person},s,{item + 50},BAD,eng,deu,{90 if person == 'd' else 20 + item},doc{item}#s#bad1,False,[],1,2\n"
        for person in "abcd"
        for item in range(8 if person == "c" else 12)
    )
    + "e,s,99,BAD,eng,deu,50,doc9#s#bad1,False,[],1,2\n",
    "ratings.csv": "item,worker,stars,of,maker,at\n"
    + "".join(
        f"{k},w{j},{(k * 7 + j * 3) % 5 + 1},{('taste', 'looks')[k % 2]},m{k % 3},2026-05-0{1 + j % 2}T10:{k:02}:00Z\n"
        for k in range(20)
        for j in range(4)
        if (k + j) % 7
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_what_was_approved(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, text in TEXTS.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    before = set(files_below(folder))
    told = all_ran(capsys, COMMANDS[name])
    written = files_below(folder, texts=(".toml", ".csv", ".tsv", ".md"))
    new = {path: lines for path, lines in written.items() if path not in before}
    approve(f"transcripts/{name}", {"commands": told, "files": new}, folder=folder.parent)
