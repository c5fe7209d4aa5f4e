"""Calls for probe_captures.py: most functions that name a stream, wait, allocate or free, with arguments right and wrong."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_ubyte, c_ushort, c_void_p

import driver
from driver import call, check, new_event, new_stream

KERNEL = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) { .reg .b64 %x; .reg .b32 %r;
ld.param.u64 %x, [p]; mov.u32 %r, 7; st.global.u32 [%x], %r; ret; }
"""
NOWHERE = c_uint64(16)
SIZE = c_size_t(16)
NONE = c_size_t(0)
RELAXED = 2


class World:
    """One of everything that the calls need, made before any capture."""

    def __init__(self):
        self.a, self.b, self.managed = (c_uint64(driver.allocate(4096)) for _ in range(3))
        check("cuMemAllocManaged", byref(self.managed), c_size_t(4096), 1)
        self.pinned, self.pageable = c_void_p(), ctypes.create_string_buffer(4096)
        check("cuMemAllocHost_v2", byref(self.pinned), c_size_t(4096))
        self.module = driver.load(KERNEL)
        self.kernel = driver.function(self.module, "k")
        self.argument = c_uint64(self.a.value)
        self.arguments = (c_void_p * 1)(ctypes.addressof(self.argument))
        self.other = new_stream(1)
        self.never, self.recorded = new_event(2), new_event(2)
        check("cuEventRecord", self.recorded, self.other)
        self.timed, self.timed_too = new_event(0), new_event(0)
        for event in (self.timed, self.timed_too):
            check("cuEventRecord", event, self.other)
        self.number, self.wide, self.handle, self.float = c_int(), c_uint64(), c_void_p(), ctypes.c_float()
        self.context = c_void_p()
        check("cuCtxGetCurrent", byref(self.context))
        self.graph, self.exec = c_void_p(), c_void_p()
        check("cuGraphCreate", byref(self.graph), 0)
        check("cuGraphInstantiateWithFlags", byref(self.exec), self.graph, c_uint64(0))
        self.pooled = c_uint64()
        check("cuMemAllocAsync", byref(self.pooled), c_size_t(4096), self.other)
        self.pool = c_void_p()
        check("cuDeviceGetDefaultMemPool", byref(self.pool), 0)
        self.value = (c_uint64 * 8)()
        self.host = ctypes.CFUNCTYPE(None, c_void_p)(lambda _: None)
        self.called = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)(lambda *_: None)
        # CUDA_MEMCPY2D: x and y, memory type, host, device, array, pitch; of both sides; width and height.
        self.plane = (c_uint64 * 16)(0, 0, 2, 0, self.a.value, 0, 64, 0, 0, 2, 0, self.b.value, 0, 64, 16, 4)
        self.bad_plane = (c_uint64 * 16)(0, 0, 2, 0, self.a.value, 0, 8, 0, 0, 2, 0, self.b.value, 0, 64, 16, 4)
        self.no_plane = (c_uint64 * 16)(0, 0, 2, 0, self.a.value, 0, 64, 0, 0, 2, 0, self.b.value, 0, 64, 0, 4)
        # CUDA_MEMCPY3D: x, y, z and level, memory type, host, device, array, reserved, pitch, height; of both sides; extent.
        self.box = (c_uint64 * 25)(*[0] * 4, 2, 0, self.a.value, 0, 0, 64, 4, *[0] * 4, 2, 0, self.b.value, 0, 0, 64, 4, 16, 4, 1)
        self.array, self.array_descriptor = c_void_p(), (c_uint64 * 3)(64, 0, 1 | 1 << 32)
        check("cuArrayCreate_v2", byref(self.array), self.array_descriptor)
        self.pool_properties, self.own_pool = (c_uint * 22)(1, 0, 1, 0), c_void_p()
        check("cuMemPoolCreate", byref(self.own_pool), self.pool_properties)
        self.library, self.library_kernel = c_void_p(), c_void_p()
        check("cuLibraryLoadData", byref(self.library), KERNEL.encode(), None, None, 0, None, None, 0)
        check("cuLibraryGetKernel", byref(self.library_kernel), self.library, b"k")
        # CUDA_ARRAY3D_DESCRIPTOR: width, height, depth, format, channels, flags.
        self.solid, self.mipmap, self.texture = (c_uint64 * 5)(16, 16, 0, 1 | 1 << 32, 0), c_void_p(), c_uint64()
        check("cuMipmappedArrayCreate", byref(self.mipmap), self.solid, 2)
        check("cuTexObjectCreate", byref(self.texture), (c_uint64 * 18)(0, self.array.value), (c_uint64 * 13)(), None)
        self.shared_event, self.link = new_event(6), c_void_p()
        check("cuLinkCreate_v2", 0, None, None, byref(self.link))
        self.range, self.mapped, self.physical = c_uint64(), c_uint64(), c_uint64()
        for address in (self.range, self.mapped):
            check("cuMemAddressReserve", byref(address), c_size_t(2 << 20), NONE, c_uint64(0), c_uint64(0))
        check("cuMemCreate", byref(self.physical), c_size_t(2 << 20), (c_uint64 * 4)(1, 1), c_uint64(0))
        check("cuMemMap", self.mapped, c_size_t(2 << 20), NONE, self.physical, c_uint64(0))
        # CUDA_MEM_ALLOC_NODE_PARAMS: properties of the pool, descriptions of accesses, size, address.
        self.node_memory = (c_uint64 * 16)(1, 1, *[0] * 9, 0, 0, 4096, 0)
        driver.synchronize()

    def joined(self):
        """Returns a stream that takes part in the capture."""
        later, point = new_stream(1), new_event(2)
        check("cuEventRecord", point, self.capturing)
        check("cuStreamWaitEvent", later, point, 0)
        return later

    def batch(self, stream, count=1, bytes=16):
        to, of, sizes = (c_uint64 * 1)(self.a.value), (c_uint64 * 1)(self.b.value), (c_size_t * 1)(bytes)
        attributes, firsts = (c_uint * 6)(1), (c_size_t * 1)(0)
        return call("cuMemcpyBatchAsync_v2", to, of, sizes, c_size_t(count), attributes, firsts, c_size_t(1), stream)

    def prefetches(self, stream, count=1, flags=0):
        addresses, sizes, places = (c_uint64 * 1)(self.managed.value), (c_size_t * 1)(4096), (c_uint * 2)(1, 0)
        firsts, ends = (c_size_t * 1)(0), [c_size_t(1), c_uint64(flags), stream]
        return call("cuMemPrefetchBatchAsync", addresses, sizes, c_size_t(count), places, firsts, *ends)

    def discards(self, stream, flags=0):
        addresses, sizes = (c_uint64 * 1)(self.managed.value), (c_size_t * 1)(4096)
        return call("cuMemDiscardBatchAsync", addresses, sizes, c_size_t(1), c_uint64(flags), stream)


class Handle(ctypes.Structure):
    """Passed by value."""

    _fields_ = [("reserved", c_ubyte * 64)]


def launch(w, t, grid=(1, 1, 1), block=(1, 1, 1), kernel=True, shared=0):
    return call("cuLaunchKernel", w.kernel if kernel else None, *grid, *block, shared, t, w.arguments, None)


def wait_value(w, t, address, flags=0):
    return call("cuStreamWaitValue32_v2", t, address, c_uint(0), c_uint(flags))


# A call of a world, on a stream. Those without a stream ignore it.
CALLS = {
    "cuLaunchKernel": lambda w, t: launch(w, t),
    "cuLaunchKernel null": lambda w, t: launch(w, t, kernel=False),
    "cuLaunchKernel 0 blocks": lambda w, t: launch(w, t, grid=(0, 1, 1)),
    "cuLaunchKernel 2048 threads": lambda w, t: launch(w, t, block=(2048, 1, 1)),
    "cuLaunchKernel no arguments": lambda w, t: call("cuLaunchKernel", w.kernel, *[1] * 6, 0, t, None, None),
    "cuLaunchKernel too much shared memory": lambda w, t: launch(w, t, shared=1 << 20),
    "cuLaunchCooperativeKernel 0 blocks": lambda w, t: call("cuLaunchCooperativeKernel", w.kernel, 0, 1, 1, 1, 1, 1, 0, t, w.arguments),
    "cuLaunchCooperativeKernel 1048576 blocks": lambda w, t: call("cuLaunchCooperativeKernel", w.kernel, 1 << 20, 1, 1, 1, 1, 1, 0, t, w.arguments),
    "cuLaunchHostFunc": lambda w, t: call("cuLaunchHostFunc", t, w.host, None),
    "cuLaunchHostFunc null": lambda w, t: call("cuLaunchHostFunc", t, None, None),
    "cuStreamAddCallback": lambda w, t: call("cuStreamAddCallback", t, w.called, None, 0),
    "cuStreamAddCallback null": lambda w, t: call("cuStreamAddCallback", t, None, None, 0),
    "cuStreamAddCallback flags": lambda w, t: call("cuStreamAddCallback", t, w.called, None, 7),
    "cuMemcpyDtoDAsync_v2": lambda w, t: call("cuMemcpyDtoDAsync_v2", w.a, w.b, SIZE, t),
    "cuMemcpyDtoDAsync_v2 nowhere": lambda w, t: call("cuMemcpyDtoDAsync_v2", w.a, NOWHERE, SIZE, t),
    "cuMemcpyDtoDAsync_v2 0 bytes": lambda w, t: call("cuMemcpyDtoDAsync_v2", w.a, w.b, NONE, t),
    "cuMemcpyHtoDAsync_v2": lambda w, t: call("cuMemcpyHtoDAsync_v2", w.a, w.pinned, SIZE, t),
    "cuMemcpyHtoDAsync_v2 pageable": lambda w, t: call("cuMemcpyHtoDAsync_v2", w.a, w.pageable, SIZE, t),
    "cuMemcpyHtoDAsync_v2 null": lambda w, t: call("cuMemcpyHtoDAsync_v2", w.a, None, SIZE, t),
    "cuMemcpyHtoDAsync_v2 0 bytes": lambda w, t: call("cuMemcpyHtoDAsync_v2", w.a, w.pinned, NONE, t),
    "cuMemcpyDtoHAsync_v2": lambda w, t: call("cuMemcpyDtoHAsync_v2", w.pinned, w.a, SIZE, t),
    "cuMemcpyDtoHAsync_v2 nowhere": lambda w, t: call("cuMemcpyDtoHAsync_v2", w.pinned, NOWHERE, SIZE, t),
    "cuMemcpyAsync": lambda w, t: call("cuMemcpyAsync", w.a, w.b, SIZE, t),
    "cuMemcpyAsync 0 bytes": lambda w, t: call("cuMemcpyAsync", w.a, w.b, NONE, t),
    "cuMemcpyPeerAsync": lambda w, t: call("cuMemcpyPeerAsync", w.a, w.context, w.b, w.context, SIZE, t),
    "cuMemcpyPeerAsync null": lambda w, t: call("cuMemcpyPeerAsync", w.a, None, w.b, w.context, SIZE, t),
    "cuMemcpyPeerAsync 0 bytes": lambda w, t: call("cuMemcpyPeerAsync", w.a, w.context, w.b, w.context, NONE, t),
    "cuMemcpy2DAsync_v2": lambda w, t: call("cuMemcpy2DAsync_v2", w.plane, t),
    "cuMemcpy2DAsync_v2 pitch": lambda w, t: call("cuMemcpy2DAsync_v2", w.bad_plane, t),
    "cuMemcpy2DAsync_v2 null": lambda w, t: call("cuMemcpy2DAsync_v2", None, t),
    "cuMemcpy2DAsync_v2 0 bytes": lambda w, t: call("cuMemcpy2DAsync_v2", w.no_plane, t),
    "cuMemsetD8Async": lambda w, t: call("cuMemsetD8Async", w.a, c_ubyte(1), SIZE, t),
    "cuMemsetD8Async nowhere": lambda w, t: call("cuMemsetD8Async", NOWHERE, c_ubyte(1), SIZE, t),
    "cuMemsetD8Async 0 bytes": lambda w, t: call("cuMemsetD8Async", w.a, c_ubyte(1), NONE, t),
    "cuMemsetD32Async": lambda w, t: call("cuMemsetD32Async", w.a, 1, SIZE, t),
    "cuMemsetD32Async nowhere": lambda w, t: call("cuMemsetD32Async", NOWHERE, 1, SIZE, t),
    "cuMemsetD32Async misaligned": lambda w, t: call("cuMemsetD32Async", c_uint64(w.a.value + 1), 1, SIZE, t),
    "cuMemsetD32Async 0 elements": lambda w, t: call("cuMemsetD32Async", w.a, 1, NONE, t),
    "cuMemsetD2D8Async": lambda w, t: call("cuMemsetD2D8Async", w.a, c_size_t(64), c_ubyte(1), SIZE, c_size_t(4), t),
    "cuMemsetD2D8Async pitch": lambda w, t: call("cuMemsetD2D8Async", w.a, c_size_t(8), c_ubyte(1), SIZE, c_size_t(4), t),
    "cuMemsetD2D8Async 0 rows": lambda w, t: call("cuMemsetD2D8Async", w.a, c_size_t(64), c_ubyte(1), SIZE, NONE, t),
    "cuStreamWriteValue32_v2": lambda w, t: call("cuStreamWriteValue32_v2", t, w.a, 1, 0),
    "cuStreamWriteValue32_v2 nowhere": lambda w, t: call("cuStreamWriteValue32_v2", t, NOWHERE, 1, 0),
    "cuStreamWriteValue32_v2 misaligned": lambda w, t: call("cuStreamWriteValue32_v2", t, c_uint64(w.a.value + 2), 1, 0),
    "cuStreamWriteValue32_v2 flags": lambda w, t: call("cuStreamWriteValue32_v2", t, w.a, 1, 77),
    "cuStreamWaitValue32_v2": lambda w, t: wait_value(w, t, w.a),
    "cuStreamWaitValue32_v2 nowhere": lambda w, t: wait_value(w, t, NOWHERE),
    "cuStreamWaitValue32_v2 flags": lambda w, t: wait_value(w, t, w.a, 77),
    "cuStreamBatchMemOp_v2 none": lambda w, t: call("cuStreamBatchMemOp_v2", t, 0, None, 0),
    "cuEventRecord": lambda w, t: call("cuEventRecord", w.never, t),
    "cuEventRecord null": lambda w, t: call("cuEventRecord", None, t),
    "cuEventRecordWithFlags external": lambda w, t: call("cuEventRecordWithFlags", w.never, t, 1),
    "cuEventRecordWithFlags flags": lambda w, t: call("cuEventRecordWithFlags", w.never, t, 77),
    "cuStreamWaitEvent never": lambda w, t: call("cuStreamWaitEvent", t, w.never, 0),
    "cuStreamWaitEvent never, external": lambda w, t: call("cuStreamWaitEvent", t, w.never, 1),
    "cuStreamWaitEvent null, flags": lambda w, t: call("cuStreamWaitEvent", t, None, 77),
    "cuStreamWaitEvent": lambda w, t: call("cuStreamWaitEvent", t, w.recorded, 0),
    "cuStreamWaitEvent external": lambda w, t: call("cuStreamWaitEvent", t, w.recorded, 1),
    "cuStreamWaitEvent flags": lambda w, t: call("cuStreamWaitEvent", t, w.recorded, 77),
    "cuStreamWaitEvent null": lambda w, t: call("cuStreamWaitEvent", t, None, 0),
    "cuStreamGetFlags": lambda w, t: call("cuStreamGetFlags", t, byref(w.number)),
    "cuStreamGetFlags null": lambda w, t: call("cuStreamGetFlags", t, None),
    "cuStreamGetId": lambda w, t: call("cuStreamGetId", t, byref(w.wide)),
    "cuStreamGetId null": lambda w, t: call("cuStreamGetId", t, None),
    "cuStreamGetDevice": lambda w, t: call("cuStreamGetDevice", t, byref(w.number)),
    "cuStreamGetPriority": lambda w, t: call("cuStreamGetPriority", t, byref(w.number)),
    "cuStreamGetPriority null": lambda w, t: call("cuStreamGetPriority", t, None),
    "cuStreamGetCtx": lambda w, t: call("cuStreamGetCtx", t, byref(w.handle)),
    "cuStreamGetCtx null": lambda w, t: call("cuStreamGetCtx", t, None),
    "cuStreamGetCtx_v2": lambda w, t: call("cuStreamGetCtx_v2", t, byref(w.handle), byref(w.wide)),
    "cuStreamCopyAttributes": lambda w, t: call("cuStreamCopyAttributes", t, w.other),
    "cuStreamCopyAttributes from": lambda w, t: call("cuStreamCopyAttributes", w.other, t),
    "cuStreamGetAttribute": lambda w, t: call("cuStreamGetAttribute", t, 3, w.value),
    "cuStreamGetAttribute unknown": lambda w, t: call("cuStreamGetAttribute", t, 77, w.value),
    "cuStreamSetAttribute": lambda w, t: call("cuStreamSetAttribute", t, 3, (c_uint64 * 8)(1)),
    "cuStreamSetAttribute unknown": lambda w, t: call("cuStreamSetAttribute", t, 77, w.value),
    "cuStreamQuery": lambda w, t: call("cuStreamQuery", t),
    "cuStreamSynchronize": lambda w, t: call("cuStreamSynchronize", t),
    "cuStreamIsCapturing null": lambda w, t: call("cuStreamIsCapturing", t, None),
    "cuStreamIsCapturing": lambda w, t: call("cuStreamIsCapturing", t, byref(w.number)),
    "cuStreamGetCaptureInfo_v2": lambda w, t: call("cuStreamGetCaptureInfo_v2", t, byref(w.number), byref(w.wide), None, None, None),
    "cuStreamGetCaptureInfo_v2 null": lambda w, t: call("cuStreamGetCaptureInfo_v2", t, None, None, None, None, None),
    "cuStreamUpdateCaptureDependencies": lambda w, t: call("cuStreamUpdateCaptureDependencies", t, None, NONE, 0),
    "cuStreamUpdateCaptureDependencies flags": lambda w, t: call("cuStreamUpdateCaptureDependencies", t, None, NONE, 77),
    "cuStreamBeginCapture_v2": lambda w, t: call("cuStreamBeginCapture_v2", t, RELAXED),
    "cuStreamBeginCapture_v2 mode": lambda w, t: call("cuStreamBeginCapture_v2", t, 77),
    "cuStreamBeginCaptureToGraph": lambda w, t: call("cuStreamBeginCaptureToGraph", t, w.graph, None, None, NONE, RELAXED),
    "cuStreamBeginCaptureToGraph null": lambda w, t: call("cuStreamBeginCaptureToGraph", t, None, None, None, NONE, RELAXED),
    "cuStreamEndCapture": lambda w, t: call("cuStreamEndCapture", t, byref(w.handle)),
    "cuStreamEndCapture null": lambda w, t: call("cuStreamEndCapture", t, None),
    "cuStreamAttachMemAsync": lambda w, t: call("cuStreamAttachMemAsync", t, w.managed, NONE, 4),
    "cuStreamAttachMemAsync plain memory": lambda w, t: call("cuStreamAttachMemAsync", t, w.a, NONE, 4),
    "cuStreamAttachMemAsync flags": lambda w, t: call("cuStreamAttachMemAsync", t, w.managed, NONE, 77),
    "cuMemPrefetchAsync": lambda w, t: call("cuMemPrefetchAsync", w.managed, c_size_t(4096), 0, t),
    "cuMemPrefetchAsync device": lambda w, t: call("cuMemPrefetchAsync", w.managed, c_size_t(4096), 77, t),
    "cuMemPrefetchAsync plain memory": lambda w, t: call("cuMemPrefetchAsync", w.a, c_size_t(4096), 0, t),
    "cuMemPrefetchAsync 0 bytes": lambda w, t: call("cuMemPrefetchAsync", w.managed, NONE, 0, t),
    "cuGraphLaunch": lambda w, t: call("cuGraphLaunch", w.exec, t),
    "cuGraphLaunch null": lambda w, t: call("cuGraphLaunch", None, t),
    "cuGraphUpload": lambda w, t: call("cuGraphUpload", w.exec, t),
    "cuGraphUpload null": lambda w, t: call("cuGraphUpload", None, t),
    "cuMemAllocAsync": lambda w, t: call("cuMemAllocAsync", byref(w.wide), SIZE, t),
    "cuMemAllocAsync null": lambda w, t: call("cuMemAllocAsync", None, SIZE, t),
    "cuMemAllocAsync 0 bytes": lambda w, t: call("cuMemAllocAsync", byref(w.wide), NONE, t),
    "cuMemAllocFromPoolAsync": lambda w, t: call("cuMemAllocFromPoolAsync", byref(w.wide), SIZE, w.pool, t),
    "cuMemAllocFromPoolAsync null": lambda w, t: call("cuMemAllocFromPoolAsync", byref(w.wide), SIZE, None, t),
    "cuMemFreeAsync": lambda w, t: call("cuMemFreeAsync", w.pooled, t),
    "cuMemFreeAsync nowhere": lambda w, t: call("cuMemFreeAsync", NOWHERE, t),
    "cuMemFreeAsync 0": lambda w, t: call("cuMemFreeAsync", c_uint64(0), t),
    # Without a stream: on the legacy stream, or on none.
    "cuMemcpyDtoD_v2": lambda w, t: call("cuMemcpyDtoD_v2", w.a, w.b, SIZE),
    "cuMemcpyDtoD_v2 nowhere": lambda w, t: call("cuMemcpyDtoD_v2", w.a, NOWHERE, SIZE),
    "cuMemcpyDtoD_v2 0 bytes": lambda w, t: call("cuMemcpyDtoD_v2", w.a, w.b, NONE),
    "cuMemcpyHtoD_v2": lambda w, t: call("cuMemcpyHtoD_v2", w.a, w.pageable, SIZE),
    "cuMemcpyHtoD_v2 null": lambda w, t: call("cuMemcpyHtoD_v2", w.a, None, SIZE),
    "cuMemcpyHtoD_v2 0 bytes": lambda w, t: call("cuMemcpyHtoD_v2", w.a, w.pageable, NONE),
    "cuMemcpyDtoH_v2": lambda w, t: call("cuMemcpyDtoH_v2", w.pageable, w.a, SIZE),
    "cuMemcpyDtoH_v2 nowhere": lambda w, t: call("cuMemcpyDtoH_v2", w.pageable, NOWHERE, SIZE),
    "cuMemcpyPeer": lambda w, t: call("cuMemcpyPeer", w.a, w.context, w.b, w.context, SIZE),
    "cuMemcpyPeer null": lambda w, t: call("cuMemcpyPeer", w.a, None, w.b, w.context, SIZE),
    "cuMemcpy2D_v2": lambda w, t: call("cuMemcpy2D_v2", w.plane),
    "cuMemcpy2D_v2 pitch": lambda w, t: call("cuMemcpy2D_v2", w.bad_plane),
    "cuMemcpy2D_v2 0 bytes": lambda w, t: call("cuMemcpy2D_v2", w.no_plane),
    "cuMemsetD8_v2": lambda w, t: call("cuMemsetD8_v2", w.a, c_ubyte(1), SIZE),
    "cuMemsetD8_v2 nowhere": lambda w, t: call("cuMemsetD8_v2", NOWHERE, c_ubyte(1), SIZE),
    "cuMemsetD8_v2 0 bytes": lambda w, t: call("cuMemsetD8_v2", w.a, c_ubyte(1), NONE),
    "cuMemsetD16_v2 misaligned": lambda w, t: call("cuMemsetD16_v2", c_uint64(w.a.value + 1), c_ushort(1), SIZE),
    "cuMemAlloc_v2": lambda w, t: call("cuMemAlloc_v2", byref(w.wide), SIZE),
    "cuMemAlloc_v2 0 bytes": lambda w, t: call("cuMemAlloc_v2", byref(w.wide), NONE),
    "cuMemAlloc_v2 null": lambda w, t: call("cuMemAlloc_v2", None, SIZE),
    "cuMemAllocPitch_v2": lambda w, t: call("cuMemAllocPitch_v2", byref(w.wide), byref(w.handle), SIZE, SIZE, 4),
    "cuMemAllocPitch_v2 element": lambda w, t: call("cuMemAllocPitch_v2", byref(w.wide), byref(w.handle), SIZE, SIZE, 3),
    "cuMemAllocManaged": lambda w, t: call("cuMemAllocManaged", byref(w.wide), SIZE, 1),
    "cuMemAllocManaged flags": lambda w, t: call("cuMemAllocManaged", byref(w.wide), SIZE, 77),
    "cuMemAllocHost_v2": lambda w, t: call("cuMemAllocHost_v2", byref(w.handle), SIZE),
    "cuMemAllocHost_v2 0 bytes": lambda w, t: call("cuMemAllocHost_v2", byref(w.handle), NONE),
    "cuMemHostAlloc flags": lambda w, t: call("cuMemHostAlloc", byref(w.handle), SIZE, 0xff),
    "cuMemHostRegister_v2": lambda w, t: call("cuMemHostRegister_v2", w.pageable, c_size_t(4096), 0),
    "cuMemHostRegister_v2 flags": lambda w, t: call("cuMemHostRegister_v2", w.pageable, c_size_t(4096), 0xff),
    "cuMemHostUnregister not registered": lambda w, t: call("cuMemHostUnregister", w.pageable),
    "cuMemFree_v2": lambda w, t: call("cuMemFree_v2", w.a),
    "cuMemFree_v2 nowhere": lambda w, t: call("cuMemFree_v2", NOWHERE),
    "cuMemFree_v2 0": lambda w, t: call("cuMemFree_v2", c_uint64(0)),
    "cuMemFreeHost": lambda w, t: call("cuMemFreeHost", w.pinned),
    "cuMemFreeHost not locked": lambda w, t: call("cuMemFreeHost", w.pageable),
    "cuMemGetInfo_v2": lambda w, t: call("cuMemGetInfo_v2", byref(w.wide), byref(w.handle)),
    "cuModuleLoadData": lambda w, t: call("cuModuleLoadData", byref(w.handle), KERNEL.encode()),
    "cuModuleLoadData nonsense": lambda w, t: call("cuModuleLoadData", byref(w.handle), b"nonsense"),
    "cuModuleUnload": lambda w, t: call("cuModuleUnload", w.module),
    "cuModuleUnload null": lambda w, t: call("cuModuleUnload", None),
    "cuModuleGetFunction none": lambda w, t: call("cuModuleGetFunction", byref(w.handle), w.module, b"none"),
    "cuStreamCreate": lambda w, t: call("cuStreamCreate", byref(w.handle), 1),
    "cuStreamDestroy_v2 other": lambda w, t: call("cuStreamDestroy_v2", w.other),
    "cuStreamQuery other": lambda w, t: call("cuStreamQuery", w.other),
    "cuStreamSynchronize other": lambda w, t: call("cuStreamSynchronize", w.other),
    "cuStreamSynchronize null": lambda w, t: call("cuStreamSynchronize", None),
    "cuStreamQuery null": lambda w, t: call("cuStreamQuery", None),
    "cuEventCreate": lambda w, t: call("cuEventCreate", byref(w.handle), 0),
    "cuEventDestroy_v2": lambda w, t: call("cuEventDestroy_v2", w.never),
    "cuEventQuery": lambda w, t: call("cuEventQuery", w.recorded),
    "cuEventQuery never": lambda w, t: call("cuEventQuery", w.never),
    "cuEventQuery null": lambda w, t: call("cuEventQuery", None),
    "cuEventSynchronize": lambda w, t: call("cuEventSynchronize", w.recorded),
    "cuEventSynchronize never": lambda w, t: call("cuEventSynchronize", w.never),
    "cuEventElapsedTime": lambda w, t: call("cuEventElapsedTime", byref(w.float), w.timed, w.timed_too),
    "cuEventElapsedTime untimed": lambda w, t: call("cuEventElapsedTime", byref(w.float), w.never, w.timed),
    "cuCtxSynchronize": lambda w, t: call("cuCtxSynchronize"),
    "cuCtxSetLimit": lambda w, t: call("cuCtxSetLimit", 0, c_size_t(2048)),
    "cuCtxSetLimit unknown": lambda w, t: call("cuCtxSetLimit", 77, c_size_t(2048)),
    "cuCtxRecordEvent": lambda w, t: call("cuCtxRecordEvent", w.context, w.never),
    "cuCtxRecordEvent null": lambda w, t: call("cuCtxRecordEvent", w.context, None),
    "cuCtxWaitEvent": lambda w, t: call("cuCtxWaitEvent", w.context, w.recorded),
    "cuCtxWaitEvent null": lambda w, t: call("cuCtxWaitEvent", w.context, None),
    "cuGraphInstantiateWithFlags": lambda w, t: call("cuGraphInstantiateWithFlags", byref(w.handle), w.graph, c_uint64(0)),
    "cuGraphExecDestroy": lambda w, t: call("cuGraphExecDestroy", w.exec),
    "cuDeviceGraphMemTrim": lambda w, t: call("cuDeviceGraphMemTrim", 0),
    "cuMemPoolTrimTo": lambda w, t: call("cuMemPoolTrimTo", w.pool, NONE),
    "cuPointerGetAttribute": lambda w, t: call("cuPointerGetAttribute", byref(w.number), 2, w.a),
    "cuMemAdvise": lambda w, t: call("cuMemAdvise", w.managed, c_size_t(4096), 1, 0),
    "cuFuncGetAttribute": lambda w, t: call("cuFuncGetAttribute", byref(w.number), 0, w.kernel),
    "cuFuncSetAttribute": lambda w, t: call("cuFuncSetAttribute", w.kernel, 8, 1024),
    "cuMemRangeGetAttribute": lambda w, t: call("cuMemRangeGetAttribute", byref(w.number), c_size_t(4), 1, w.managed, c_size_t(4096)),
    "cuMemcpy3DAsync_v2": lambda w, t: call("cuMemcpy3DAsync_v2", w.box, t),
    "cuMemcpy3DAsync_v2 null": lambda w, t: call("cuMemcpy3DAsync_v2", None, t),
    "cuMemcpy3DPeerAsync 0 bytes": lambda w, t: call("cuMemcpy3DPeerAsync", (c_uint64 * 32)(), t),
    "cuMemcpyHtoAAsync_v2": lambda w, t: call("cuMemcpyHtoAAsync_v2", w.array, NONE, w.pinned, SIZE, t),
    "cuMemcpyHtoAAsync_v2 too long": lambda w, t: call("cuMemcpyHtoAAsync_v2", w.array, NONE, w.pinned, c_size_t(4096), t),
    "cuMemcpyAtoH_v2": lambda w, t: call("cuMemcpyAtoH_v2", w.pageable, w.array, NONE, SIZE),
    "cuMemcpyAtoH_v2 too long": lambda w, t: call("cuMemcpyAtoH_v2", w.pageable, w.array, NONE, c_size_t(4096)),
    "cuMemcpyBatchAsync": lambda w, t: w.batch(t),
    "cuMemcpyBatchAsync none": lambda w, t: w.batch(t, count=0),
    "cuMemcpyBatchAsync 0 bytes": lambda w, t: w.batch(t, bytes=0),
    "cuMemPrefetchBatchAsync": lambda w, t: w.prefetches(t),
    "cuMemPrefetchBatchAsync none": lambda w, t: w.prefetches(t, count=0),
    "cuMemPrefetchBatchAsync flags": lambda w, t: w.prefetches(t, flags=7),
    "cuMemDiscardBatchAsync": lambda w, t: w.discards(t),
    "cuMemDiscardBatchAsync flags": lambda w, t: w.discards(t, flags=7),
    "cuMemHostAlloc 0 bytes": lambda w, t: call("cuMemHostAlloc", byref(w.handle), NONE, 0),
    "cuMemHostAlloc null": lambda w, t: call("cuMemHostAlloc", None, SIZE, 0),
    "cuMemAllocHost_v2 null": lambda w, t: call("cuMemAllocHost_v2", None, SIZE),
    "cuMemAllocManaged null": lambda w, t: call("cuMemAllocManaged", None, SIZE, 1),
    "cuMemAllocManaged 0 bytes": lambda w, t: call("cuMemAllocManaged", byref(w.wide), NONE, 1),
    "cuMemAllocPitch_v2 null": lambda w, t: call("cuMemAllocPitch_v2", None, byref(w.handle), SIZE, SIZE, 4),
    "cuMemHostRegister_v2 null": lambda w, t: call("cuMemHostRegister_v2", None, SIZE, 0),
    "cuMemHostRegister_v2 0 bytes": lambda w, t: call("cuMemHostRegister_v2", w.pageable, NONE, 0),
    "cuMemHostUnregister null": lambda w, t: call("cuMemHostUnregister", None),
    "cuMemFreeHost null": lambda w, t: call("cuMemFreeHost", None),
    "cuMemAdvise plain memory": lambda w, t: call("cuMemAdvise", w.a, c_size_t(4096), 1, 0),
    "cuMemAdvise advice": lambda w, t: call("cuMemAdvise", w.managed, c_size_t(4096), 77, 0),
    "cuMemAdvise device": lambda w, t: call("cuMemAdvise", w.managed, c_size_t(4096), 3, 77),
    "cuMemPoolCreate": lambda w, t: call("cuMemPoolCreate", byref(w.handle), w.pool_properties),
    "cuMemPoolCreate null": lambda w, t: call("cuMemPoolCreate", None, w.pool_properties),
    "cuMemPoolDestroy": lambda w, t: call("cuMemPoolDestroy", w.own_pool),
    "cuMemPoolDestroy default": lambda w, t: call("cuMemPoolDestroy", w.pool),
    "cuMemPoolSetAttribute": lambda w, t: call("cuMemPoolSetAttribute", w.own_pool, 4, byref(w.wide)),
    "cuMemPoolGetAttribute": lambda w, t: call("cuMemPoolGetAttribute", w.own_pool, 4, byref(w.wide)),
    "cuDeviceSetMemPool": lambda w, t: call("cuDeviceSetMemPool", 0, w.pool),
    "cuArrayCreate_v2": lambda w, t: call("cuArrayCreate_v2", byref(w.handle), w.array_descriptor),
    "cuArrayCreate_v2 null": lambda w, t: call("cuArrayCreate_v2", None, w.array_descriptor),
    "cuArrayCreate_v2 nonsense": lambda w, t: call("cuArrayCreate_v2", byref(w.handle), (c_uint64 * 3)()),
    "cuArrayDestroy": lambda w, t: call("cuArrayDestroy", w.array),
    "cuMemAddressReserve": lambda w, t: call("cuMemAddressReserve", byref(w.wide), c_size_t(2 << 20), NONE, c_uint64(0), c_uint64(0)),
    "cuMemCreate": lambda w, t: call("cuMemCreate", byref(w.wide), c_size_t(2 << 20), (c_uint64 * 4)(1, 1), c_uint64(0)),
    "cuLibraryLoadData": lambda w, t: call("cuLibraryLoadData", byref(w.handle), KERNEL.encode(), None, None, 0, None, None, 0),
    "cuLibraryUnload": lambda w, t: call("cuLibraryUnload", w.library),
    "cuKernelGetFunction": lambda w, t: call("cuKernelGetFunction", byref(w.handle), w.library_kernel),
    "cuFuncLoad": lambda w, t: call("cuFuncLoad", w.kernel),
    "cuModuleGetGlobal_v2 none": lambda w, t: call("cuModuleGetGlobal_v2", byref(w.wide), None, w.module, b"none"),
    "cuLinkCreate_v2": lambda w, t: call("cuLinkCreate_v2", 0, None, None, byref(w.handle)),
    "cuGraphInstantiateWithFlags null": lambda w, t: call("cuGraphInstantiateWithFlags", None, w.graph, c_uint64(0)),
    "cuGraphInstantiateWithFlags flags": lambda w, t: call("cuGraphInstantiateWithFlags", byref(w.handle), w.graph, c_uint64(1 << 20)),
    "cuGraphExecUpdate_v2": lambda w, t: call("cuGraphExecUpdate_v2", w.exec, w.graph, (c_uint64 * 8)()),
    "cuGraphClone": lambda w, t: call("cuGraphClone", byref(w.handle), w.graph),
    "cuGraphDestroy": lambda w, t: call("cuGraphDestroy", w.graph),
    "cuGraphAddEmptyNode": lambda w, t: call("cuGraphAddEmptyNode", byref(w.handle), w.graph, None, NONE),
    "cuCtxGetLimit": lambda w, t: call("cuCtxGetLimit", byref(w.wide), 0),
    "cuCtxSetCacheConfig": lambda w, t: call("cuCtxSetCacheConfig", 1),
    "cuCtxResetPersistingL2Cache": lambda w, t: call("cuCtxResetPersistingL2Cache"),
    "cuIpcGetMemHandle": lambda w, t: call("cuIpcGetMemHandle", (c_uint64 * 8)(), w.a),
    "cuMemHostGetDevicePointer_v2": lambda w, t: call("cuMemHostGetDevicePointer_v2", byref(w.wide), w.pinned, 0),
    "cuPointerSetAttribute": lambda w, t: call("cuPointerSetAttribute", byref(c_int(1)), 6, w.a),
    "cuProfilerStart": lambda w, t: call("cuProfilerStart"),
    "cuStreamCreateWithPriority": lambda w, t: call("cuStreamCreateWithPriority", byref(w.handle), 1, -1),
    "cuStreamCreate flags": lambda w, t: call("cuStreamCreate", byref(w.handle), 77),
    "cuEventCreate flags": lambda w, t: call("cuEventCreate", byref(w.handle), 0xff),
    "cuThreadExchangeStreamCaptureMode": lambda w, t: call("cuThreadExchangeStreamCaptureMode", byref(c_int(0))),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": lambda w, t: call("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(w.number), w.kernel, 64, NONE),
    "cuMipmappedArrayCreate": lambda w, t: call("cuMipmappedArrayCreate", byref(w.handle), w.solid, 2),
    "cuMipmappedArrayCreate null": lambda w, t: call("cuMipmappedArrayCreate", None, w.solid, 2),
    "cuMipmappedArrayDestroy": lambda w, t: call("cuMipmappedArrayDestroy", w.mipmap),
    "cuMipmappedArrayGetLevel": lambda w, t: call("cuMipmappedArrayGetLevel", byref(w.handle), w.mipmap, 0),
    "cuArray3DCreate_v2": lambda w, t: call("cuArray3DCreate_v2", byref(w.handle), w.solid),
    "cuArrayGetDescriptor_v2": lambda w, t: call("cuArrayGetDescriptor_v2", (c_uint64 * 3)(), w.array),
    "cuTexObjectCreate": lambda w, t: call("cuTexObjectCreate", byref(w.wide), (c_uint64 * 18)(0, w.array.value), (c_uint64 * 13)(), None),
    "cuTexObjectDestroy": lambda w, t: call("cuTexObjectDestroy", w.texture),
    "cuSurfObjectCreate": lambda w, t: call("cuSurfObjectCreate", byref(w.wide), (c_uint64 * 18)(0, w.array.value)),
    "cuMemPoolSetAccess": lambda w, t: call("cuMemPoolSetAccess", w.own_pool, (c_uint * 3)(1, 0, 3), c_size_t(1)),
    "cuMemPoolGetAccess": lambda w, t: call("cuMemPoolGetAccess", byref(w.number), w.own_pool, (c_uint * 2)(1, 0)),
    "cuMemPoolExportPointer": lambda w, t: call("cuMemPoolExportPointer", (c_uint64 * 8)(), w.pooled),
    "cuDeviceGetMemPool": lambda w, t: call("cuDeviceGetMemPool", byref(w.handle), 0),
    "cuDeviceGetDefaultMemPool": lambda w, t: call("cuDeviceGetDefaultMemPool", byref(w.handle), 0),
    "cuMemGetMemPool": lambda w, t: call("cuMemGetMemPool", byref(w.handle), (c_uint * 2)(1, 0), 1),
    "cuMemSetMemPool": lambda w, t: call("cuMemSetMemPool", (c_uint * 2)(1, 0), 1, w.pool),
    "cuDeviceGetGraphMemAttribute": lambda w, t: call("cuDeviceGetGraphMemAttribute", 0, 0, byref(w.wide)),
    "cuDeviceSetGraphMemAttribute": lambda w, t: call("cuDeviceSetGraphMemAttribute", 0, 1, byref(c_uint64(0))),
    "cuMemMap": lambda w, t: call("cuMemMap", w.range, c_size_t(2 << 20), NONE, w.physical, c_uint64(0)),
    "cuMemRelease": lambda w, t: call("cuMemRelease", w.physical),
    "cuMemAddressFree": lambda w, t: call("cuMemAddressFree", w.range, c_size_t(2 << 20)),
    "cuMemSetAccess": lambda w, t: call("cuMemSetAccess", w.mapped, c_size_t(2 << 20), (c_uint * 3)(1, 0, 3), c_size_t(1)),
    "cuMemUnmap": lambda w, t: call("cuMemUnmap", w.mapped, c_size_t(2 << 20)),
    "cuMemGetAddressRange_v2": lambda w, t: call("cuMemGetAddressRange_v2", byref(w.wide), byref(w.handle), w.a),
    "cuMemHostGetFlags": lambda w, t: call("cuMemHostGetFlags", byref(w.number), w.pinned),
    "cuIpcGetEventHandle": lambda w, t: call("cuIpcGetEventHandle", (c_uint64 * 8)(), w.shared_event),
    "cuIpcCloseMemHandle": lambda w, t: call("cuIpcCloseMemHandle", w.a),
    "cuIpcOpenMemHandle_v2 nonsense": lambda w, t: call("cuIpcOpenMemHandle_v2", byref(w.wide), Handle(), 1),
    "cuFuncSetCacheConfig": lambda w, t: call("cuFuncSetCacheConfig", w.kernel, 1),
    "cuFuncSetSharedMemConfig": lambda w, t: call("cuFuncSetSharedMemConfig", w.kernel, 1),
    "cuCtxSetSharedMemConfig": lambda w, t: call("cuCtxSetSharedMemConfig", 1),
    "cuCtxGetSharedMemConfig": lambda w, t: call("cuCtxGetSharedMemConfig", byref(w.number)),
    "cuCtxGetCacheConfig": lambda w, t: call("cuCtxGetCacheConfig", byref(w.number)),
    "cuCtxGetStreamPriorityRange": lambda w, t: call("cuCtxGetStreamPriorityRange", byref(w.number), None),
    "cuCtxGetId": lambda w, t: call("cuCtxGetId", w.context, byref(w.wide)),
    "cuCtxSetFlags": lambda w, t: call("cuCtxSetFlags", 0),
    "cuCtxEnablePeerAccess own": lambda w, t: call("cuCtxEnablePeerAccess", w.context, 0),
    "cuProfilerStop": lambda w, t: call("cuProfilerStop"),
    "cuModuleLoadDataEx": lambda w, t: call("cuModuleLoadDataEx", byref(w.handle), KERNEL.encode(), 0, None, None),
    "cuModuleGetFunctionCount": lambda w, t: call("cuModuleGetFunctionCount", byref(w.number), w.module),
    "cuLibraryGetKernel": lambda w, t: call("cuLibraryGetKernel", byref(w.handle), w.library, b"k"),
    "cuLibraryGetModule": lambda w, t: call("cuLibraryGetModule", byref(w.handle), w.library),
    "cuKernelSetAttribute": lambda w, t: call("cuKernelSetAttribute", 8, 1024, w.library_kernel, 0),
    "cuKernelGetAttribute": lambda w, t: call("cuKernelGetAttribute", byref(w.number), 0, w.library_kernel, 0),
    "cuLinkAddData_v2": lambda w, t: call("cuLinkAddData_v2", w.link, 1, KERNEL.encode(), c_size_t(len(KERNEL) + 1), b"k", 0, None, None),
    "cuLinkDestroy": lambda w, t: call("cuLinkDestroy", w.link),
    "cuGraphCreate": lambda w, t: call("cuGraphCreate", byref(w.handle), 0),
    "cuGraphGetNodes": lambda w, t: call("cuGraphGetNodes", w.graph, None, byref(w.wide)),
    "cuGraphAddMemAllocNode": lambda w, t: call("cuGraphAddMemAllocNode", byref(w.handle), w.graph, None, NONE, w.node_memory),
    "cuGraphAddMemFreeNode nowhere": lambda w, t: call("cuGraphAddMemFreeNode", byref(w.handle), w.graph, None, NONE, NOWHERE),
    "cuGraphAddEventRecordNode": lambda w, t: call("cuGraphAddEventRecordNode", byref(w.handle), w.graph, None, NONE, w.never),
    "cuGraphExecGetFlags": lambda w, t: call("cuGraphExecGetFlags", w.exec, byref(w.wide)),
    "cuUserObjectCreate": lambda w, t: call("cuUserObjectCreate", byref(w.handle), None, w.host, 1, 1),
    "cuPointerGetAttributes": lambda w, t: call("cuPointerGetAttributes", 0, None, None, w.a),
    "cuMemRangeGetAttributes none": lambda w, t: call("cuMemRangeGetAttributes", None, None, None, NONE, w.managed, c_size_t(4096)),
    "cuDevicePrimaryCtxGetState": lambda w, t: call("cuDevicePrimaryCtxGetState", 0, byref(w.number), byref(w.wide)),
    "cuDevicePrimaryCtxSetFlags_v2": lambda w, t: call("cuDevicePrimaryCtxSetFlags_v2", 0, 0),
    "cuCtxGetCurrent": lambda w, t: call("cuCtxGetCurrent", byref(w.handle)),
    "cuCtxSetCurrent": lambda w, t: call("cuCtxSetCurrent", w.context),
    "cuDeviceGetAttribute": lambda w, t: call("cuDeviceGetAttribute", byref(w.number), 1, 0),
    "cuDeviceTotalMem_v2": lambda w, t: call("cuDeviceTotalMem_v2", byref(w.wide), 0),
    "cuFlushGPUDirectRDMAWrites": lambda w, t: call("cuFlushGPUDirectRDMAWrites", 1, 100),
    "cuEventRecord other stream": lambda w, t: call("cuEventRecord", w.never, w.other),
    "cuStreamGetDevice other": lambda w, t: call("cuStreamGetDevice", w.other, byref(w.number)),
    "cuMemFree_v2 inside": lambda w, t: call("cuMemFree_v2", c_uint64(w.a.value + 256)),
    "cuMemcpyDtoHAsync_v2 pageable": lambda w, t: call("cuMemcpyDtoHAsync_v2", w.pageable, w.a, SIZE, t),
    "cuMemcpyAtoDAsync": lambda w, t: call("cuMemcpyAtoD_v2", w.a, w.array, NONE, SIZE),
}
# Last, because it may leave a capture that nobody can end.
LAST = {"cuStreamDestroy_v2": lambda w, t: call("cuStreamDestroy_v2", t)}

# Only a stream that is capturing can be joined.
IN_JOINED = {
    "cuLaunchKernel 0 blocks in a joined stream": lambda w, t: launch(w, w.joined(), grid=(0, 1, 1)),
    "cuMemcpyDtoDAsync_v2 in a joined stream": lambda w, t: call("cuMemcpyDtoDAsync_v2", w.a, w.b, SIZE, w.joined()),
    "cuStreamGetFlags of a joined stream": lambda w, t: call("cuStreamGetFlags", w.joined(), byref(w.number)),
    "cuStreamEndCapture of a joined stream": lambda w, t: call("cuStreamEndCapture", w.joined(), byref(w.handle)),
    "cuStreamBeginCapture_v2 of a joined stream": lambda w, t: call("cuStreamBeginCapture_v2", w.joined(), RELAXED),
}
