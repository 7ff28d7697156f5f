"""sunny16: scenes rendered, metered, compared and inspected in photometric units.

Pictures are numpy arrays of float32 in nits (cd/m2), linear Rec.709, rows from the top. The
renderer runs in this process, without the interpreter's lock. The first call that draws opens a
Vulkan device and compiles its pipelines, which takes seconds; the device stays open for later calls
until `close()`, another `device`, a picture with lens flare ghosts, or the end of the interpreter.
Processes must not fork while it is open.
"""

from __future__ import annotations

import atexit
import json
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _native
from ._errors import (
    Canceled,
    DeviceError,
    DeviceLostError,
    Error,
    InternalError,
    LookError,
    OutputError,
    PictureError,
    SceneError,
    UsageError,
)

__all__ = [
    "Canceled",
    "DeviceError",
    "DeviceLostError",
    "Error",
    "InternalError",
    "LookError",
    "OutputError",
    "Picture",
    "PictureError",
    "SceneError",
    "UsageError",
    "close",
    "compare",
    "demos",
    "inspect",
    "meter",
    "render",
    "version",
]

#: Version of sunny16.
version: str = _native.version
__version__ = version

_Path = Union[str, "os.PathLike[str]"]
_Set = Mapping[str, Any]
_Progress = Callable[[float, str], Any]


class Picture(Dict[str, "numpy.ndarray"]):
    """Layers of a picture by name: ``"nits"`` is the picture, the others are AOVs.

    Arrays are float32: (height, width, 3) for colors and vectors, (height, width, 2) for velocity
    in pixels, (height, width) for one channel. Light is in nits, positions and depth are in meters.

    Attributes:
        metadata: what an EXR holds about the picture: renderer, camera, ``ev100`` and so on.
        warnings: warnings and notes of the scene and its look, as the program prints them.
    """

    def __init__(self, metadata: Dict[str, Any], warnings: List[str]) -> None:
        super().__init__()
        self.metadata = metadata
        self.warnings = warnings


def _value(value: Any) -> str:
    """A value of a look as `--set` takes it."""
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return " ".join(_value(item) for item in value)
    return str(value)


def _assignments(overrides: Optional[_Set]) -> List[str]:
    return [f"{path}={_value(value)}" for path, value in (overrides or {}).items()]


def _quality(quality: Optional[str]) -> List[str]:
    return [] if quality is None else [f"quality={quality}"]


def _size(size: Optional[Tuple[int, int]]) -> Optional[Tuple[int, int]]:
    if size is None:
        return None
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        width = height = 0
    if not (0 < width < 2**32 and 0 < height < 2**32):
        raise UsageError(
            f"invalid size {size!r}: expected (width, height) in pixels, each at least 1", 2
        )
    return width, height


def _number(name: str, value: Any, low: float, high: float, kind: type = int) -> Any:
    """A number in a range; None stays."""
    if value is None:
        return None
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not low <= number <= high:
        raise UsageError(f"invalid {name} {value!r}: expected {low:g} to {high:g}", 2)
    return number


def render(
    scene: Optional[_Path] = None,
    *,
    look: Optional[_Path] = None,
    set: Optional[_Set] = None,
    size: Optional[Tuple[int, int]] = None,
    camera: Optional[str] = None,
    renderer: str = "raster",
    spp: Optional[int] = None,
    bounces: Optional[int] = None,
    seed: int = 0,
    quality: Optional[str] = None,
    time: Optional[float] = None,
    frame: Optional[int] = None,
    fps: Optional[float] = None,
    aov: Union[str, Sequence[str]] = (),
    for_compare: bool = False,
    no_look: bool = False,
    root: Optional[_Path] = None,
    device: Optional[str] = None,
    progress: Optional[_Progress] = None,
) -> Picture:
    """Renders a picture; its values equal those of the EXR of ``sunny16 render`` bit for bit.

    Args:
        scene: a .glb or .gltf file, or a demo, e.g. ``"builtin:street"`` (default: the still life).
        look: look file (default: NAME.look.toml beside the scene, if it exists).
        set: overrides of look properties, e.g. ``{"camera.lens.f_stop": 8}``.
        size: width and height in pixels (default: the look's, else a height of 720).
        camera: name or number (``"#0"``) of the camera (default: the look's, else the first).
        renderer: ``"raster"`` or ``"path"``, the CPU path tracer.
        spp: samples a pixel (raster: the look's, else the tier's; path: 256).
        bounces: maximum path length of the path tracer (default: unlimited).
        seed: random seed of the path tracer.
        quality: direct, draft, standard, final or exact (default: the look's, else standard).
        time: time in seconds (default: the scene at rest).
        frame: number of a frame of the sequence that starts at ``time``, from 0; with the histories
            of the frames before it.
        fps: frames per second of ``frame`` (default: 24).
        aov: names of further layers, or ``"all"``. The path tracer always gives its components.
        for_compare: leave out bloom, grain and other effects that only the rasterizer has.
        no_look: ignore the look beside the scene.
        root: root folder of the files that the scene may refer to.
        device: Vulkan device of the rasterizer, by number or a part of its name.
        progress: called with the part that is done (0 to 1) and a text, at most 20 times a second,
            on the calling thread. Returning False cancels with `Canceled`; exceptions cancel too.

    Raises:
        SceneError, LookError, UsageError, DeviceError: as the program; `Error` is the base of all.
    """
    if renderer not in ("raster", "path"):
        raise UsageError(f"invalid renderer {renderer!r}: expected 'raster' or 'path'", 2)
    traced = renderer == "path"
    for name, given, of in (
        ("bounces", bounces is not None and not traced, "the path tracer (renderer='path')"),
        ("seed", seed != 0 and not traced, "the path tracer (renderer='path')"),
        ("device", device is not None and traced, "the rasterizer (renderer='raster')"),
    ):
        if given:
            raise UsageError(f"{name} is an argument of {of}; omit it, or choose that renderer", 2)
    request = {
        "scene": None if scene is None else os.fspath(scene),
        "look": None if look is None else os.fspath(look),
        "no_look": no_look,
        "root": None if root is None else os.fspath(root),
        "set": _quality(quality) + _assignments(set),
        "size": _size(size),
        "camera": camera,
        "path_traced": traced,
        "spp": _number("spp", spp, 1, 2**24 if traced else 4096),
        "bounces": _number("bounces", bounces, 0, 2**32 - 1),
        "seed": _number("seed", seed, 0, 2**32 - 1),
        "time": _number("time", time, 0, 1e9, float),
        "frame": _number("frame", frame, 0, 999999),
        "fps": _number("fps", fps, 1e-3, 1e6, float),
        "aov": [aov] if isinstance(aov, str) else list(aov),
        "for_compare": for_compare,
        "device": device,
    }
    layers, metadata, warnings = _native.render(request, progress)
    picture = Picture(json.loads(metadata), warnings)
    for name, height, width, channels, data in layers:
        values = numpy.frombuffer(data, dtype=numpy.float32).copy()
        shape = (height, width) if channels == 1 else (height, width, channels)
        picture[name or "nits"] = values.reshape(shape)
    return picture


def _options(**options: Any) -> List[str]:
    """Options of the command line, without those that are None."""
    words = []
    for name, value in options.items():
        if value is True:
            words.append("--" + name.replace("_", "-"))
        elif value is not None and value is not False:
            words.append("--{}={}".format(name.replace("_", "-"), value))
    return words


def _triple(point: Optional[Sequence[float]]) -> Optional[str]:
    return None if point is None else ",".join(repr(float(value)) for value in point)


def meter(
    scene: Optional[_Path] = None,
    *,
    look: Optional[_Path] = None,
    set: Optional[_Set] = None,
    size: Optional[Tuple[int, int]] = None,
    camera: Optional[str] = None,
    quality: Optional[str] = None,
    time: Optional[float] = None,
    mode: Optional[str] = None,
    at: Optional[str] = None,
    point: Optional[Sequence[float]] = None,
    normal: Optional[Sequence[float]] = None,
    receptor: Optional[str] = None,
    no_look: bool = False,
    root: Optional[_Path] = None,
    device: Optional[str] = None,
) -> Dict[str, Any]:
    """Readings of the light meter, as ``sunny16 meter --json`` writes them.

    Args:
        mode: spot, center, matrix, average, log-average or incident.
        at: position of the spot, ``"X,Y"`` in pixels or percent from the upper left.
        point: position of the incident light meter in meters.
        normal: direction that its receptor faces.
        receptor: flat or dome.

    Others as for `render`. Returns ``readings`` by mode with ``nits`` and ``ev100``, ``incident``
    with ``lux``, ``scene_ev100``, ``camera_ev100``, ``histogram``, ``dials`` and ``warnings``.
    """
    shape = _size(size)
    options = _options(
        look=None if look is None else os.fspath(look),
        no_look=no_look,
        root=None if root is None else os.fspath(root),
        size=None if shape is None else "{}x{}".format(*shape),
        camera=camera,
        quality=quality,
        time=_number("time", time, 0, 1e9, float),
        mode=mode,
        at=at,
        point=_triple(point),
        normal=_triple(normal),
        receptor=receptor,
    )
    options += [f"--set={assignment}" for assignment in _assignments(set)]
    name = [] if scene is None else ["--", os.fspath(scene)]
    return json.loads(_native.meter(["meter", *options, *name], device))


def inspect(
    scene: _Path,
    *,
    look: Optional[_Path] = None,
    set: Optional[_Set] = None,
    no_look: bool = False,
    root: Optional[_Path] = None,
) -> Dict[str, Any]:
    """The contents of a scene, as ``sunny16 inspect --json`` prints them: meshes, materials,
    textures, lights in all units, cameras, unsupported features, ``warnings``."""
    options = _options(
        look=None if look is None else os.fspath(look),
        no_look=no_look,
        root=None if root is None else os.fspath(root),
    )
    options += [f"--set={assignment}" for assignment in _assignments(set)]
    return json.loads(_native.inspect(["inspect", *options, "--", os.fspath(scene)]))


def _pixels(name: str, picture: Any) -> Tuple[str, Optional[Tuple[int, int, bytes]]]:
    """Name and pixels of a file, an array or a picture of `render`."""
    if isinstance(picture, (str, os.PathLike)):
        return os.fspath(picture), None
    if isinstance(picture, Picture):
        picture = picture["nits"]
    array = numpy.asarray(picture)
    if array.ndim == 2:
        array = numpy.repeat(array[:, :, None], 3, axis=2)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype.kind not in "fiu":
        raise UsageError(
            f"invalid {name}: expected a file, or an array of nits of shape (height, width, 3) or "
            f"(height, width); got shape {array.shape} of {array.dtype}",
            2,
        )
    data = numpy.ascontiguousarray(array, dtype=numpy.float32).tobytes()
    return name, (array.shape[1], array.shape[0], data)


def compare(
    test: Any,
    reference: Any,
    *,
    exposure: Union[float, str, None] = None,
    tone_mapper: Optional[str] = None,
    skip_edges: bool = False,
    pixels_per_degree: Optional[float] = None,
) -> Dict[str, Any]:
    """Error metrics of a picture and its reference, as ``sunny16 compare --json`` writes them.

    Args:
        test, reference: files (EXR, HDR, PNG, JPEG; a layer as ``"FILE.exr:LAYER"``), or arrays in
            nits of shape (height, width, 3) or (height, width), or pictures of `render`.
        exposure: EV100 of FLIP, or ``"auto"`` (default: that of a file's metadata, else auto).
        tone_mapper: linear, aces, agx or pbr-neutral.
        skip_edges: exclude pixels next to edges of the reference.
        pixels_per_degree: viewing distance for FLIP, in pixels per degree of visual angle.

    Returns ``verdict`` with ``rating`` and ``findings``, and ``numbers`` with ``flip``, ``bias``,
    ``rmse`` in nits and more. Bounds are the caller's: no value raises.
    """
    (test, test_pixels), (reference, reference_pixels) = (
        _pixels("test", test),
        _pixels("reference", reference),
    )
    options = _options(
        exposure=exposure,
        tone_mapper=tone_mapper,
        skip_edges=skip_edges,
        pixels_per_degree=pixels_per_degree,
    )
    arguments = ["compare", *options, "--", test, reference]
    return json.loads(_native.compare(arguments, test_pixels, reference_pixels))


def demos() -> List[Dict[str, str]]:
    """The demo scenes: ``name`` (the scene is ``"builtin:" + name``), ``title`` and ``about``."""
    return [dict(zip(("name", "title", "about"), demo)) for demo in _native.demos()]


def close() -> None:
    """Closes the device that is kept open. The next call that draws opens it again."""
    _native.close()


# Before the driver's own threads and libraries are unloaded.
atexit.register(close)
