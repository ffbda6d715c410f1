"""Generated headers, arguments and tensors for a given time: `make fuzz MINUTES=10`.

Repeats the tests of hypothesis that take anything, each time with another seed. A failure ends the command; hypothesis
has reduced it to a small example, and the last line repeats it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from tqdm import tqdm

from tools.progress import progress

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "header/test_header_mutations.py",
    "functions/test_any_arguments.py",
    "functions/test_any_tensors.py",
)
# Some versions of hypothesis say examples instead of test cases.
_COUNTS = re.compile(r"(\d+) passing(?: examples)?, (\d+) failing(?: examples)?,(?: and)? (\d+) invalid")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz",
        description=__doc__.partition("\n")[0],
        epilog="Other arguments, such as -k Pooling, are those of pytest.",
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    given, rest = parser.parse_known_args()
    begin, examples, seed = time.monotonic(), 0, given.seed
    bar = progress(None, "examples")
    while time.monotonic() < begin + 60 * given.minutes:
        # In the current folder, whose package is tested: `make fuzz` runs in the folder of the sanitized library.
        command = [sys.executable, "-m", "pytest", "-q", "--capture=sys", "-p", "no:cacheprovider"]
        command += ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}"]
        command += ["--hypothesis-profile=fuzz", "--hypothesis-show-statistics", f"--hypothesis-seed={seed}"]
        command += [*(str(ROOT / "tests" / test) for test in TESTS), *rest]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            tqdm.write(f"{done.stdout}\n{done.stderr}\nrepeat: {' '.join(command)}")
            return 1
        found = _COUNTS.findall(done.stdout)
        if not found:
            tqdm.write(f"{done.stdout}\nhypothesis printed no statistics")
            return 1
        new = sum(sum(map(int, counts)) for counts in found)
        examples, seed = examples + new, seed + 1
        bar.update(new)
    bar.close()
    print(f"seeds {given.seed} to {seed - 1}: {examples} examples in {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
