"""Times Filament on a GLB, through the Python package filly, without a window.

`python filament.py SCENE.glb SCENE.json WIDTHxHEIGHT FRAMES [shadows]` prints the median of a
frame in ms, by Filament's timer on the device. The camera is that of the JSON file (prepare.py),
exposed for EV100 7.9; with `shadows`, the directional lights cast shadows.
"""

import json
import pathlib
import statistics
import sys

import filly

EV100 = 7.9
WARM_UP = 10


def main(scene_file, description, size, frames, shadows):
    camera_of = json.loads(pathlib.Path(description).read_text())["camera"]
    width, height = (int(side) for side in size.split("x"))
    with filly.Renderer() as renderer:
        scene = renderer.create_scene()
        model = scene.load(scene_file)
        scene.shadows = shadows
        for light in model.lights:
            light.casts_shadows = shadows and light.type == "directional"
        camera = renderer.create_camera()
        camera.set_perspective(
            fov_y_deg=camera_of["vfov"], near=camera_of.get("near", 0.1), far=100.0
        )
        camera.position = [float(x) for x in camera_of["eye"]]
        camera.look_at([float(x) for x in camera_of["target"]])
        # Filament takes EV100, by the same definition as ours.
        camera.exposure = EV100
        scene.camera = camera
        target = renderer.create_render_target(width=width, height=height)
        times = {}
        # The timer's result is that of an earlier frame.
        while len(times) < WARM_UP + frames:
            renderer.render(scene, target)
            renderer.finish()
            stats = renderer.stats
            if stats.gpu_frame_ms is not None:
                times[stats.gpu_frame_number] = stats.gpu_frame_ms
            if stats.frames_rendered > 4 * (WARM_UP + frames):
                sys.exit("filament.py: the driver has no frame timer")
        if target.read()[..., :3].max() == 0:
            sys.exit("filament.py: the picture is black")
        print(f"{statistics.median(list(times.values())[WARM_UP:]):9.2f}")


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6) or sys.argv[5:] not in ([], ["shadows"]):
        sys.exit("usage: filament.py SCENE.glb SCENE.json WIDTHxHEIGHT FRAMES [shadows]")
    main(*sys.argv[1:4], int(sys.argv[4]), len(sys.argv) == 6)
