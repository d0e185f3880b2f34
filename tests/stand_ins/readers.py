"""Every module that takes bytes, JSON, TOML, CSV, XML, archives or databases apart, and the targets that fuzz it.

A test compares the list with the sources, so that a new reader is fuzzed or its reason to be trusted is given here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

#: What takes bytes or texts apart.
READING = re.compile(
    r"json\.loads?\(|json_value\(|\.json\(\)|tomllib\.loads?\(|toml_document\(|csv\.(?:Dict)?[Rr]eader\(|json_lines\("
    r"|tarfile\.open\(|gzip\.(?:open|decompress|GzipFile)|zipfile\.ZipFile\(io|read_table\(|ElementTree\.fromstring"
    r"|safe_load\(|torch\.load\(|pickle\.loads?\(|sqlite3\.connect\(|literal_eval\(|Image\.open\(|mmap\.mmap\("
    r"|numbered_lines\(|read_pickle\(|pickled_value\(|CheckpointReader\(|load_file\("
)

#: The first words of targets, by the beginning of the paths of the modules that they read through.
FUZZED: Mapping[str, tuple[str, ...]] = {
    "analyses/audit/": ("kept", "study"),
    "board/card_facts.py": ("study",),
    "catalogue/": ("catalogue",),
    "formats/": ("judgments",),
    "importers/": ("import",),
    "board/": ("board",),
    "analyses/estimate.py": ("study",),
    "client.py": ("client",),
    "reading.py": ("kept",),
    "_pickles.py": ("import",),
    "run/environments.py": ("kept",),
    "run/manifest.py": ("metric",),
    "run/packs.py": ("kept",),
    "run/verdicts.py": ("program",),
    "analyses/_annotators.py": ("counts",),
    "campaigns/crowd/calling.py": ("platform",),
    "campaigns/crowd/mturk.py": ("batch",),
    "campaigns/questions/_contract.py": ("template",),
    "campaigns/template_files.py": ("template",),
    "metrics/judges/": ("judge", "kept"),
    "metrics/neural/baselines.py": ("resource",),
    "metrics/neural/checkpoint_files.py": ("weights",),
    "metrics/neural/comet_checkpoint.py": ("resource",),
    "metrics/neural/pairs.py": ("weights",),
    "metrics/neural/packed_t5.py": ("weights",),
    "metrics/neural/published_values.py": ("weights",),
    "metrics/neural/weights.py": ("weights",),
    "metrics/neural/word_vectors.py": ("weights",),
    "metrics/spelling.py": ("spec",),
    "metrics/wordnet.py": ("resource",),
    "analyses/ratings/_ratings.py": ("study",),
    "site/submissions/generator_files.py": ("outputs",),
    "site/submissions/archives.py": ("metric",),
    "site/admin/backup.py": ("backup",),
    "site/settings.py": ("site",),
    "analyses/_archive.py": ("kept",),
    "api/claims.py": ("kept",),
    "signing.py": ("kept",),
    "board/cells.py": ("kept",),
    "site/database/row_lines.py": ("backup", "database"),
    "analyses/suite/": ("suite", "kept"),
    "site/accounts/oidc.py": ("log-in",),
}

#: Modules that are asked over HTTP: `test_hostile_requests.py`.
ASKED = ("site/accounts/", "site/boards/", "site/campaigns/", "site/submissions/", "site/web/")

#: Why the others are not fuzzed.
TRUSTED: Mapping[str, str] = {
    "analyses/_column_verdicts.py": "reads what `check --recompute` wrote; a damaged file is read over",
    "cli/mcp_server.py": "the protocol's own library reads what assistants send",
    "site/organise/reading.py": "runs in a process of its own with limits (tests/site/test_board_drafts.py)",
    "site/publishing/data_files.py": "reads the scripts of charts that it wrote a moment before",
    "site/publishing/walking.py": "reads what the site's own pages answer, in the same process",
    "site/publishing/folders.py": "reads the list of files that it wrote; a folder without one is refused",
    "site/publishing/repository/leaderboard.py": "runs on the action's own machine, on a checked-out repository",
    "analyses/_declaration.py": "reads modules of this package, for their help",
    "analyses/published/": "reads files of this package, chosen by name from a list",
    "demo/board.py": "reads a file of this package",
    "run/cluster_task.py": "unpickles what the server sent to its own cluster (docs/cluster.md)",
    "run/driver.py": "runs inside the sandbox, on what the server wrote for it",
    "run/launcher.py": "runs inside the sandbox, on what the server wrote for it",
    "run/endpoints.py": "checks every part of an answer (tests/run/test_endpoints.py has hostile ones)",
    "metrics/hf_evaluate.py": "reads options of a spec, which metrics/spelling.py has read",
    "metrics/neural/cache.py": "keeps embeddings in SQLite; a damaged file is named (tests/metrics/neural)",
    "metrics/neural/clip.py": "Pillow reads the images, and says what is none",
    "metrics/spice.py": "reads the answer of a program that the user installed",
    "show/": "reads SVG that it has drawn",
    "site/admin/backup.py": "writes archives",
    "site/admin/erasure.py": "reads rows of the site's own database",
    "site/database/retention.py": "reads rows of the site's own database",
    "site/boards/snapshots.py": "reads rows of the site's own database",
}
