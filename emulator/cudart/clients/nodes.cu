// Graph nodes of each kind through the calls for any kind, parameters that are read back, nodes that copy to and from
// variables, descriptions of textures, and copies of boxes between two devices.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static int wrong;
#define RIGHT(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) wrong++, fprintf(stderr, "line %d: %s, %s\n", __LINE__, #what, cudaGetErrorName(cudaGetLastError())); \
    } while (0)
#define WORKS(call) RIGHT((call) == cudaSuccess)

__device__ int variable[4];
__global__ void add(int *out, int number) { out[threadIdx.x] += number; }
__global__ void count(int *out, cudaGraphConditionalHandle more) {
    if (++*out == 5) cudaGraphSetConditional(more, 0);
}

static cudaGraphNode_t added(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphNodeParams *parameters) {
    cudaGraphNode_t node = nullptr;
    WORKS(cudaGraphAddNode(&node, graph, &after, nullptr, after ? 1 : 0, parameters));
    return node;
}

static cudaGraphNodeParams kernel(void *function, int threads, void **arguments) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    p.kernel.func = function;
    p.kernel.gridDim = dim3(1);
    p.kernel.blockDim = dim3(threads);
    p.kernel.kernelParams = arguments;
    return p;
}

static cudaGraphNodeParams copy(void *to, void *from, size_t bytes) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeMemcpy};
    p.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
    p.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(from, bytes, bytes, 1);
    p.memcpy.copyParams.extent = make_cudaExtent(bytes, 1, 1);
    p.memcpy.copyParams.kind = cudaMemcpyDefault;
    return p;
}

static void run(cudaGraph_t graph) {
    cudaGraphExec_t exec;
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphLaunch(exec, nullptr));
    WORKS(cudaDeviceSynchronize());
    WORKS(cudaGraphExecDestroy(exec));
}

static void any_kind() {
    cudaGraph_t graph;
    WORKS(cudaGraphCreate(&graph, 0));
    int four = 4, got[4] = {};
    cudaGraphNodeParams memory = {cudaGraphNodeTypeMemAlloc};
    memory.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    memory.alloc.bytesize = 16;
    cudaGraphNode_t node = added(graph, nullptr, &memory);
    int *out = (int *)memory.alloc.dptr;
    RIGHT(out != nullptr);
    cudaGraphNodeParams fill = {cudaGraphNodeTypeMemset};
    fill.memset = {out, 0, 1, 4, 4, 1};
    node = added(graph, node, &fill);
    void *arguments[] = {&out, &four};
    cudaGraphNodeParams launch = kernel((void *)add, 4, arguments);
    cudaGraphNode_t kernel_node = node = added(graph, node, &launch);
    cudaGraphNodeParams back = copy(got, out, 16);
    cudaGraphNode_t copy_node = node = added(graph, node, &back);
    cudaGraphNodeParams end = {cudaGraphNodeTypeMemFree};
    end.free.dptr = out;
    added(graph, node, &end);
    cudaKernelNodeParams kernel_read = {};
    WORKS(cudaGraphKernelNodeGetParams(kernel_node, &kernel_read));
    RIGHT(kernel_read.func == (void *)add && kernel_read.blockDim.x == 4 && *(int *)kernel_read.kernelParams[1] == 4);
    WORKS(cudaGraphKernelNodeSetParams(kernel_node, &kernel_read));
    cudaMemcpy3DParms copy_read = {};
    WORKS(cudaGraphMemcpyNodeGetParams(copy_node, &copy_read));
    RIGHT(copy_read.dstPtr.ptr == got && copy_read.srcPtr.ptr == out && copy_read.extent.width == 16);
    WORKS(cudaGraphMemcpyNodeSetParams(copy_node, &copy_read));
    run(graph);
    RIGHT(got[0] == 5 && got[3] == 5);
    int nine = 9;
    arguments[1] = &nine;
    launch = kernel((void *)add, 2, arguments);
    WORKS(cudaGraphNodeSetParams(kernel_node, &launch));
    run(graph);
    RIGHT(got[0] == 10 && got[3] == 1);
    cudaGraphExec_t exec;
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    launch = kernel((void *)add, 1, arguments);
    WORKS(cudaGraphExecNodeSetParams(exec, kernel_node, &launch));
    WORKS(cudaGraphLaunch(exec, nullptr));
    WORKS(cudaDeviceSynchronize());
    RIGHT(got[0] == 10 && got[1] == 1);
    RIGHT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, nullptr) == cudaErrorInvalidValue);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(graph));
}

static void loop() {
    cudaGraph_t graph;
    int *out, got = 0;
    WORKS(cudaMalloc(&out, 4));
    WORKS(cudaMemset(out, 0, 4));
    WORKS(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle more;
    WORKS(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional};
    condition.conditional.handle = more;
    condition.conditional.type = cudaGraphCondTypeWhile;
    condition.conditional.size = 1;
    added(graph, nullptr, &condition);
    RIGHT(condition.conditional.phGraph_out != nullptr);
    void *arguments[] = {&out, &more};
    cudaGraphNodeParams launch = kernel((void *)count, 1, arguments);
    added(condition.conditional.phGraph_out[0], nullptr, &launch);
    run(graph);
    WORKS(cudaMemcpy(&got, out, 4, cudaMemcpyDefault));
    RIGHT(got == 5);
    WORKS(cudaGraphDestroy(graph));
    WORKS(cudaFree(out));
}

static void captured() {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    size_t number = 1;
    int *out;
    WORKS(cudaMalloc(&out, 4));
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<2, 3, 0, stream>>>(out, 7);
    WORKS(cudaStreamEndCapture(stream, &graph));
    WORKS(cudaGraphGetNodes(graph, &node, &number));
    cudaKernelNodeParams found = {};
    WORKS(cudaGraphKernelNodeGetParams(node, &found));
    RIGHT(found.func == (void *)add && found.gridDim.x == 2 && found.blockDim.x == 3 && *(int *)found.kernelParams[1] == 7);
    WORKS(cudaGraphDestroy(graph));
    WORKS(cudaStreamDestroy(stream));
    WORKS(cudaFree(out));
}

static void variables() {
    cudaGraph_t graph;
    cudaGraphNode_t to, from;
    int given[] = {1, 2, 3, 4}, other[] = {5, 6}, got[4] = {};
    WORKS(cudaGraphCreate(&graph, 0));
    WORKS(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, given, 16, 0, cudaMemcpyHostToDevice));
    WORKS(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, got, variable, 8, 8, cudaMemcpyDeviceToHost));
    run(graph);
    RIGHT(got[0] == 3 && got[1] == 4 && got[2] == 0);
    WORKS(cudaGraphMemcpyNodeSetParamsFromSymbol(from, got, variable, 16, 0, cudaMemcpyDeviceToHost));
    WORKS(cudaGraphMemcpyNodeSetParamsToSymbol(to, variable, other, 8, 4, cudaMemcpyHostToDevice));
    run(graph);
    RIGHT(got[0] == 1 && got[1] == 5 && got[2] == 6 && got[3] == 4);
    cudaGraphExec_t exec;
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable, given, 8, 8, cudaMemcpyHostToDevice));
    WORKS(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, got, variable, 16, 0, cudaMemcpyDeviceToHost));
    WORKS(cudaGraphLaunch(exec, nullptr));
    WORKS(cudaDeviceSynchronize());
    RIGHT(got[1] == 5 && got[2] == 1 && got[3] == 2);
    RIGHT(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, given, 16, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    RIGHT(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, given, given, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(graph));
}

static void textures() {
    float *memory;
    size_t pitch;
    cudaTextureObject_t object;
    WORKS(cudaMallocPitch(&memory, &pitch, 64, 8));
    cudaResourceDesc plane = {}, found = {};
    plane.resType = cudaResourceTypePitch2D;
    plane.res.pitch2D = {memory, cudaCreateChannelDesc<float>(), 16, 8, pitch};
    cudaTextureDesc texture = {}, seen = {};
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
    texture.filterMode = cudaFilterModeLinear;
    texture.normalizedCoords = 1;
    WORKS(cudaCreateTextureObject(&object, &plane, &texture, nullptr));
    WORKS(cudaGetTextureObjectResourceDesc(&found, object));
    RIGHT(found.resType == plane.resType && !memcmp(&found.res.pitch2D, &plane.res.pitch2D, sizeof plane.res.pitch2D));
    WORKS(cudaGetTextureObjectTextureDesc(&seen, object));
    RIGHT(seen.addressMode[1] == cudaAddressModeClamp && seen.filterMode == cudaFilterModeLinear && seen.normalizedCoords == 1);
    RIGHT(seen.readMode == cudaReadModeElementType);
    WORKS(cudaDestroyTextureObject(object));
    cudaResourceDesc line = {}, surface = {};
    line.resType = cudaResourceTypeLinear;
    line.res.linear = {memory, cudaCreateChannelDesc<uchar4>(), 256};
    texture = {};
    texture.readMode = cudaReadModeNormalizedFloat;
    WORKS(cudaCreateTextureObject(&object, &line, &texture, nullptr));
    WORKS(cudaGetTextureObjectResourceDesc(&found, object));
    RIGHT(found.res.linear.devPtr == memory && found.res.linear.sizeInBytes == 256 && found.res.linear.desc.w == 8);
    WORKS(cudaGetTextureObjectTextureDesc(&seen, object));
    RIGHT(seen.readMode == cudaReadModeNormalizedFloat && seen.normalizedCoords == 0);
    WORKS(cudaDestroyTextureObject(object));

    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    WORKS(cudaMallocArray(&array, &format, 16, 8, cudaArraySurfaceLoadStore));
    surface.resType = cudaResourceTypeArray;
    surface.res.array.array = array;
    cudaSurfaceObject_t drawn;
    WORKS(cudaCreateSurfaceObject(&drawn, &surface));
    WORKS(cudaGetSurfaceObjectResourceDesc(&found, drawn));
    RIGHT(found.resType == cudaResourceTypeArray && found.res.array.array == array);
    WORKS(cudaDestroySurfaceObject(drawn));
    cudaResourceViewDesc view = {}, view_seen = {};
    view.format = cudaResViewFormatUnsignedInt1;
    view.width = 16, view.height = 8;
    texture = {};
    WORKS(cudaCreateTextureObject(&object, &surface, &texture, &view));
    WORKS(cudaGetTextureObjectResourceViewDesc(&view_seen, object));
    RIGHT(view_seen.format == view.format && view_seen.width == 16 && view_seen.height == 8);
    WORKS(cudaDestroyTextureObject(object));
    WORKS(cudaFreeArray(array));
    WORKS(cudaFree(memory));
}

static void boxes() {
    char *first, *second, got[64] = {};
    WORKS(cudaMalloc(&first, 64));
    WORKS(cudaMemset(first, 3, 64));
    WORKS(cudaSetDevice(1));
    WORKS(cudaMalloc(&second, 64));
    WORKS(cudaMemset(second, 1, 64));
    cudaMemcpy3DPeerParms copied = {};
    copied.srcPtr = make_cudaPitchedPtr(first, 8, 8, 4);
    copied.dstPtr = make_cudaPitchedPtr(second, 16, 16, 2);
    copied.dstPos = make_cudaPos(2, 1, 0);
    copied.dstDevice = 1;
    copied.extent = make_cudaExtent(5, 1, 2);
    WORKS(cudaMemcpy3DPeer(&copied));
    WORKS(cudaMemcpy(got, second, 64, cudaMemcpyDefault));
    RIGHT(got[17] == 1 && got[18] == 3 && got[22] == 3 && got[23] == 1 && got[50] == 3 && got[40] == 1);
    copied.extent.width = 1, copied.dstPos.x = 9;
    WORKS(cudaMemcpy3DPeerAsync(&copied, nullptr));
    WORKS(cudaDeviceSynchronize());
    WORKS(cudaMemcpy(got, second, 64, cudaMemcpyDefault));
    RIGHT(got[24] == 1 && got[25] == 3 && got[26] == 1);
    copied.srcDevice = 9;
    RIGHT(cudaMemcpy3DPeer(&copied) == cudaErrorInvalidDevice);
    WORKS(cudaSetDevice(0));

    cudaMemcpy3DBatchOp one = {};
    one.src.type = one.dst.type = cudaMemcpyOperandTypePointer;
    one.src.op.ptr = {first, 0, 0, {cudaMemLocationTypeDevice, 0}};
    one.dst.op.ptr = {got, 0, 0, {cudaMemLocationTypeHost, 0}};
    one.extent = make_cudaExtent(32, 1, 1);
    one.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    memset(got, 0, sizeof got);
    cudaStream_t stream;
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaMemcpy3DBatchAsync(1, &one, 0, stream));
    WORKS(cudaStreamSynchronize(stream));
    RIGHT(got[0] == 3 && got[31] == 3 && got[32] == 0);
}

int main() {
    any_kind(), loop(), captured(), variables(), textures(), boxes();
    // Of the calls that should fail.
    cudaGetLastError();
    printf("%s, %s\n", wrong ? "WRONG" : "right", cudaGetErrorName(cudaDeviceSynchronize()));
    return wrong;
}
