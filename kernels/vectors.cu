// Kernels that take each of CUDA's vector types, for the checks of a launch's arguments.
//
// One thread each, no shared memory; they do nothing. A byte lies before each vector, so that offsets show its alignment.
// The vectors of four numbers of eight bytes are those aligned to 16, under whichever name the compiler has them.

#if __CUDACC_VER_MAJOR__ >= 13
#define OF_FOUR(type) type##_16a
#else
#define OF_FOUR(type) type
#endif

#define KERNEL(name, A, B, C, D, E, F)                                                                               \
    extern "C" __global__ void name(unsigned char a, A va, unsigned char b, B vb, unsigned char c, C vc,             \
                                    unsigned char d, D vd, unsigned char e, E ve, unsigned char f, F vf) {}

KERNEL(chars, char2, char3, char4, uchar2, uchar3, uchar4)
KERNEL(shorts, short2, short3, short4, ushort2, ushort3, ushort4)
KERNEL(ints, int2, int3, int4, uint2, uint3, uint4)
KERNEL(longlongs, longlong2, longlong3, OF_FOUR(longlong4), ulonglong2, ulonglong3, OF_FOUR(ulonglong4))
KERNEL(floats, float2, float3, float4, double2, double3, OF_FOUR(double4))
