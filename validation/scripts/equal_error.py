#!/usr/bin/env python3
"""Time to an equal error: our path tracer beside Mitsuba on the same two cores.

    DRJIT_LIBLLVM_PATH=... taskset -c 0,1 python equal_error.py target/release/sunny16 [case ...]

For each case both render at several samples a pixel, another seed than the references'. The error is the root mean square of the
luminance's difference to a converged picture over its mean: the mean of the case's mitsuba.exr and a long run of ours, so that
neither is judged by its own noise alone; pixels brighter than the converged picture's 99.5th percentile are left out on both sides
(what glows is no noise, and an edge of it would be all of the error). The time is that of rendering alone: ours as the program
reports it, Mitsuba's around `mi.render` with a first run beforehand, which compiles. Error falls with the root of the samples, so
that the time to an error is read off a line through the points in logarithms.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("DRJIT_LIBLLVM_PATH", "/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mitsuba as mi
import numpy as np

import case_scene
import mitsuba_case
import referees

mi.set_variant("llvm_ad_rgb")

SAMPLES = [16, 64, 256]
LONG = 4096


def ours(binary, case, about, samples, seed, file):
    command = [binary, "render", str(case.folder / about["scene"]), "-o", file, "--renderer", "path"]
    command += ["--spp", str(samples), "--seed", str(seed), "--bounces", str(case.bounces)]
    command += ["--size", f"{case.width}x{case.height}", "--camera", about.get("camera", "Camera")]
    if "look" in about:
        command += ["--look", str(case.folder / about["look"])]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds = re.search(r"on average, in ([0-9.]+) s", text)
    return referees.read(file), float(seconds.group(1))


def error(picture, wanted, counted):
    return np.sqrt(np.mean((picture[counted] - wanted[counted]) ** 2)) / wanted[counted].mean()


def main():
    binary = sys.argv[1]
    root = Path(__file__).resolve().parent.parent / "cases"
    names = sys.argv[2:] or ["cornell_area", "grid_lamp_full", "light_room"]
    print("| case | renderer | samples | seconds | error |\n|---|---|---|---|---|")
    ends = []
    for name in names:
        case = case_scene.load(root / name)
        about = case_scene.tomllib.loads((case.folder / "case.toml").read_text())
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.exr")
            long, _ = ours(binary, case, about, LONG, 900, file)
            wanted = (long + referees.read(case.folder / "mitsuba.exr")) / 2
            counted = wanted < np.quantile(wanted, 0.995)
            points = {"sunny16": [], "Mitsuba": []}
            for samples in SAMPLES:
                picture, seconds = ours(binary, case, about, samples, 7, file)
                points["sunny16"].append((seconds, error(picture, wanted, counted)))
            keep = mitsuba_case.Folder()
            scene = mitsuba_case.scene(case, keep, "independent", SAMPLES[0])
            for samples in SAMPLES:
                # Compiled for this number of samples before the clock runs.
                np.array(mi.render(scene, spp=samples, seed=1))
                start = time.perf_counter()
                pixels = np.array(mi.render(scene, spp=samples, seed=700_000), dtype=float)[..., :3]
                seconds = time.perf_counter() - start
                points["Mitsuba"].append((seconds, error(pixels @ referees.LUMINANCE, wanted, counted)))
        for renderer, list_ in points.items():
            for samples, (seconds, wrong) in zip(SAMPLES, list_):
                print(f"| {name} | {renderer} | {samples} | {seconds:.2f} | {wrong:.3%} |", flush=True)
        # Seconds to the error that both reach: the greater of their least ones.
        goal = max(min(wrong for _, wrong in list_) for list_ in points.values())
        at = {}
        for renderer, list_ in points.items():
            logs = np.log(np.array(list_))
            slope, start = np.polyfit(logs[:, 1], logs[:, 0], 1)
            at[renderer] = float(np.exp(start + slope * np.log(goal)))
        ends.append(f"| {name} | {goal:.2%} | {at['sunny16']:.2f} | {at['Mitsuba']:.2f} | {at['Mitsuba'] / at['sunny16']:.2f} |")
    print("\n| case | error | sunny16 s | Mitsuba s | Mitsuba / sunny16 |\n|---|---|---|---|---|")
    print("\n".join(ends))


if __name__ == "__main__":
    main()
