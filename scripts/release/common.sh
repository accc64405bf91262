# Sourced by the scripts of this folder: folders, version, times, tools and flags of a release.
#   DIST                   the folder for the artifacts; default: dist
#   TERRAPIN_RELEASE_WORK  the folder for intermediate files; default: ~/.cache/terrapin-release
#   CARGO_TARGET_DIR       default: target of the folder for intermediate files
#   PROFILE                the profile of cargo; default: release
# shellcheck shell=bash
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top"
dist=$(realpath -m "${DIST:-dist}")
work=$(realpath -m "${TERRAPIN_RELEASE_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/terrapin-release}")
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$work/target}
profile=${PROFILE:-release}
version=$(sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# All times in all artifacts are the commit's, and all texts are sorted by bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
TERRAPIN_COMMIT=$(git rev-parse --short=12 HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || TERRAPIN_COMMIT=$TERRAPIN_COMMIT-modified
export SOURCE_DATE_EPOCH TERRAPIN_COMMIT LC_ALL=C.UTF-8 TZ=UTC
part=$(basename "$0")
say() { printf '%s: %s\n' "$part" "$1"; }
# Exit status 77: the step cannot be done on this machine.
cannot() { printf '%s: %s\n' "$part" "$1" >&2; exit 77; }
fail() { printf '%s: %s\n' "$part" "$1" >&2; exit 1; }
mkdir -p "$dist" "$work"

# The Python packages of requirements.txt: compilers for other machines, builders and checkers of wheels.
tools=$work/tools
if ! cmp -s scripts/release/requirements.txt "$tools/requirements.txt"; then
    python3 -m venv --clear "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check \
        --requirement scripts/release/requirements.txt || { rm -rf "$tools"; cannot "the packages of scripts/release/requirements.txt cannot be installed"; }
    cp scripts/release/requirements.txt "$tools/requirements.txt"
fi
export PATH=$tools/bin:$PATH

# Two builds in different folders give the same bytes: the names of folders in the program are replaced.
# getrandom_backend: random numbers come from the system call, also if there is no /dev.
sysroot=$(rustc --print sysroot)
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src
export RUSTFLAGS="--remap-path-prefix=$registry=/registry --remap-path-prefix=$sysroot/lib/rustlib/src/rust=/rustc --remap-path-prefix=$top=/terrapin --remap-path-prefix=$CARGO_TARGET_DIR=/target --cfg getrandom_backend=\"linux_getrandom\""
export CFLAGS="-ffile-prefix-map=$registry=/registry -ffile-prefix-map=$CARGO_TARGET_DIR=/target"
export CXXFLAGS=$CFLAGS

# Sets `std` to the arguments of cargo for the target $1. Without an installed standard library of the target, it is built
# from its sources, which needs the component rust-src and unstable options.
standard_library() {
    std=()
    [ ! -d "$(rustc --print target-libdir --target "$1")" ] || return 0
    [ -d "$sysroot/lib/rustlib/src/rust/library" ] ||
        cannot "no standard library of $1: run \`rustup target add $1\` or \`rustup component add rust-src\`"
    export RUSTC_BOOTSTRAP=1
    std=(-Z build-std=std,panic_unwind)
}

# Makes the archive $1 of the folder $2 in $3: sorted, with the commit's time, without names of users.
archive() {
    tar --create --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode='u+rwX,go+rX,go-w' --directory "$3" "$2" | gzip --no-name --best >"$1"
}
