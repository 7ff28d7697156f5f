"""Copies a GLB and adds the camera of its JSON file, for `scripts/beside_peers.sh`.

`python3 prepare.py SCENE.glb SCENE.json OUT.glb` writes OUT.glb and OUT.look.toml, in which only
directional lights cast shadows. The JSON file has {"camera": {"eye": [x, y, z],
"target": [x, y, z], "vfov": degrees, "near": meters}}. Only the standard library is needed.
"""

import json
import math
import pathlib
import struct
import sys

EV100 = 7.9


def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return [x / length for x in v]


def cross(a, b):
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def camera_matrix(eye, target):
    """Camera-to-world matrix by columns; the camera looks along -Z, and +Y is up."""
    back = unit([e - t for e, t in zip(eye, target)])
    right = unit(cross([0.0, 1.0, 0.0], back))
    up = cross(back, right)
    return [*right, 0.0, *up, 0.0, *back, 0.0, *eye, 1.0]


def chunks(data):
    magic, version, length = struct.unpack_from("<4sII", data)
    if magic != b"glTF" or version != 2 or length > len(data):
        raise ValueError("not a GLB of version 2")
    at = 12
    while at < length:
        size, kind = struct.unpack_from("<I4s", data, at)
        yield kind, data[at + 8 : at + 8 + size]
        at += 8 + size


def main(scene, description, out):
    camera = json.loads(pathlib.Path(description).read_text())["camera"]
    (first, text), *rest = chunks(pathlib.Path(scene).read_bytes())
    if first != b"JSON":
        raise ValueError("the first chunk is not JSON")
    document = json.loads(text)
    document.setdefault("cameras", []).append({
        "name": "Peers",
        "type": "perspective",
        "perspective": {
            "yfov": math.radians(camera["vfov"]),
            "znear": camera.get("near", 0.1),
            "aspectRatio": 16 / 9,
        },
    })
    document.setdefault("nodes", []).append({
        "name": "Peers",
        "camera": len(document["cameras"]) - 1,
        "matrix": camera_matrix(camera["eye"], camera["target"]),
    })
    shown = document["scenes"][document.get("scene", 0)]
    shown.setdefault("nodes", []).append(len(document["nodes"]) - 1)

    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(
        struct.pack("<I4s", len(data), kind) + data for kind, data in [(b"JSON", text), *rest]
    )
    out = pathlib.Path(out)
    out.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)

    look = f'[camera]\nname = "Peers"\n\n[camera.exposure]\nev100 = {EV100}\n'
    look += '\n[passes.shadows]\nmethod = "maps"\n'
    extensions = document.get("extensions", {})
    lights = extensions.get("KHR_lights_punctual", {}).get("lights", [])
    for number, light in enumerate(lights):
        if light["type"] != "directional":
            look += f'\n[lights."#{number}"]\nshadow = false\n'
    out.with_suffix(".look.toml").write_text(look)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: prepare.py SCENE.glb SCENE.json OUT.glb")
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, KeyError, IndexError) as error:
        sys.exit(f"prepare.py: {sys.argv[1]}, {sys.argv[2]}: {error!r}")
