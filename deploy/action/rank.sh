#!/usr/bin/env bash
# What action.yml runs: BOARD is checked, scored and ranked; the ranking goes to the job's summary and to the pull request.
set -euo pipefail
work="${RUNNER_TEMP:-$(mktemp -d)}"
note="$work/billboards-comment.md"

if ! billboards check "$BOARD" >"$work/billboards-check.txt" 2>&1; then
  { echo "### billboards: \`$BOARD\` has mistakes"; echo '```text'; head -n 50 "$work/billboards-check.txt"; echo '```'; } >"$note"
  failed=1
else
  metrics=()
  for name in ${METRICS:-}; do metrics+=(--metric "$name"); done
  billboards score "$BOARD" "${metrics[@]}"
  billboards rank "$BOARD" --no-save --json >"$work/billboards-ranking.json"
  { echo "### billboards: \`$BOARD\`"; billboards rank "$BOARD" --no-save --markdown; } >"$note"
  echo "ranking=$work/billboards-ranking.json" >>"${GITHUB_OUTPUT:-/dev/null}"
  failed=0
fi

cat "$note" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
if [ "${COMMENT:-true}" = true ] && [ -n "${PULL_REQUEST:-}" ]; then
  # The comment of an earlier run is written over, so that a pull request has one.
  gh pr comment "$PULL_REQUEST" --body-file "$note" --edit-last --create-if-none
fi
exit "$failed"
