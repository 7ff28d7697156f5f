"""A reader of sunny16's EXR files that is independent of sunny16: one part of 32-bit floats in
tiles, uncompressed or run-length encoded (OpenEXR file layout and technical introduction)."""

import struct

import numpy

RLE = 1


def _text(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def _decompressed(chunk, size):
    """Undoes the run lengths, the differences and the order of the bytes."""
    if len(chunk) == size:
        return chunk
    runs, at = bytearray(), 0
    while at < len(chunk):
        count = struct.unpack_from("b", chunk, at)[0]
        if count < 0:
            runs += chunk[at + 1 : at + 1 - count]
            at += 1 - count
        else:
            runs += chunk[at + 1 : at + 2] * (count + 1)
            at += 2
    assert len(runs) == size, (len(runs), size)
    data = numpy.frombuffer(runs, dtype=numpy.uint8).astype(numpy.int64)
    data[1:] -= 128
    data = (numpy.cumsum(data) & 0xFF).astype(numpy.uint8)
    whole = numpy.empty(size, dtype=numpy.uint8)
    half = (size + 1) // 2
    whole[0::2], whole[1::2] = data[:half], data[half:]
    return whole.tobytes()


def read(file):
    """Channels by name, each of shape (height, width)."""
    with open(file, "rb") as source:
        data = source.read()
    assert data[:4] == b"\x76\x2f\x31\x01", "not an EXR"
    assert struct.unpack_from("<I", data, 4)[0] & 0x1A00 == 0x200, "expected one part in tiles"
    header, at = {}, 8
    while data[at] != 0:
        name, at = _text(data, at)
        _, at = _text(data, at)
        size = struct.unpack_from("<I", data, at)[0]
        header[name] = data[at + 4 : at + 4 + size]
        at += 4 + size
    at += 1
    names, place = [], 0
    while header["channels"][place] != 0:
        name, place = _text(header["channels"], place)
        assert struct.unpack_from("<I", header["channels"], place)[0] == 2, "not a 32-bit float"
        names.append(name)
        place += 16
    assert header["compression"][0] in (0, RLE), "expected no compression or RLE"
    left, top, right, bottom = struct.unpack("<4i", header["dataWindow"])
    width, height = right - left + 1, bottom - top + 1
    wide, high = struct.unpack_from("<2I", header["tiles"])
    tiles = -(-width // wide) * -(-height // high)
    image = numpy.full((height, len(names), width), numpy.nan, dtype="<f4")
    for offset in struct.unpack_from(f"<{tiles}Q", data, at):
        column, row, _, _, size = struct.unpack_from("<5i", data, offset)
        x, y = column * wide, row * high
        columns, rows = min(wide, width - x), min(high, height - y)
        chunk = data[offset + 20 : offset + 20 + size]
        chunk = _decompressed(chunk, columns * rows * len(names) * 4)
        values = numpy.frombuffer(chunk, dtype="<f4").reshape(rows, len(names), columns)
        image[y : y + rows, :, x : x + columns] = values
    return {name: image[:, index].copy() for index, name in enumerate(names)}
