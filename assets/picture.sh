#!/usr/bin/env bash
# Makes the README's picture anew: plays `fleet demo` in a pseudo-terminal and writes what is seen to assets/screen.svg.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
FLEET_PICTURE="$PWD/assets/screen.svg" cargo test --locked --test it picture::the_demo
echo "wrote assets/screen.svg"
