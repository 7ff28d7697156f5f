#!/usr/bin/env python3
"""Time to an equal error: our path tracer beside Mitsuba on the same cores.

    DRJIT_LIBLLVM_PATH=... taskset -c 0,1 python equal_error.py target/release/sunny16 [case ...]

For each case both render at several samples a pixel, with other seeds than the references'; Mitsuba by each of its samplers that
`SAMPLERS` names. The error is the root mean square of the luminance's difference to a converged picture over its mean: the mean of
the case's mitsuba.exr and a long run of ours, so that neither is judged by its own noise alone.

It is said twice. A pixel that shows what glows is no noise, but one that shows its rim is: a sample meets a luminance there that is a
hundred times that of all else, or does not. Such pixels make up nearly all of the root mean square of independent samples, and
say how a sampler spreads the samples of a pixel, not how well light is found. So there is an error with the rims (all pixels that
do not show what glows with every sample) and one without (those too that are within two pixels of any that glows).

Times are seconds of the clock and of the processor. Ours: the clock as the program reports it, rendering alone; the processor of the
whole program less that of a run with one sample. Mitsuba's: around `mi.render`, with a run beforehand, which compiles. On a machine
that is not quiet only the processor's mean something. Error falls with samples, so that the time to an error is read off a line
through the points in logarithms; Mitsuba's is that of its better sampler.
"""

import os
import re
import resource
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
SAMPLERS = ["independent", "multi-jittered"]
LONG = int(os.environ.get("LONG", "1024"))
OURS = "sunny16"


def processor_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(binary, case, about, samples, seed, file):
    command = [binary, "render", str(case.folder / about["scene"]), "-o", file, "--renderer", "path"]
    command += ["--spp", str(samples), "--seed", str(seed), "--bounces", str(case.bounces)]
    command += ["--size", f"{case.width}x{case.height}", "--camera", about.get("camera", "Camera")]
    if "look" in about:
        command += ["--look", str(case.folder / about["look"])]
    before = processor_of_children()
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    processor = processor_of_children() - before
    seconds = re.search(r"on average, in ([0-9.]+) s", text)
    return referees.read(file), float(seconds.group(1)), processor


def theirs(scene, samples):
    # Compiled for this number of samples before the clock runs.
    np.array(mi.render(scene, spp=samples, seed=1))
    start, before = time.perf_counter(), time.process_time()
    pixels = np.array(mi.render(scene, spp=samples, seed=700_000), dtype=float)[..., :3]
    return pixels @ referees.LUMINANCE, time.perf_counter() - start, time.process_time() - before


def glowing(file):
    """Where each sample of a pixel meets what glows by itself, and where any does."""
    bitmap = mi.Bitmap(file)
    names = [field.name for field in bitmap.struct_()]
    pixels = np.array(bitmap).astype(float)
    emission = np.stack([pixels[..., names.index(f"emission.{channel}")] for channel in "RGB"], -1) @ referees.LUMINANCE
    return emission >= 0.999 * max(emission.max(), 1e-30), emission > 0


def widened(mask, by):
    """A mask and all within so many pixels of it, across and down."""
    padded = np.pad(mask, by)
    height, width = mask.shape
    return np.any([padded[y : y + height, x : x + width] for y in range(2 * by + 1) for x in range(2 * by + 1)], axis=0)


def error(picture, wanted, counted):
    return np.sqrt(np.mean((picture[counted] - wanted[counted]) ** 2)) / wanted[counted].mean()


def time_to(points, goal, which):
    """Seconds of the processor to an error, off a line through the logarithms."""
    logs = np.log(np.array([(processor, errors[which]) for _, processor, errors in points]))
    slope, start = np.polyfit(logs[:, 1], logs[:, 0], 1)
    return float(np.exp(start + slope * np.log(goal)))


def main():
    binary = sys.argv[1]
    root = Path(__file__).resolve().parent.parent / "cases"
    names = sys.argv[2:] or ["cornell_area", "grid_area_light_full", "light_room"]
    print("| case | renderer | samples | clock s | processor s | error with rims | without | 50, 90, 99, 99.9 % of pixels are within |")
    print("|---|---|---|---|---|---|---|---|")
    ends = []
    for name in names:
        case = case_scene.load(root / name)
        about = case_scene.tomllib.loads((case.folder / "case.toml").read_text())
        points = {}

        def tell(renderer, samples, picture, seconds, processor):
            errors = [error(picture, wanted, counted) for counted in (with_rims, without)]
            points.setdefault(renderer, []).append((seconds, processor, errors))
            off = np.abs(picture - wanted)[with_rims] / wanted[with_rims].mean()
            within = ", ".join(f"{value:.3f}" for value in np.percentile(off, [50, 90, 99, 99.9]))
            figures = f"{seconds:.2f} | {processor:.2f} | {errors[0]:.2%} | {errors[1]:.2%} | {within}"
            print(f"| {name} | {renderer} | {samples} | {figures} |", flush=True)

        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.exr")
            long, _, _ = ours(binary, case, about, LONG, 900, file)
            full, any_glow = glowing(file)
            with_rims, without = ~full, ~widened(any_glow, 2)
            wanted = (long + referees.read(case.folder / "mitsuba.exr")) / 2
            _, _, beside = ours(binary, case, about, 1, 7, file)
            for samples in SAMPLES:
                picture, seconds, processor = ours(binary, case, about, samples, 7, file)
                tell(OURS, samples, picture, seconds, processor - beside)
            for sampler in SAMPLERS:
                keep = mitsuba_case.Folder()
                scene = mitsuba_case.scene(case, keep, sampler, SAMPLES[0])
                for samples in SAMPLES:
                    tell(f"Mitsuba, {sampler}", samples, *theirs(scene, samples))
        for which, text in enumerate(["with rims", "without"]):
            # The error that all reach: the greatest of their least ones.
            goal = max(min(errors[which] for _, _, errors in list_) for list_ in points.values())
            at = {renderer: time_to(list_, goal, which) for renderer, list_ in points.items()}
            best = min((renderer for renderer in at if renderer != OURS), key=at.get)
            shown = " | ".join(f"{seconds:.2f}" for seconds in at.values())
            ends.append(f"| {name} | {text} | {goal:.2%} | {shown} | {at[OURS] / at[best]:.2f} ({best}) |")
    print(f"\n| case | rims | error | {' | '.join(points)} | ours over Mitsuba's better |\n|{'---|' * (len(points) + 4)}")
    print("\n".join(ends))


if __name__ == "__main__":
    main()
