#!/usr/bin/env bash
# Runs the targets under libFuzzer, one after another, and reports the findings. Exits with 1 if there are any.
#   tests/fuzz/run.sh                         all targets, five minutes each
#   MINUTES=60 tests/fuzz/run.sh NAME...      these targets, an hour each
#   REPLAY=FILE tests/fuzz/run.sh NAME        one input, for debugging
#
# Starts from assets/corpora/ and from the corpus of earlier runs. Writes only under target/fuzz:
#   findings/NAME/   inputs that panic, hang or take too much memory
#   new/NAME/        the fewest inputs that reach code which no committed case reaches: candidates for assets/corpora/
set -euo pipefail
cd "$(dirname "$0")/../.."

work=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
minutes=${MINUTES:-5}
if [ $# -eq 0 ]; then
    mapfile -t targets < <(find assets/corpora -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
else
    targets=("$@")
fi

# Instrumentation for libFuzzer: edge counters, and comparisons, so that it can guess constants. With an explicit --target,
# build scripts and procedural macros are not instrumented.
flags=(
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
)
RUSTFLAGS="${flags[*]}" cargo build --locked --release --manifest-path tests/fuzz/libfuzzer/Cargo.toml \
    --target "$host" --target-dir "$work/build"
fuzzer=$work/build/$host/release/quorate-libfuzzer

limits=(-timeout=10 -rss_limit_mb=2048 -max_len=66000)
if [ -n "${REPLAY:-}" ]; then
    FUZZ_TARGET=${targets[0]} exec "$fuzzer" "${limits[@]}" -artifact_prefix="$work/" "$REPLAY"
fi

found=0
for target in "${targets[@]}"; do
    export FUZZ_TARGET=$target
    cases=assets/corpora/$target
    corpus=$work/corpus/$target
    findings=$work/findings/$target
    new=$work/new/$target
    rm -rf "$new"
    mkdir -p "$corpus" "$findings" "$new"
    echo "== $target: $minutes minutes"
    "$fuzzer" "${limits[@]}" -dict="assets/corpora/${target%%_*}.dict" -max_total_time=$((minutes * 60)) \
        -artifact_prefix="$findings/" -print_final_stats=1 -verbosity="${VERBOSITY:-1}" "$corpus" "$cases" || found=1

    # The merge starts from the committed cases and adds inputs that reach new code; execution counts are ignored.
    merged=$(mktemp -d "$work/merge.XXXXXX")
    cp "$cases"/* "$merged/"
    "$fuzzer" "${limits[@]}" -artifact_prefix="$findings/" -set_cover_merge=1 -use_counters=0 "$merged" "$corpus" > "$work/merge.log" 2>&1 ||
        { tail -n 20 "$work/merge.log" >&2; found=1; }
    for file in "$merged"/*; do
        [ -e "$cases/${file##*/}" ] || mv "$file" "$new/"
    done
    rm -rf "$merged"
    echo "== $target: $(find "$new" -type f | wc -l) inputs reach what no committed case reaches: $new"
    if [ -n "$(find "$findings" -type f -print -quit)" ]; then
        found=1
        echo "== $target: findings in $findings; replay one with REPLAY=FILE tests/fuzz/run.sh $target" >&2
    fi
done
exit "$found"
