#!/usr/bin/env bash
# What action.yml runs: BOARD is checked, scored and ranked; the ranking goes to the job's summary and to the pull request.
set -euo pipefail
work="${RUNNER_TEMP:-$(mktemp -d)}"
note="$work/billboards-comment.md"
# The comment of an earlier run is known by this line; other comments of the same account stay as they are.
mark="<!-- billboards: $BOARD -->"

rank_board() {
  local metrics=() names=()
  read -r -a names <<<"${METRICS:-}"
  for name in "${names[@]}"; do metrics+=(--metric "$name"); done
  billboards score "$BOARD" "${metrics[@]}" &&
    billboards rank "$BOARD" --no-save --json >"$work/billboards-ranking.json" &&
    billboards rank "$BOARD" --no-save --markdown >"$work/billboards-ranking.md"
}

failed=1
if ! billboards check "$BOARD" >"$work/billboards-said.txt" 2>&1; then
  title="\`$BOARD\` has mistakes"
elif ! rank_board 2> >(tee "$work/billboards-said.txt" >&2); then
  title="\`$BOARD\` can't be ranked"
else
  failed=0
fi

if [ "$failed" = 1 ]; then
  { echo "### billboards: $title"; echo '```text'; tail -n 50 "$work/billboards-said.txt"; echo '```'; echo "$mark"; } >"$note"
else
  { echo "### billboards: \`$BOARD\`"; cat "$work/billboards-ranking.md"; echo "$mark"; } >"$note"
  echo "ranking=$work/billboards-ranking.json" >>"${GITHUB_OUTPUT:-/dev/null}"
fi
cat "$note" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"

comment() {
  local comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" earlier
  earlier=$(gh api "$comments" --paginate --jq ".[] | select(.body | contains(\"$mark\")) | .id" | tail -n 1)
  if [ -n "$earlier" ]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$earlier" --field "body=@$note" >/dev/null
  else
    gh api --method POST "$comments" --field "body=@$note" >/dev/null
  fi
}

if [ "${COMMENT:-true}" = true ] && [ -n "${PULL_REQUEST:-}" ] && ! comment; then
  # So it is with pull requests from forks: the ranking stands in the summary, and the job is not failed by this.
  echo "::warning title=billboards::the comment could not be written; the ranking is in the summary of the job"
fi
exit "$failed"
