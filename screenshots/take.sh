#!/bin/sh
# Takes all pictures of this folder from the real program: `ocwatch --demo` in a pseudo terminal.
#
#   screenshots/take.sh             builds the program first
#   screenshots/take.sh PROFILE     another cargo profile than release, such as dev
set -eu

for tool in rsvg-convert:librsvg2-bin pngquant:pngquant; do
    if ! command -v "${tool%%:*}" >/dev/null; then
        echo "${tool%%:*} is missing; on Debian: apt-get install ${tool##*:}" >&2
        exit 1
    fi
done
if ! fc-list 2>/dev/null | grep -q 'DejaVu Sans Mono'; then
    echo "the font DejaVu Sans Mono is missing; on Debian: apt-get install fontconfig fonts-dejavu-core" >&2
    exit 1
fi

cd "$(dirname "$0")/.."
profile=${1:-release}
cargo build --profile "$profile" --bin ocwatch --example shot
built=${CARGO_TARGET_DIR:-target}/$([ "$profile" = dev ] && echo debug || echo "$profile")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# take NAME SIZE STEP...: the steps come when everything is read and judged.
take() {
    name=$1 size=$2
    shift 2
    echo "screenshots/$name.png"
    "$built/examples/shot" --program "$built/ocwatch" --size "$size" \
        'wait:✖ 5' 'wait:◆ 5' 'wait:▲ 5' "$@" "save:$work/$name.svg" -- --demo
    rsvg-convert --zoom 1.5 "$work/$name.svg" -o "$work/$name.png"
    pngquant --force --speed 1 --output "screenshots/$name.png" 64 "$work/$name.png"
}

take dashboard-120x40 120x40 type:jj 'wait:What helps' 'wait:chapter index  ses_'
take dashboard-80x24 80x24
take dashboard-40x12 40x12
take detail-80x24 80x24 type:jj key:Enter 'wait:What helps'
take help 100x36 key:? 'wait:every rule'
take explain 110x34 type:jj key:x 'wait:page down'
take abort-dialog 110x30 key:/ 'type:Port the p' key:Enter 'gone:Refactor' type:jk key:Esc 'wait:Refactor' key:a 'wait:leave'
take reset-dialog 110x30 key:/ 'type:Local m' key:Enter 'gone:Refactor' type:jk key:Esc 'wait:Refactor' key:R 'wait:mark a tool'
