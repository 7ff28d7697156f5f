#!/usr/bin/env python3
"""Prints the tables of validation/measured/gbuffer.md: quantization errors of shaders/lib/packing.glsl in double
precision, beside alternatives.

Python's standard library only; deterministic.
"""
import math
import random
import struct


def srgb_encode(v):
    return 12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055


def srgb_decode(v):
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


CODECS = {
    "12-bit square root (ours)": (math.sqrt, lambda v: v * v, 4095),
    "8-bit sRGB": (srgb_encode, srgb_decode, 255),
    "8-bit square root": (math.sqrt, lambda v: v * v, 255),
    "10-bit square root": (math.sqrt, lambda v: v * v, 1023),
    "12-bit linear": (lambda v: v, lambda v: v, 4095),
}


def half_step(codec, value):
    """The relative error halfway between two codes at this value."""
    encode, decode, top = codec
    code = encode(value) * top
    return 0.5 * (decode((code + 0.5) / top) - decode((code - 0.5) / top)) / value


def oct_pack(n, top):
    s = abs(n[0]) + abs(n[1]) + abs(n[2])
    x, y, z = (c / s for c in n)
    if z < 0:
        x, y = (1 - abs(y)) * math.copysign(1, x), (1 - abs(x)) * math.copysign(1, y)
    return round(x * top), round(y * top)


def oct_unpack(q, top):
    x, y = q[0] / top, q[1] / top
    z = 1 - abs(x) - abs(y)
    if z < 0:
        x, y = (1 - abs(y)) * math.copysign(1, x), (1 - abs(x)) * math.copysign(1, y)
    s = math.sqrt(x * x + y * y + z * z)
    return x / s, y / s, z / s


def xyz_unpack(n, top):
    q = [round((c * 0.5 + 0.5) * top) / top * 2 - 1 for c in n]
    s = math.sqrt(sum(c * c for c in q))
    return [c / s for c in q]


def angle(a, b):
    """In degrees, exact for small angles."""
    cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return math.degrees(math.atan2(math.sqrt(sum(c * c for c in cross)), sum(x * y for x, y in zip(a, b))))


def normals(decode, count=200_000):
    rng = random.Random(16)
    errors = []
    for _ in range(count):
        z, turn = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi)
        r = math.sqrt(1 - z * z)
        n = (r * math.cos(turn), r * math.sin(turn), z)
        errors.append(angle(n, decode(n)))
    return sum(errors) / count, max(errors)


print("base color: relative half step (%)")
values = (0.02, 0.04, 0.18, 0.5, 0.9)
print("  " + " " * 28 + "".join(f"{v:>9}" for v in values))
for name, codec in CODECS.items():
    print(f"  {name:<28}" + "".join(f"{100 * half_step(codec, v):9.3f}" for v in values))

print("roughness: half step, and what it changes of a highlight's peak luminance (proportional to roughness^-4, %)")
values = (0.05, 0.1, 0.2, 0.5)
print("  " + " " * 28 + "half step" + "".join(f"{v:>9}" for v in values))
for bits in (12, 8):
    h = 0.5 / (2**bits - 1)
    print(f"  {f'{bits} bits':<28}{h:9.6f}" + "".join(f"{400 * h / v:9.2f}" for v in values))

print("metallic, 8 bits: half step %.3f %%; occlusion, 7 bits: %.3f %%" % (50 / 255, 50 / 127))

print("normal: mean and greatest angle over 200,000 directions (degrees)")
for name, decode in {
    "octahedral 2 x 16 bits (ours)": lambda n: oct_unpack(oct_pack(n, 32767), 32767),
    "octahedral 2 x 12 bits": lambda n: oct_unpack(oct_pack(n, 2047), 2047),
    "octahedral 2 x 8 bits": lambda n: oct_unpack(oct_pack(n, 127), 127),
    "x, y, z in 3 x 10 bits": lambda n: xyz_unpack(n, 1023),
    "x, y, z in 3 x 8 bits": lambda n: xyz_unpack(n, 255),
}.items():
    mean, most = normals(decode)
    print(f"  {name:<30} {mean:.5f} {most:.5f}")


def half_error(v):
    return abs(struct.unpack("e", struct.pack("e", v))[0] - v) / v


rng = random.Random(16)
worst = max(half_error(2 ** rng.uniform(-14, 15)) for _ in range(200_000))
print("light: greatest relative rounding error of normal half floats %.4f %%;" % (100 * worst))
print("  of 11-bit floats (6-bit mantissa) %.4f %%, of 10-bit floats (5-bit mantissa) %.4f %%" % (100 / 2**7, 100 / 2**6))
print("  half floats from smallest normal to largest: %.1f stops" % math.log2(65504 / 2**-14))
