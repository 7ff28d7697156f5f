"""Tests of the Python module, with the program of the same wheel as the reference.

`python -m unittest discover -s crates/python/tests`; SUNNY16 names the program (default: the one in
PATH). SUNNY16_LONG=1 runs 2,000 calls in place of 60.
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy

import exr
import sunny16

PROGRAM = os.environ.get("SUNNY16", "sunny16")
LONG = os.environ.get("SUNNY16_LONG") == "1"

SMALL = {"scene": "builtin:cornell", "size": (48, 32)}
FLAGS = ["builtin:cornell", "--size", "48x32"]

# A lamp that dims, and a stop of exposure.
TIMELINE = """
[timeline."camera.exposure.ev100"]
keys = [{ frame = 0, value = 5 }, { frame = 6, value = 6 }]
[timeline."camera.lens.f_stop"]
keys = [{ frame = 0, value = 2 }, { frame = 6, value = 8 }]
"""


def program(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bits(array):
    return numpy.ascontiguousarray(array, dtype="<f4").view("<u4")


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text=None):
        file = self.folder / name
        if text is not None:
            file.write_text(text)
        return file


class Pictures(Folder):
    def assert_equals_exr(self, picture, file):
        channels = exr.read(file)
        names = set()
        for name, layer in picture.items():
            planes = layer[:, :, None] if layer.ndim == 2 else layer
            prefix = "" if name == "nits" else name + "."
            endings = {1: ["V", "Z"], 2: ["XY"], 3: ["RGB", "XYZ"]}[planes.shape[2]]
            ending = next(e for e in endings if prefix + e[0] in channels)
            for index in range(planes.shape[2]):
                channel = prefix + ending[index] if planes.shape[2] > 1 else prefix + ending
                names.add(channel)
                same = numpy.array_equal(bits(planes[:, :, index]), bits(channels[channel]))
                self.assertTrue(same, channel)
        self.assertEqual(names, set(channels) - {"A"})
        self.assertGreater(picture["nits"].max(), 0)

    def test_raster_equals_the_exr(self):
        picture = sunny16.render(**SMALL, aov="all", spp=2, set={"camera.lens.f_stop": 4})
        file = self.file("a.exr")
        options = ["--aov", "all", "--aa-samples", "2", "--set", "camera.lens.f_stop=4"]
        program("render", *FLAGS, *options, "-o", str(file))
        self.assert_equals_exr(picture, file)
        self.assertEqual(picture["nits"].shape, (32, 48, 3))
        self.assertEqual(picture["depth"].shape, (32, 48))
        self.assertEqual(picture["velocity"].shape, (32, 48, 2))
        self.assertEqual(picture["nits"].dtype, numpy.float32)
        self.assertEqual(picture.metadata["renderer"], "raster")

    def test_path_traced_equals_the_exr(self):
        picture = sunny16.render(**SMALL, renderer="path", spp=4, seed=3, bounces=2, aov="normal")
        file = self.file("a.exr")
        options = ["--spp", "4", "--seed", "3", "--bounces", "2", "--aov", "normal"]
        program("render", *FLAGS, "--renderer", "path", *options, "-o", str(file))
        self.assert_equals_exr(picture, file)
        self.assertEqual(picture.metadata["seed"], 3)

    def test_frames_of_a_timeline_equal_the_exr(self):
        look = self.file("shot.look.toml", TIMELINE)
        for name, options in (("raster", []), ("path", ["--renderer", "path", "--spp", "2"])):
            spp = 2 if options else None
            picture = sunny16.render(**SMALL, look=look, frame=3, renderer=name, spp=spp)
            frames = ["--look", str(look), "--frames", "3-3", *options]
            program("render", *FLAGS, *frames, "-o", str(self.file(f"{name}.exr")))
            self.assert_equals_exr(picture, self.file(f"{name}.0003.exr"))
            self.assertAlmostEqual(picture.metadata["ev100"], 5.5)

    def test_pictures_do_not_depend_on_earlier_ones(self):
        first = sunny16.render(**SMALL, spp=1)
        sunny16.render("builtin:still_life", size=(32, 24), spp=1, quality="draft")
        again = sunny16.render(**SMALL, spp=1)
        sunny16.close()
        fresh = sunny16.render(**SMALL, spp=1)
        for other in (again, fresh):
            self.assertTrue(numpy.array_equal(bits(first["nits"]), bits(other["nits"])))


class Reports(Folder):
    def test_inspect_is_that_of_the_program(self):
        expected = json.loads(program("inspect", "builtin:cornell", "--json"))
        self.assertEqual(sunny16.inspect("builtin:cornell"), expected)

    def test_meter_is_that_of_the_program(self):
        file = self.file("a.json")
        program("meter", *FLAGS, "--mode", "spot", "--at", "50%,50%", "--json", str(file))
        readings = sunny16.meter(**SMALL, mode="spot", at="50%,50%")
        self.assertIsInstance(readings.pop("warnings"), list)
        self.assertEqual(readings, json.loads(file.read_text()))
        self.assertGreater(readings["readings"]["spot"]["nits"], 0)

    def test_compare_takes_arrays_and_files(self):
        one = sunny16.render(**SMALL, spp=1)
        file = self.file("a.exr")
        program("render", *FLAGS, "--aa-samples", "1", "-o", str(file))
        same = sunny16.compare(one, file)["numbers"]
        self.assertEqual(same["rmse"], 0)
        brighter = sunny16.compare(one["nits"] * 1.25, one["nits"], exposure="auto")["numbers"]
        self.assertAlmostEqual(brighter["bias"], 0.25, places=6)
        gray = numpy.ones((8, 8))
        self.assertEqual(sunny16.compare(gray, gray)["numbers"]["mean"], [1, 1])

    def test_demos_have_scenes(self):
        names = [demo["name"] for demo in sunny16.demos()]
        self.assertIn("still_life", names)
        self.assertEqual(program("--version").split()[-1], sunny16.version)


class Documentation(unittest.TestCase):
    def test_the_example_runs(self):
        page = pathlib.Path(__file__).resolve().parents[3] / "docs/python.md"
        code = page.read_text().split("```python\n")[1].split("```")[0]
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        self.assertIn("(120, 160, 3) (120, 160, 3)\n", run.stdout)
        self.assertIn("not rendered: ", run.stdout)


class Errors(Folder):
    def test_errors_have_types_places_and_the_programs_message(self):
        look = self.file("bad.look.toml", "[camera.lens]\n\n  f_stop = -1\n")
        with self.assertRaises(sunny16.LookError) as caught:
            sunny16.render(**SMALL, look=look)
        error = caught.exception
        self.assertEqual((error.file, error.line, error.exit_code), (str(look), 3, 4))
        done = subprocess.run(
            [PROGRAM, "render", *FLAGS, "--look", str(look), "-o", str(self.file("a.exr"))],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.stderr.strip(), f"sunny16: error: {error}")
        self.assertIsInstance(error, sunny16.Error)

    def test_each_kind_of_error(self):
        broken = self.file("broken.glb", "no glTF")
        missing = self.folder / "missing.glb"
        cases = [
            (sunny16.SceneError, lambda: sunny16.render(missing), str(missing)),
            (sunny16.SceneError, lambda: sunny16.inspect(broken), str(broken)),
            (sunny16.LookError, lambda: sunny16.render(**SMALL, set={"no.such": 1}), None),
            (sunny16.UsageError, lambda: sunny16.render(**SMALL, camera="none"), None),
            (sunny16.UsageError, lambda: sunny16.render(**SMALL, aov="none"), None),
            (sunny16.UsageError, lambda: sunny16.render(scene="builtin:none"), None),
            (sunny16.UsageError, lambda: sunny16.render(size=(0, 4)), None),
            (sunny16.UsageError, lambda: sunny16.render(size=7), None),
            (sunny16.UsageError, lambda: sunny16.render(spp=0), None),
            (sunny16.UsageError, lambda: sunny16.render(seed=1), None),
            (sunny16.UsageError, lambda: sunny16.render(renderer="cycles"), None),
            (sunny16.UsageError, lambda: sunny16.meter(**SMALL, mode="none"), None),
            (sunny16.UsageError, lambda: sunny16.compare(numpy.ones((2, 2, 4)), 1), None),
            (sunny16.UsageError, lambda: sunny16.compare(numpy.ones(3), numpy.ones(3)), None),
            (sunny16.PictureError, lambda: sunny16.compare(broken, broken), str(broken)),
            (sunny16.DeviceError, lambda: sunny16.render(**SMALL, device="none"), None),
        ]
        for kind, call, file in cases:
            with self.subTest(kind=kind.__name__, file=file):
                with self.assertRaises(sunny16.Error) as caught:
                    call()
                self.assertIs(type(caught.exception), kind, str(caught.exception))
                self.assertEqual(caught.exception.file, file)
                self.assertTrue(str(caught.exception))
        self.assertTrue(issubclass(sunny16.UsageError, ValueError))


class Progress(Folder):
    # Minutes of work, if it is not canceled.
    ENDLESS = [
        {"renderer": "path", "spp": 1 << 20, "size": (320, 240), "scene": "builtin:cornell"},
        {"spp": 4096, "size": (320, 240), "scene": "builtin:cornell"},
    ]

    def test_progress_grows_to_one(self):
        for options in ({"renderer": "path", "spp": 8}, {"spp": 4}):
            seen = []
            sunny16.render(**SMALL, **options, progress=lambda *news: seen.append(news))
            parts = [part for part, _ in seen]
            self.assertEqual(parts, sorted(parts))
            self.assertEqual(parts[-1], 1)
            self.assertTrue(all(isinstance(text, str) for _, text in seen))

    def test_a_callback_cancels(self):
        for options in self.ENDLESS:
            with self.assertRaises(sunny16.Canceled) as caught:
                sunny16.render(**options, progress=lambda part, text: False)
            self.assertEqual(caught.exception.exit_code, 130)

            def fail(part, text):
                raise KeyError("mine")

            with self.assertRaises(KeyError):
                sunny16.render(**options, progress=fail)
        # The device works afterwards.
        self.assertGreater(sunny16.render(**SMALL, spp=1)["nits"].max(), 0)

    def test_ctrl_c_interrupts(self):
        for options in self.ENDLESS:
            code = (
                "import sunny16\n"
                "try:\n"
                "    show = lambda *news: print('on', flush=True)\n"
                f"    sunny16.render(**{options!r}, progress=show)\n"
                "except KeyboardInterrupt:\n"
                "    print('interrupted')\n"
            )
            run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
            self.assertEqual(run.stdout.readline(), "on\n")
            run.send_signal(signal.SIGINT)
            self.assertTrue(run.communicate()[0].endswith("interrupted\n"))
            self.assertEqual(run.returncode, 0)

    def test_other_threads_run_meanwhile(self):
        for options in ({"renderer": "path", "spp": 64, "size": (160, 120)}, {"spp": 16}):
            options = {**SMALL, **options}
            counted, running = [0], threading.Event()

            def count():
                while not running.is_set():
                    counted[0] += 1
                    time.sleep(0.001)

            thread = threading.Thread(target=count)
            thread.start()
            # Started before the call, counted during it.
            while not counted[0]:
                pass
            before = counted[0]
            sunny16.render(**options)
            during = counted[0] - before
            running.set()
            thread.join()
            self.assertGreater(during, 10)

    def test_threads_render_at_once(self):
        expected = sunny16.render(**SMALL, spp=1)["nits"]
        results = [None] * 3

        def draw(index):
            results[index] = sunny16.render(**SMALL, spp=1)["nits"]

        threads = [threading.Thread(target=draw, args=(index,)) for index in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        for result in results:
            self.assertTrue(numpy.array_equal(bits(result), bits(expected)))


class Leaks(unittest.TestCase):
    @staticmethod
    def resident():
        """Memory in KiB, without what the allocator keeps for reuse."""
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    @staticmethod
    def open_files():
        return len(os.listdir("/proc/self/fd"))

    def test_calls_leak_nothing(self):
        calls = 2000 if LONG else 60
        warm_up = calls // 4
        scene = {"scene": "builtin:cornell", "size": (8, 8), "quality": "direct", "spp": 1}
        kinds = [
            lambda: sunny16.render(**scene),
            lambda: sunny16.render("builtin:cornell", size=(8, 8), renderer="path", spp=1),
            lambda: sunny16.render(**scene, aov=["normal", "depth"]),
            lambda: self.assertRaises(sunny16.Error, sunny16.render, **scene, camera="none"),
        ]
        begun = time.monotonic()
        for call in range(calls):
            kinds[call % len(kinds)]()
            if call == warm_up:
                memory, files = self.resident(), self.open_files()
                threads = threading.active_count()
        grown = self.resident() - memory
        measured = calls - warm_up
        seconds = time.monotonic() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"\n{calls} calls in {seconds:.1f} s: {grown:+} KiB after {warm_up}, peak {peak} KiB")
        self.assertEqual(self.open_files(), files)
        self.assertEqual(threading.active_count(), threads)
        # A picture of 8x8 with its scene is more than 64 KiB: a leak of one a call shows.
        self.assertLess(grown, max(16 * measured, 8192))


if __name__ == "__main__":
    unittest.main()
