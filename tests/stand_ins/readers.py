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
    r"|numbered_lines\("
)

#: The first words of targets, by the beginning of the paths of the modules that they read through.
FUZZED: Mapping[str, tuple[str, ...]] = {
    "audit/": ("kept", "study"),
    "boards/cards.py": ("study",),
    "boards/formats/": ("judgments",),
    "boards/importers/": ("import",),
    "boards/kept.py": ("kept",),
    "boards/": ("board",),
    "cli/estimate.py": ("study",),
    "client.py": ("client",),
    "domain/written.py": ("kept",),
    "execution/environments.py": ("kept",),
    "execution/manifest.py": ("metric",),
    "execution/packs.py": ("kept",),
    "execution/verdicts.py": ("program",),
    "human/annotator_counts.py": ("counts",),
    "human/platforms/calling.py": ("platform",),
    "human/platforms/mturk.py": ("batch",),
    "human/template_files.py": ("template",),
    "metrics/discovery.py": ("spec",),
    "metrics/judges/": ("judge", "kept"),
    "metrics/neural/baselines.py": ("resource",),
    "metrics/neural/checkpoints.py": ("resource",),
    "metrics/wordnet.py": ("resource",),
    "service/rating_sources.py": ("study",),
    "site/generator_files.py": ("outputs",),
    "site/metric_folders.py": ("metric",),
    "site/restoring.py": ("backup",),
    "site/settings.py": ("site",),
    "store/archive.py": ("kept",),
    "store/cells.py": ("kept",),
    "store/moving.py": ("backup", "database"),
    "suite/": ("suite", "kept"),
    "web/oidc.py": ("log-in",),
}

#: Modules that are asked over HTTP: `test_hostile_requests.py`.
ASKED = ("web/api/", "web/pages/", "web/views/")

#: Why the others are not fuzzed.
TRUSTED: Mapping[str, str] = {
    "demo/texts.py": "reads files of this package",
    "execution/cluster_task.py": "unpickles what the server sent to its own cluster (docs/cluster.md)",
    "execution/driver.py": "runs inside the sandbox, on what the server wrote for it",
    "execution/launcher.py": "runs inside the sandbox, on what the server wrote for it",
    "execution/program.py": "reads lines that it wrote",
    "metrics/neural/cache.py": "keeps embeddings in SQLite; a damaged file is named (tests/metrics/neural)",
    "metrics/neural/clip.py": "Pillow reads the images, and says what is none",
    "metrics/spice.py": "reads the answer of a program that the user installed",
    "reports/": "reads SVG that it has drawn",
    "site/backup.py": "writes archives",
    "store/forgetting.py": "reads rows of the site's own database",
    "store/retention.py": "reads rows of the site's own database",
    "store/snapshots.py": "reads rows of the site's own database",
}
