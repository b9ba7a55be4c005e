#!/bin/sh
# Takes all pictures of this folder, and the short film of the README, from the real program:
# `ocwatch --demo` in a pseudo terminal.
#
#   screenshots/take.sh             builds the program first
#   screenshots/take.sh PROFILE     another cargo profile than release, such as dev
set -eu

for tool in rsvg-convert:librsvg2-bin pngquant:pngquant apngasm:apngasm; do
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

# take_film NAME SIZE STEP...: `frame:SECONDS` saves what is seen, to be shown for so long.
take_film() {
    name=$1 size=$2
    shift 2
    echo "screenshots/$name.png"
    frames=$work/$name number=100
    mkdir "$frames"
    for step; do
        shift
        case $step in
        frame:*)
            number=$((number + 1))
            echo "delay=$((${step#frame:} * 10))/10" >"$frames/$number.txt"
            set -- "$@" "save:$frames/$number.svg"
            ;;
        *) set -- "$@" "$step" ;;
        esac
    done
    "$built/examples/shot" --program "$built/ocwatch" --size "$size" \
        'wait:✖ 5' 'wait:◆ 5' 'wait:▲ 5' "$@" -- --demo
    for svg in "$frames"/*.svg; do
        rsvg-convert --zoom 1.25 "$svg" -o "${svg%.svg}.png"
        pngquant --force --speed 1 --output "${svg%.svg}.png" 32 "${svg%.svg}.png"
    done
    apngasm "screenshots/$name.png" "$frames"/*.png 20 10 >/dev/null
}

take dashboard-120x40 120x40 type:jj 'wait:What helps' 'wait:chapter index  ses_'
take dashboard-80x24 80x24
take dashboard-40x12 40x12
take detail-80x24 80x24 type:jj key:Enter 'wait:What helps'
take help 100x36 key:? 'wait:every rule'
take explain 110x34 type:jj key:x 'wait:page down'
take abort-dialog 110x30 key:/ 'type:"Port the p' key:Enter 'gone:Refactor' type:jk key:Esc 'wait:Refactor' key:a 'wait:leave'
take reset-dialog 110x30 key:/ 'type:"Local m' key:Enter 'gone:Refactor' type:jk key:Esc 'wait:Refactor' key:R 'wait:mark a tool'
take wide-200x50 200x50 key:/ 'type:Ebook-TTS' key:Enter 'gone:Refactor' type:jk key:Esc 'wait:Refactor' 'wait:What helps'
take filter 120x30 key:/ 'type:level:needs-you|stuck age:>5m' 'wait:of 36'
take history 120x30 key:H 'wait:History'
take command 110x30 'type::so' 'wait:sort'
take_film tour 110x32 frame:3 \
    key:/ 'type:finding:waiting-perm' 'gone:Refactor' frame:2 key:Enter type:jj 'wait:▌◆ home   Port' frame:3 \
    'press:y:answer done' frame:3 key:Esc key:Esc 'wait:Refactor' \
    key:/ 'type:"Local m' 'gone:Refactor' frame:2 key:Enter type:jk key:Esc 'wait:Refactor' frame:2 \
    key:R 'wait:mark a tool' frame:4 'press:Enter:reset done' frame:4
