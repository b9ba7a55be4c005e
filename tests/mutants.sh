#!/usr/bin/env bash
# The mutation check of the judge: every condition of src/core/judge is deleted or inverted, one at
# a time, and the scenarios must notice. What they do not notice stands in tests/mutants.md with the
# reason; this fails if anything else survives.
#
# Wants cargo-mutants (cargo install cargo-mutants --locked). Arguments go to it:
#   tests/mutants.sh                          all of the judge
#   tests/mutants.sh -F rules/hung_tool       one rule
#   tests/mutants.sh --shard 0/4              a quarter
#   tests/mutants.sh --in-place               without a copy, one at a time
# What it changes and what it builds is set in .cargo/mutants.toml; the logs are in target/mutants.out.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo-mutants >/dev/null || { echo "no cargo-mutants: cargo install cargo-mutants --locked" >&2; exit 1; }

code=0
nice -n 10 cargo mutants --output target --no-times "$@" || code=$?
# 0: all were caught; 2: some were missed; 3: some did not end, which is noticed as well.
case $code in 0 | 2 | 3) ;; *) exit "$code" ;; esac

# Lines move, so a survivor is known by its file and its name.
unexplained=0
while IFS= read -r mutant; do
  name=$(sed -E 's/^src\/core\/judge\/([a-z_\/]+\.rs):[0-9]+:[0-9]+: /\1: /' <<<"$mutant")
  if ! grep -qF -- "\`$name\`" tests/mutants.md; then
    echo "survives unexplained: $mutant"
    unexplained=1
  fi
done <target/mutants.out/missed.txt
exit "$unexplained"
