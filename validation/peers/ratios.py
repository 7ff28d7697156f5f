"""Medians of the times that `scripts/beside_peers.sh` collects, and their ratios to ours.

`python3 ratios.py TIMES.txt`; each line has a configuration, a renderer and ms, separated by tabs.
"""

import statistics
import sys


def main(file):
    times = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            configuration, renderer, ms = line.rstrip("\n").split("\t")
            times.setdefault(configuration, {}).setdefault(renderer, []).append(float(ms))
    for configuration, by_renderer in times.items():
        print(configuration)
        medians = {name: statistics.median(ms) for name, ms in by_renderer.items()}
        ours = medians.get("sunny16")
        for name, median in medians.items():
            low, high = min(by_renderer[name]), max(by_renderer[name])
            ratio = ""
            if ours is not None and name != "sunny16":
                ratio = f"  ours takes {ours / median:.2f} of it"
            print(f"  {name:<9} {median:9.2f} ms ({low:.2f} to {high:.2f}){ratio}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: ratios.py TIMES.txt")
    main(sys.argv[1])
