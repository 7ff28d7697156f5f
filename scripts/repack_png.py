#!/usr/bin/env python3
"""Makes PNG files smaller without changing a pixel: the best filter for each row, the slowest deflate.

    repack_png.py FILE...

Python's standard library only; takes 8-bit RGB without interlacing, as sunny16 writes it.
"""
import struct
import sys
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(kind, row, above):
    row = bytearray(row)
    for i in range(len(row)):
        a = row[i - 3] if i >= 3 else 0
        c = above[i - 3] if i >= 3 else 0
        b = above[i]
        row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) & 255
    return row


def filtered(kind, row, above):
    left = bytes(3) + row[:-3]
    corner = bytes(3) + above[:-3]
    if kind == 0:
        return bytes(row)
    if kind == 1:
        return bytes((x - a) & 255 for x, a in zip(row, left))
    if kind == 2:
        return bytes((x - b) & 255 for x, b in zip(row, above))
    if kind == 3:
        return bytes((x - (a + b) // 2) & 255 for x, a, b in zip(row, left, above))
    return bytes((x - paeth(a, b, c)) & 255 for x, a, b, c in zip(row, left, above, corner))


def repack(name):
    data = open(name, "rb").read()
    parts = list(chunks(data))
    header = dict(parts)[b"IHDR"]
    width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", header)
    if (depth, color, interlace) != (8, 2, 0):
        sys.exit(f"{name}: only 8-bit RGB without interlacing")
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    stride = width * 3
    above, rows = bytearray(stride), bytearray()
    for y in range(height):
        at = y * (stride + 1)
        row = unfilter(raw[at], raw[at + 1 : at + 1 + stride], above)
        # The usual heuristic: the filter with the least sum of absolute differences.
        tried = [(sum(min(v, 256 - v) for v in line), kind, line) for kind in range(5) for line in [filtered(kind, row, above)]]
        _, kind, line = min(tried)
        rows.append(kind)
        rows += line
        above = row
    best = None
    for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED):
        c = zlib.compressobj(9, zlib.DEFLATED, 15, 9, strategy)
        candidate = c.compress(bytes(rows)) + c.flush()
        best = candidate if best is None or len(candidate) < len(best) else best

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    srgb = b"".join(chunk(kind, body) for kind, body in parts if kind == b"sRGB")
    out = data[:8] + chunk(b"IHDR", header) + srgb + chunk(b"IDAT", best) + chunk(b"IEND", b"")
    if len(out) < len(data):
        open(name, "wb").write(out)
    print(f"{name}: {len(data)} to {min(len(out), len(data))} bytes")


for name in sys.argv[1:]:
    repack(name)
