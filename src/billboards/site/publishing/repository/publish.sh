#!/bin/sh
# Checks the boards and writes the pages of this Space; run it after every change of a board.
set -eu
cd "$(dirname "$0")"
for board in boards/*/; do billboards check "$board"; done
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH
billboards publish boards/*/ -o public "$@"
