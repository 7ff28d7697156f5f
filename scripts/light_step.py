#!/usr/bin/env python3
"""Makes all lights of a GLB brighter for a while, by KHR_animation_pointer, to see exposure follow.

    light_step.py IN.glb OUT.glb FACTOR FROM TO      (seconds)

Python's standard library only.
"""
import json
import struct
import sys


def main():
    source, target, factor, begin, end = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:6])
    data = open(source, "rb").read()
    (length,) = struct.unpack_from("<I", data, 12)
    scene = json.loads(data[20 : 20 + length])
    binary = bytearray(data[20 + length + 8 :])

    def floats(*values):
        view = {"buffer": 0, "byteOffset": len(binary), "byteLength": 4 * len(values)}
        binary.extend(struct.pack(f"<{len(values)}f", *values))
        scene.setdefault("bufferViews", []).append(view)
        accessor = {"bufferView": len(scene["bufferViews"]) - 1, "componentType": 5126, "count": len(values), "type": "SCALAR"}
        accessor.update(min=[min(values)], max=[max(values)])
        scene.setdefault("accessors", []).append(accessor)
        return len(scene["accessors"]) - 1

    # It would begin again after the last key.
    times = floats(0.0, begin, end, end + 60.0)
    samplers, channels = [], []
    for number, light in enumerate(scene["extensions"]["KHR_lights_punctual"]["lights"]):
        dim = light.get("intensity", 1.0)
        samplers.append({"input": times, "output": floats(dim, dim * factor, dim, dim), "interpolation": "STEP"})
        pointer = f"/extensions/KHR_lights_punctual/lights/{number}/intensity"
        aim = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
        channels.append({"sampler": number, "target": aim})
    scene["animations"] = [{"name": "step of light", "samplers": samplers, "channels": channels}]
    scene.setdefault("extensionsUsed", []).append("KHR_animation_pointer")
    scene["buffers"][0]["byteLength"] = len(binary)
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    parts = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + bytes(binary)
    open(target, "wb").write(struct.pack("<III", 0x46546C67, 2, 12 + len(parts)) + parts)


main()
