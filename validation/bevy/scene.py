"""Writes the scene on which renderers are timed beside each other.

49 balls of seven roughnesses, dielectric and metal by rows, on a floor of roughness 0.12 before a
wall, under a sun of 300 lx; a camera. With `points`, 16 point lights of 3,000 lm as well.
`python3 scene.py OUT.glb [points]` also writes the camera to OUT.json. Only the standard library
is needed.
"""

import json
import math
import pathlib
import struct
import sys

EYE, TARGET = (0.0, 3.6, 8.6), (0.0, 0.2, -0.8)
SUN = (-0.4494386, -0.7990019, -0.3995009)
VERTICAL_FOV = 45.0  # degrees
NEAR = 0.1  # m
SEGMENTS, RINGS = 32, 16


def ball():
    places, indices = [], []
    for ring in range(RINGS + 1):
        theta = math.pi * ring / RINGS
        for segment in range(SEGMENTS + 1):
            phi = 2 * math.pi * segment / SEGMENTS
            x, z = math.sin(theta) * math.cos(phi), -math.sin(theta) * math.sin(phi)
            places.append((x, math.cos(theta), z))
    for ring in range(RINGS):
        for segment in range(SEGMENTS):
            a = ring * (SEGMENTS + 1) + segment
            b = a + SEGMENTS + 1
            indices += [a, b, a + 1, a + 1, b, b + 1]
    return places, places, indices


def plane():
    places = [(-1, 0, 1), (1, 0, 1), (1, 0, -1), (-1, 0, -1)]
    return places, [(0, 1, 0)] * 4, [0, 1, 2, 0, 2, 3]


def rotation_between(a, b):
    """The shortest rotation that takes one unit vector to another (x, y, z, w)."""
    axis = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    w = 1 + sum(x * y for x, y in zip(a, b))
    length = math.sqrt(w * w + sum(x * x for x in axis))
    return [x / length for x in axis] + [w / length]


def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return [x / length for x in v]


def hue(turn, low, span):
    """A color of components from `low` to `low + span`; `turn` is the hue in turns."""
    angles = [2 * math.pi * (turn - third / 3) for third in range(3)]
    return [low + span * max(0.0, math.cos(angle)) for angle in angles]


def point_lights():
    """16 lights in 4 rows; 3,000 lm from all around are 238.7 cd."""
    for number in range(16):
        row, column = divmod(number, 4)
        yield (3.0 * column - 4.5, 1.5, 2.6 * row - 4.4), {
            "type": "point",
            "color": hue(number / 16, 0.55, 0.45),
            "intensity": 3000 / (4 * math.pi),
            "range": 6.0,
        }


def main(out, with_points):
    data, views, accessors = b"", [], []

    def store(values, kind, shape):
        nonlocal data
        flat = [x for value in values for x in (value if shape == "VEC3" else (value,))]
        packed = struct.pack(f"<{len(flat)}{'f' if kind == 5126 else 'H'}", *flat)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(packed)})
        accessor = {
            "bufferView": len(views) - 1,
            "componentType": kind,
            "count": len(values),
            "type": shape,
        }
        if shape == "VEC3":
            accessor |= {
                "min": [min(v[i] for v in values) for i in range(3)],
                "max": [max(v[i] for v in values) for i in range(3)],
            }
        accessors.append(accessor)
        data += packed + b"\0" * (-len(packed) % 4)
        return len(accessors) - 1

    shapes = []
    for places, normals, indices in (ball(), plane()):
        attributes = {
            "POSITION": store(places, 5126, "VEC3"),
            "NORMAL": store(normals, 5126, "VEC3"),
        }
        shapes.append((attributes, store(indices, 5123, "SCALAR")))
    materials, meshes, nodes = [], [], []

    def add(name, shape, color, metallic, roughness, **placed):
        materials.append({"name": name, "pbrMetallicRoughness": {
            "baseColorFactor": [*color, 1],
            "metallicFactor": metallic,
            "roughnessFactor": roughness,
        }})
        attributes, indices = shapes[shape]
        meshes.append({"primitives": [
            {"attributes": attributes, "indices": indices, "material": len(materials) - 1}
        ]})
        nodes.append({"name": name, "mesh": len(meshes) - 1, **placed})

    add("floor", 1, (0.4, 0.4, 0.4), 0, 0.12, scale=[12, 1, 12])
    half = math.sqrt(0.5)
    add(
        "wall", 1, (0.5, 0.5, 0.55), 0, 0.9,
        scale=[12, 1, 3], translation=[0, 3, -7], rotation=[half, 0, 0, half],
    )
    for row in range(7):
        for column in range(7):
            metal = row % 2
            color = (0.95, 0.93, 0.88) if metal else hue(row / 7, 0.32, 0.48)
            add(
                f"ball {row} {column}", 0, color, metal, 0.05 + 0.95 * column / 6,
                scale=[0.5] * 3, translation=[1.6 * (column - 3), 0.5, 1.4 * row - 4.7],
            )
    sun = {"type": "directional", "color": [1, 0.96, 0.9], "intensity": 300}
    lights = [sun]

    def light_node(name, number, **placed):
        extension = {"KHR_lights_punctual": {"light": number}}
        nodes.append({"name": name, **placed, "extensions": extension})

    light_node("Sun", 0, rotation=rotation_between((0, 0, -1), unit(SUN)))
    for position, light in point_lights() if with_points else ():
        lights.append(light)
        light_node(f"Point {len(lights) - 1}", len(lights) - 1, translation=position)
    look_at = unit([t - e for t, e in zip(TARGET, EYE)])
    nodes.append({"name": "Eye", "camera": 0, "translation": EYE,
                  "rotation": rotation_between((0, 0, -1), look_at)})
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": materials,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
        "cameras": [{"name": "Eye", "type": "perspective", "perspective": {
            "yfov": math.radians(VERTICAL_FOV), "znear": NEAR, "aspectRatio": 16 / 9,
        }}],
        "extensionsUsed": ["KHR_lights_punctual"],
        "extensions": {"KHR_lights_punctual": {"lights": lights}},
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    length = 12 + 8 + len(text) + 8 + len(data)
    with open(out, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, length))
        file.write(struct.pack("<I4s", len(text), b"JSON") + text)
        file.write(struct.pack("<I4s", len(data), b"BIN\0") + data)
    camera = {"eye": EYE, "target": TARGET, "vfov": VERTICAL_FOV, "near": NEAR}
    pathlib.Path(out).with_suffix(".json").write_text(json.dumps({"camera": camera}) + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["points"]):
        sys.exit("usage: scene.py OUT.glb [points]")
    main(sys.argv[1], len(sys.argv) == 3)
