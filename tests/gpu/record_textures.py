#!/usr/bin/env python3
"""Records what a real GPU makes of every case of texture_cases.py.

    python3 tests/gpu/record_textures.py OUTPUT.txt

Lines of text: `# key: value` for provenance, and definitions that later lines refer to by number, counted from 0 for
each kind:

    resource KIND FORMAT CHANNELS WIDTH HEIGHT DEPTH FLAGS LEVELS TEXELS    texels in hexadecimal, level after level
    sampler MODES(3) FILTER FLAGS ANISOTROPY MIP-FILTER, then bias, least and most level and border color (4) as bits
    view FORMAT WIDTH HEIGHT DEPTH FIRST-LEVEL LAST-LEVEL FIRST-LAYER LAST-LAYER
    code TEXT
    coordinates WIDTH WORDS...                                              WIDTH words a thread, in hexadecimal

    case RESOURCE SAMPLER VIEW CODE COORDINATES RESULTS                     `-` for no view, and no sampler of a surface

A case is followed by one line: RESULTS words a thread; or the texels after it where RESULTS is 0; or `failed CODE`.
A case whose kernel faults ends CUDA for the process: another one goes on behind it.
"""

import ctypes
import os
import pathlib
import struct
import sys
from ctypes import byref, c_size_t, c_uint, c_uint64, c_void_p

import driver
import texture_cases
from texture_cases import SIZES

RESOURCE_KINDS = {"array": 0, "mipmap": 1, "linear": 2, "pitch2D": 3}
WORDS_A_THREAD = 12
ENTRY = (pathlib.Path(__file__).parent.parent / "data" / "texture_kernel.ptx").read_text()
HEADER = ".version 7.7\n.target sm_75\n.address_size 64\n"
CODES_PER_MODULE = 40

driver.cuda.cuTexObjectDestroy.argtypes = [c_uint64]
driver.cuda.cuSurfObjectDestroy.argtypes = [c_uint64]


def copy_level(handle, size, texel, data=None):
    """Writes one level of an array, or reads it."""
    width, height, depth = size[0] * texel, max(size[1], 1), max(size[2], 1)
    buffer = ctypes.create_string_buffer(data or width * height * depth, width * height * depth)
    host = (0, 0, 0, 0, 1, ctypes.addressof(buffer), 0, 0, 0, width, height)
    array = (0, 0, 0, 0, 3, 0, 0, handle.value, 0, 0, 0)
    ends = host + array if data else array + host
    driver.check("cuMemcpy3D_v2", struct.pack("<25Q", *ends, width, height, depth))
    return buffer.raw


class Memory:
    """A resource on the device."""

    def __init__(self, resource):
        self.resource = resource
        self.texel = SIZES[resource.format] * resource.channels
        self.levels = []
        shape = (resource.width, resource.height, resource.depth)
        descriptor = struct.pack("<3Q4I", *shape, resource.format, resource.channels, resource.flags, 0)
        self.sizes = texture_cases.levels_of(*shape, resource.flags, resource.levels)
        if resource.kind == "array":
            self.handle = c_void_p()
            driver.check("cuArray3DCreate_v2", byref(self.handle), descriptor)
            self.levels = [self.handle]
            described = struct.pack("<Q", self.handle.value)
        elif resource.kind == "mipmap":
            self.handle = c_void_p()
            driver.check("cuMipmappedArrayCreate", byref(self.handle), descriptor, resource.levels)
            for level in range(resource.levels):
                array = c_void_p()
                driver.check("cuMipmappedArrayGetLevel", byref(array), self.handle, level)
                self.levels.append(array)
            described = struct.pack("<Q", self.handle.value)
        elif resource.kind == "linear":
            self.handle = driver.upload(resource.texels)
            described = struct.pack("<QIIQ", self.handle, resource.format, resource.channels, len(resource.texels))
        else:
            pointer, pitch = c_uint64(), c_size_t()
            row = resource.width * self.texel
            driver.check("cuMemAllocPitch_v2", byref(pointer), byref(pitch), row, resource.height, 16)
            for y in range(resource.height):
                driver.check("cuMemcpyHtoD_v2", pointer.value + y * pitch.value, resource.texels[y * row :][:row], row)
            self.handle = pointer.value
            described = struct.pack("<QII3Q", self.handle, resource.format, resource.channels, resource.width,
                                    resource.height, pitch.value)
        self.description = struct.pack("<II", RESOURCE_KINDS[resource.kind], 0) + described.ljust(128, b"\0") + bytes(8)
        self.restore()

    def restore(self):
        """Puts the texels there."""
        start = 0
        for level, size in zip(self.levels, self.sizes):
            count = texture_cases.texel_count(*size) * self.texel
            copy_level(level, size, self.texel, self.resource.texels[start : start + count])
            start += count

    def read(self):
        return b"".join(copy_level(level, size, self.texel) for level, size in zip(self.levels, self.sizes))


def describe_sampler(sampler):
    return struct.pack("<7I3f4f12I", *sampler.modes, sampler.filter, sampler.flags, sampler.anisotropy,
                       sampler.mip_filter, sampler.bias, sampler.least, sampler.most, *sampler.border, *[0] * 12)


def describe_view(view):
    return struct.pack("<II3Q4I16I", view[0], 0, *view[1:4], *view[4:], *[0] * 16)


class Object:
    """A texture object, or a surface object where there is no sampler."""

    def __init__(self, memory, sampler, view):
        self.handle, self.surface = c_uint64(), sampler is None
        if self.surface:
            driver.check("cuSurfObjectCreate", byref(self.handle), memory.description)
        else:
            driver.check("cuTexObjectCreate", byref(self.handle), memory.description, describe_sampler(sampler),
                         describe_view(view) if view else None)

    def destroy(self):
        driver.check("cuSurfObjectDestroy" if self.surface else "cuTexObjectDestroy", self.handle)


def load_codes(codes):
    """A kernel for each instruction, or the error that it is refused with."""
    names = [f"sample_{index}" for index in range(len(codes))]
    try:
        module = driver.load(HEADER + "".join(
            ENTRY.replace("NAME", name).replace("INSTRUCTION", code) for name, code in zip(names, codes)))
        return [driver.function(module, name) for name in names]
    except driver.DriverError as error:
        if len(codes) == 1:
            print(f"{codes[0]}: {error}")
            return [error]
        return [outcome for code in codes for outcome in load_codes([code])]


def run(case, memory, function):
    threads = len(case.coordinates)
    padded = b"".join(struct.pack(f"<{len(row)}I", *row).ljust(4 * WORDS_A_THREAD, b"\0") for row in case.coordinates)
    if case.results == 0:
        memory.restore()
    sampled = Object(memory, case.sampler, case.view)
    coordinates, output = driver.upload(padded), driver.allocate(16 * threads)
    arguments = [struct.pack("<Q", value) for value in (sampled.handle.value, coordinates, output)]
    arguments.append(struct.pack("<I", threads))
    driver.launch(function, (-(-threads // 64), 1, 1), (64, 1, 1), arguments)
    driver.synchronize()
    if case.results == 0:
        answer = memory.read().hex()
        memory.restore()
    else:
        found = struct.unpack(f"<{4 * threads}I", driver.download(output, 16 * threads))
        answer = " ".join(f"{found[4 * thread + result]:x}" for thread in range(threads) for result in range(case.results))
    driver.free(coordinates)
    driver.free(output)
    sampled.destroy()
    return answer


class Numbered(dict):
    """Definitions, each written when it is first needed."""

    def __init__(self, kind, write):
        super().__init__()
        self.kind, self.write = kind, write

    def number(self, item, text):
        if item is None:
            return "-"
        if item not in self:
            self[item] = len(self)
            self.write(f"{self.kind} {text()}")
        return str(self[item])


def float_bits(values):
    return " ".join(f"{texture_cases.bits(float(value)):x}" for value in values)


def record(path, first):
    """Records the cases from `first` on; those before it are in the file already."""
    driver.start()
    cases = list(texture_cases.cases()) + list(texture_cases.surface_cases())
    codes = list(dict.fromkeys(case.code for case in cases[first:]))
    functions = {}
    for start in range(0, len(codes), CODES_PER_MODULE):
        batch = codes[start : start + CODES_PER_MODULE]
        functions.update(zip(batch, load_codes(batch)))
    memories, index = {}, -1
    with path.open("a" if first else "w") as file:
        def write(line):
            if index >= first or not first:
                print(line, file=file)

        for key, text in driver.describe().items():
            write(f"# {key}: {text}")
        resources, samplers = Numbered("resource", write), Numbered("sampler", write)
        views, texts, places = Numbered("view", write), Numbered("code", write), Numbered("coordinates", write)
        for index, case in enumerate(cases):
            r, s, v = case.resource, case.sampler, case.view
            rows = tuple(case.coordinates)
            fields = [
                resources.number(r, lambda: " ".join(map(str, r[:8])) + " " + r.texels.hex()),
                samplers.number(s, lambda: " ".join(map(str, (*s.modes, s.filter, s.flags, s.anisotropy, s.mip_filter)))
                                + " " + float_bits((s.bias, s.least, s.most, *s.border))),
                views.number(v, lambda: " ".join(map(str, v))),
                texts.number(case.code, lambda: case.code),
                places.number(rows, lambda: f"{len(rows[0])} " + " ".join(f"{word:x}" for row in rows for word in row)),
                str(case.results),
            ]
            if index < first:
                continue
            error = None
            try:
                function = functions[case.code]
                if isinstance(function, driver.DriverError):
                    raise function
                if r not in memories:
                    memories[r] = Memory(r)
                answer = run(case, memories[r], function)
            except driver.DriverError as raised:
                error = raised
                print(f"{' '.join(fields)}: {case.code} {error}", flush=True)
                answer = f"failed {error.code}"
            write("case " + " ".join(fields))
            write(answer)
            if error and 700 <= error.code < 800:
                file.flush()
                os.execv(sys.executable, [sys.executable, __file__, str(path), str(index + 1)])
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    record(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
