#!/usr/bin/env bash
# What the action's second step does: runs 'xebench ab' and adds what it found to the job's summary. Its settings are
# the environment variables that action.yml names; it ends with the status of 'xebench ab'.
set -uo pipefail -f

thresholds=()
for each in $THRESHOLD; do
  thresholds+=(--threshold "$each")
done
options=(--preset "$PRESET" --device "$DEVICE" "${thresholds[@]}" --output "$OUTPUT" --overwrite)
while IFS= read -r path; do
  [ -z "$path" ] || options+=(--path "$path")
done <<<"$PATHS"
case $FAIL_ON in
  both) FAIL_ON="slower missing" ;;
  nothing) FAIL_ON="" ;;
esac
for kind in $FAIL_ON; do
  options+=(--fail-on "$kind")
done
[ -z "$BUDGET" ] || options+=(--budget "$BUDGET")

# names are separated by blanks; -f keeps the shell from taking them for files
# shellcheck disable=SC2086
xebench ab "$BASE" "$HEAD" $NAMES "${options[@]}"
status=$?
if [ -e "$OUTPUT/manifest.json" ]; then
  xebench compare "$OUTPUT" "${thresholds[@]}" --format markdown >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
  xebench compare "$OUTPUT" "${thresholds[@]}" --format html --output "$OUTPUT.html"
  echo "run=$OUTPUT" >>"${GITHUB_OUTPUT:-/dev/null}"
fi
exit "$status"
