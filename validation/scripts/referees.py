#!/usr/bin/env python3
"""What the two outside renderers are from each other: a table for the README.

    python referees.py validation/cases

Mean of the picture; root mean square of the relative difference of 8x8 blocks; the greatest and the least difference of a region
(a ball, a surface), with its name.
"""

import sys
import tomllib
from pathlib import Path

import mitsuba as mi
import numpy as np

if mi.variant() is None:
    mi.set_variant("scalar_rgb")
LUMINANCE = np.array([0.2126390059, 0.7151686788, 0.0721923154])


def read(file):
    bitmap = mi.Bitmap(str(file))
    names = [field.name for field in bitmap.struct_()]
    pixels = np.array(bitmap).astype(float)
    return np.stack([pixels[..., names.index(channel)] for channel in "RGB"], -1) @ LUMINANCE


def inside(region, shape):
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    if "rect" in region:
        x0, y0, x1, y1 = region["rect"]
        return (x >= x0) & (x < x1) & (y >= y0) & (y < y1)
    cx, cy, r = region["circle"]
    return (x + 0.5 - cx) ** 2 + (y + 0.5 - cy) ** 2 < r * r


def blocks(a, b):
    height, width = a.shape[0] // 8 * 8, a.shape[1] // 8 * 8
    mean = lambda p: p[:height, :width].reshape(height // 8, 8, width // 8, 8).mean((1, 3))
    a, b = mean(a), mean(b)
    lit = b > 1e-6 * b.max()
    return np.sqrt(np.mean((a[lit] / b[lit] - 1) ** 2))


def main(folder):
    print("| case | mean | 8x8 blocks, rms | regions |\n|---|---|---|---|")
    for case in sorted(Path(folder).iterdir()):
        files = [case / "cycles.exr", case / "mitsuba.exr"]
        if not all(file.is_file() for file in files):
            continue
        cycles, mitsuba = map(read, files)
        about = tomllib.loads((case / "case.toml").read_text())
        regions = {}
        for region in about.get("region", []):
            part = inside(region, cycles.shape)
            regions[region["name"]] = cycles[part].mean() / mitsuba[part].mean() - 1
        text = ""
        if regions:
            low, high = min(regions, key=regions.get), max(regions, key=regions.get)
            text = f"{regions[low]:+.2%} ({low}) to {regions[high]:+.2%} ({high})"
        mean = cycles.mean() / mitsuba.mean() - 1
        print(f"| {case.name} | {mean:+.3%} | {blocks(cycles, mitsuba):.2%} | {text} |")


if __name__ == "__main__":
    main(sys.argv[1])
