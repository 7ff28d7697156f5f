"""A validation case, read without any code of the renderer under test: TOML, GLB, Radiance .hdr and LM-63 by the standard
library and numpy. Gives world-space triangles, materials, lamps in candela, lux and nits, the camera, the surroundings.

It reads what the cases use, and stops at what it does not know rather than leave it out.
"""

import json
import math
import struct
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass
class Material:
    """glTF 2.0 metallic/roughness, with the extensions that the cases use."""

    name: str = ""
    base: tuple = (1.0, 1.0, 1.0)
    metallic: float = 1.0
    roughness: float = 1.0
    emission: tuple = (0.0, 0.0, 0.0)
    transmission: float = 0.0
    ior: float = 1.5
    thickness: float = 0.0
    attenuation_distance: float = math.inf
    attenuation_color: tuple = (1.0, 1.0, 1.0)


@dataclass
class Mesh:
    """Triangles in the world's space."""

    name: str
    positions: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    material: Material


@dataclass
class Lamp:
    """kind: point, spot, sun (parallel), sphere, disk, rectangle, tube. `strength` by channel: cd on the axis (point, spot), lx
    (sun), nit (shapes). `pose` holds x, y, z and place as columns; it shines along -z."""

    name: str
    kind: str
    strength: np.ndarray
    pose: np.ndarray
    inner: float = 0.0
    outer: float = 0.0
    radius: float = 0.0
    width: float = 0.0
    height: float = 0.0
    length: float = 0.0
    # Candela over the greatest, by angle from the axis (rad): measured lamps.
    profile: tuple | None = None


@dataclass
class Camera:
    """`pose` as a lamp's. Perspective: `fov` vertical (rad); parallel: `half_height` (m). A lens: radius and focus (m)."""

    pose: np.ndarray
    fov: float | None
    half_height: float | None
    lens_radius: float = 0.0
    focus: float = 0.0


@dataclass
class Surroundings:
    """Nits by channel, equirectangular, top row first; the middle is -z, to the right is +x."""

    nits: np.ndarray

    def at(self, directions):
        """Bilinear between the middles of pixels, the rows at the poles repeated."""
        height, width, _ = self.nits.shape
        u = np.arctan2(directions[..., 0], -directions[..., 2]) / (2 * np.pi) + 0.5
        v = 0.5 - np.arcsin(np.clip(directions[..., 1], -1, 1)) / np.pi
        x, y = u * width - 0.5, np.clip(v * height - 0.5, 0, height - 1)
        x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
        fx, fy = (x - x0)[..., None], (y - y0)[..., None]
        y1 = np.minimum(y0 + 1, height - 1)
        row = lambda r: self.nits[r, x0 % width] * (1 - fx) + self.nits[r, (x0 + 1) % width] * fx
        return row(y0) * (1 - fy) + row(y1) * fy

    def resampled(self, width, height, rows_at_poles):
        """The same as a finer picture. `rows_at_poles`: the first and last rows lie on the poles (Mitsuba), else half a row off."""
        v = np.arange(height) / (height - 1) if rows_at_poles else (np.arange(height) + 0.5) / height
        u = (np.arange(width) + 0.5) / width
        turn, lift = np.meshgrid((u - 0.5) * 2 * np.pi, (0.5 - v) * np.pi)
        directions = np.stack([np.cos(lift) * np.sin(turn), np.sin(lift), -np.cos(lift) * np.cos(turn)], -1)
        return self.at(directions)


@dataclass
class Medium:
    """A box: `pose` takes the cube of side 1 around the origin to the world. 1/m by channel; `grid` is a factor of them,
    densities at the middles of voxels (z, y, x), or none."""

    name: str
    pose: np.ndarray
    absorption: np.ndarray
    scattering: np.ndarray
    anisotropy: float
    grid: np.ndarray | None


@dataclass
class Case:
    name: str
    folder: Path
    width: int
    height: int
    bounces: int
    camera: Camera
    meshes: list = field(default_factory=list)
    lamps: list = field(default_factory=list)
    surroundings: Surroundings | None = None
    media: list = field(default_factory=list)


COMPONENTS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def read_glb(path):
    data = path.read_bytes()
    magic, version, _ = struct.unpack_from("<4sII", data)
    assert magic == b"glTF" and version == 2, path
    length, _ = struct.unpack_from("<II", data, 12)
    document = json.loads(data[20 : 20 + length])
    return document, data[28 + length :]


def accessor(document, binary, index):
    about = document["accessors"][index]
    view = document["bufferViews"][about["bufferView"]]
    assert "byteStride" not in view and "sparse" not in about
    start = view.get("byteOffset", 0) + about.get("byteOffset", 0)
    width = WIDTHS[about["type"]]
    dtype = np.dtype("<" + COMPONENTS[about["componentType"]])
    values = np.frombuffer(binary, dtype, about["count"] * width, start)
    return values.reshape(-1, width) if width > 1 else values


def read_material(value):
    surface = value.get("pbrMetallicRoughness", {})
    extensions = value.get("extensions", {})
    known = {
        "KHR_materials_emissive_strength",
        "KHR_materials_transmission",
        "KHR_materials_ior",
        "KHR_materials_volume",
    }
    assert set(extensions) <= known, f"unknown {set(extensions) - known}"
    assert not any("exture" in key for part in (value, surface) for key in part), "textures are not read"
    strength = extensions.get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
    volume = extensions.get("KHR_materials_volume", {})
    return Material(
        name=value.get("name", ""),
        base=tuple(surface.get("baseColorFactor", [1, 1, 1, 1])[:3]),
        metallic=surface.get("metallicFactor", 1.0),
        roughness=surface.get("roughnessFactor", 1.0),
        emission=tuple(e * strength for e in value.get("emissiveFactor", [0, 0, 0])),
        transmission=extensions.get("KHR_materials_transmission", {}).get("transmissionFactor", 0.0),
        ior=extensions.get("KHR_materials_ior", {}).get("ior", 1.5),
        thickness=volume.get("thicknessFactor", 0.0),
        attenuation_distance=volume.get("attenuationDistance", math.inf),
        attenuation_color=tuple(volume.get("attenuationColor", [1, 1, 1])),
    )


def local_matrix(node):
    assert not {"translation", "rotation", "scale"} & set(node), "transforms are matrices here"
    return np.array(node.get("matrix", np.eye(4).T.ravel()), float).reshape(4, 4).T


def read_profile(path):
    """LM-63, type C, one horizontal angle: candela by angle from the axis, over the greatest, and that."""
    text = path.read_text()
    assert "TILT=NONE" in text
    numbers = [float(n) for n in text.split("TILT=NONE")[1].replace(",", " ").split()]
    multiplier, vertical, horizontal, kind = numbers[2], int(numbers[3]), int(numbers[4]), numbers[5]
    assert horizontal == 1 and kind == 1 and numbers[10] == 1
    angles = np.radians(numbers[13 : 13 + vertical])
    candela = np.array(numbers[14 + vertical : 14 + 2 * vertical]) * multiplier * numbers[10]
    return angles, candela / candela.max(), candela.max()


def spot_flux(inner, outer):
    """Flux (lm) over axial intensity (cd) of KHR_lights_punctual's falloff, squared."""
    ci, co = math.cos(inner), math.cos(outer)
    return 2 * math.pi * ((1 - ci) + (ci - co) / 3)


def read_lamp(name, light, pose, look, folder):
    settings = dict(look)
    if not settings.pop("enabled", True):
        return None
    kind = {"point": "point", "spot": "spot", "directional": "sun"}[light["type"]]
    kind = settings.pop("shape", kind)
    color = np.array(light.get("color", [1, 1, 1]), float)
    cone = light.get("spot", {})
    lamp = Lamp(name, kind, color * light.get("intensity", 1.0), pose)
    lamp.inner, lamp.outer = cone.get("innerConeAngle", 0.0), cone.get("outerConeAngle", math.pi / 4)
    for key in ("radius", "width", "height", "length"):
        setattr(lamp, key, settings.pop(key, 0.0))
    area = {
        "sphere": 4 * math.pi * lamp.radius**2,
        "disk": math.pi * lamp.radius**2,
        "rectangle": lamp.width * lamp.height,
        "tube": 2 * math.pi * lamp.radius * lamp.length + 4 * math.pi * lamp.radius**2,
    }.get(kind)
    # A colour of the file multiplies the strength; the look's strength replaces the file's intensity.
    if "ies" in settings:
        angles, shape, peak = read_profile(folder / settings.pop("ies"))
        lamp.profile = (angles, shape)
        if "lumens" not in settings and "candela" not in settings:
            # The file's own candela stand where the scene's lamp has the same greatest intensity.
            assert abs(peak / light["intensity"] - 1) < 1e-6, "give lamp and profile one greatest intensity"
    if "nits" in settings:
        lamp.strength = color * settings.pop("nits")
    elif "lux" in settings:
        lamp.strength = color * settings.pop("lux")
    elif "candela" in settings:
        assert kind in ("point", "spot")
        lamp.strength = color * settings.pop("candela")
    elif "lumens" in settings:
        lumens = settings.pop("lumens")
        if area is not None:
            lamp.strength = color * lumens / (math.pi * area)
        elif kind == "point":
            lamp.strength = color * lumens / (4 * math.pi)
        else:
            lamp.strength = color * lumens / spot_flux(lamp.inner, lamp.outer)
    else:
        assert area is None, f"{name}: a shape needs nits or lumens"
    assert not settings, f"{name}: unknown {settings}"
    return lamp


def read_hdr(path):
    """Radiance RGBE without compression."""
    data = path.read_bytes()
    head, rest = data.split(b"\n\n", 1)
    assert head.startswith(b"#?RADIANCE")
    size, pixels = rest.split(b"\n", 1)
    _, height, _, width = size.split()
    rgbe = np.frombuffer(pixels, np.uint8).reshape(int(height), int(width), 4).astype(float)
    return rgbe[..., :3] * np.exp2(rgbe[..., 3:] - 136)


def turn(axis, degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    out, (a, b) = np.eye(4), [(1, 2), (2, 0), (0, 1)][axis]
    out[a, a], out[a, b], out[b, a], out[b, b] = c, -s, s, c
    return out


def read_medium(name, look, folder):
    """A volume of the look: a box in the world, turned about x, then y, then z; voxels with x fastest, 255 is 1."""
    settings = dict(look)
    colour = lambda value: np.array(value if isinstance(value, list) else [value] * 3, float)
    pose, size = np.eye(4), settings.pop("size")
    pose[:3, 3] = settings.pop("center", [0, 0, 0])
    for axis, degrees in reversed(list(enumerate(settings.pop("rotation", [0, 0, 0])))):
        pose = pose @ turn(axis, degrees)
    grid = None
    if "density" in settings:
        x, y, z = settings.pop("dimensions")
        assert settings.pop("format") == "u8"
        grid = np.frombuffer((folder / settings.pop("density")).read_bytes(), np.uint8).reshape(z, y, x) / 255
    absorption, scattering = colour(settings.pop("absorption", 0)), colour(settings.pop("scattering", 0))
    anisotropy = settings.pop("anisotropy", 0.0)
    assert not settings, f"{name}: unknown {settings}"
    return Medium(name, pose @ np.diag([*size, 1.0]), absorption, scattering, anisotropy, grid)


def read_camera(document, look, width, height):
    for index, matrix in walk(document):
        node = document["nodes"][index]
        if "camera" in node:
            camera = document["cameras"][node["camera"]]
            break
    else:
        raise ValueError("no camera")
    if camera["type"] == "orthographic":
        return Camera(matrix, None, camera["orthographic"]["ymag"])
    fov = camera["perspective"]["yfov"]
    lens = look.get("camera", {}).get("lens", {})
    out = Camera(matrix, fov, None)
    if "focal_length" in lens:
        sensor = [float(mm) / 1e3 for mm in look["camera"]["body"]["sensor"].split("x")]
        assert abs(sensor[0] / sensor[1] - width / height) < 1e-9, "the gate has the picture's shape here"
        f, s = lens["focal_length"] / 1e3, lens["focus"]
        image = f * s / (s - f)
        out.fov = 2 * math.atan(sensor[1] / 2 / image)
        out.lens_radius, out.focus = f / lens["f_stop"] / 2, s
    return out


def walk(document):
    """Nodes with their world matrices."""
    scene = document["scenes"][document.get("scene", 0)]
    todo = [(index, np.eye(4)) for index in scene["nodes"]]
    while todo:
        index, parent = todo.pop(0)
        node = document["nodes"][index]
        matrix = parent @ local_matrix(node)
        yield index, matrix
        todo += [(child, matrix) for child in node.get("children", [])]


def load(folder):
    folder = Path(folder)
    about = tomllib.loads((folder / "case.toml").read_text())
    glb = folder / about["scene"]
    look_file = folder / about.get("look", "none")
    look = tomllib.loads(look_file.read_text()) if look_file.is_file() else {}
    assert not about.get("set"), "overrides are not read"
    document, binary = read_glb(glb)
    width, height = about["size"]
    case = Case(folder.name, folder, width, height, about["bounces"], read_camera(document, look, width, height))
    materials = [read_material(value) for value in document.get("materials", [])]
    lights = document.get("extensions", {}).get("KHR_lights_punctual", {}).get("lights", [])
    looks = dict(look.get("lights", {}))
    for index, matrix in walk(document):
        node = document["nodes"][index]
        if "mesh" in node:
            mesh = document["meshes"][node["mesh"]]
            for part in mesh["primitives"]:
                assert part.get("mode", 4) == 4
                attributes = part["attributes"]
                positions = accessor(document, binary, attributes["POSITION"]).astype(float)
                normals = accessor(document, binary, attributes["NORMAL"]).astype(float)
                triangles = accessor(document, binary, part["indices"]).astype(np.uint32).reshape(-1, 3)
                linear = matrix[:3, :3]
                assert np.linalg.det(linear) > 0
                normals = normals @ np.linalg.inv(linear)
                normals /= np.linalg.norm(normals, axis=1, keepdims=True)
                case.meshes.append(
                    Mesh(node.get("name", ""), positions @ linear.T + matrix[:3, 3], normals, triangles, materials[part["material"]])
                )
        light = node.get("extensions", {}).get("KHR_lights_punctual", {}).get("light")
        if light is not None:
            name = node.get("name", "")
            lamp = read_lamp(name, lights[light], matrix, looks.pop(name, {}), look_file.parent)
            if lamp is not None:
                case.lamps.append(lamp)
    assert not looks, f"no lamps {list(looks)}"
    for name, volume in look.get("volumes", {}).items():
        case.media.append(read_medium(name, volume, look_file.parent))
    environment = look.get("environment")
    if environment:
        assert set(environment) <= {"file", "scale"}
        nits = read_hdr(look_file.parent / environment["file"]) * environment.get("scale", 1.0)
        case.surroundings = Surroundings(nits)
    return case
