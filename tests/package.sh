#!/usr/bin/env bash
# The packaged crate must build and run without the repository around it: packs it, unpacks it into a
# folder of its own, builds it there, and runs what needs no server. Shares the clone's target folder, so
# that only ocwatch itself is built again.
set -euo pipefail
cd "$(dirname "$0")/.."
clone=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The working copy as it is, so that it can be tried before a commit too.
cargo package --locked --no-verify --allow-dirty --quiet --target-dir "$folder/packed"
tar -xzf "$folder"/packed/package/ocwatch-*.crate -C "$folder"
cd "$folder"/ocwatch-*/
cargo build --locked --quiet --bin ocwatch --target-dir "$clone/target"

export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/config" XDG_STATE_HOME="$folder/home/state"
mkdir "$HOME"
cd "$HOME"
ocwatch=$clone/target/debug/ocwatch
"$ocwatch" --version
"$ocwatch" status --demo --json --settle 0 | grep -q '"schema": "ocwatch.status/1"'
file=$("$ocwatch" config init)
"$ocwatch" config check "$file"
echo "the packaged crate builds and runs"
