// What `explore.cu` needs of CUDA.

typedef unsigned long long u64;

#define LANE __device__ __forceinline__
#define FAR __device__ __noinline__
// A loop that is not worth several copies of its body.
#define ROLLED _Pragma("unroll 1")
#define KERNEL extern "C" __global__ void

LANE u64 first_lane() { return blockIdx.x * (u64)blockDim.x + threadIdx.x; }
LANE u64 n_lanes() { return gridDim.x * (u64)blockDim.x; }

// Memory that no kernel writes: places and programs.
LANE u64 read_only(const u64* at) { return __ldg(at); }
LANE unsigned read_only(const unsigned* at) { return __ldg(at); }
LANE void read_four(const unsigned* at, unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    uint4 words = __ldg((const uint4*)at);
    a = words.x, b = words.y, c = words.z, d = words.w;
}

// Memory that other lanes write. What another multiprocessor has written is in the second cache, never in the first.
LANE u64 load_shared(const u64* at) { return __ldcg(at); }
LANE u64 load_acquire(const u64* at) {
    u64 word;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}
// A bucket is one sector of 32 bytes. An entry that was written once does not change, and one that looks empty is tried again.
LANE void read_bucket(const u64* at, u64* entries) {
    ulonglong2 first = __ldcg((const ulonglong2*)at), second = __ldcg((const ulonglong2*)(at + 2));
    entries[0] = first.x, entries[1] = first.y, entries[2] = second.x, entries[3] = second.y;
}
// A word that may be old: it matters to nobody but the clock.
LANE u64 glance(const u64* at) { return *at; }
LANE void fence() { __threadfence(); }

LANE u64 atomic_swap_if(u64* at, u64 old, u64 mine) { return atomicCAS(at, old, mine); }
LANE void atomic_or(u64* at, u64 bits) { atomicOr(at, bits); }
LANE void atomic_and(u64* at, u64 bits) { atomicAnd(at, bits); }
LANE void atomic_add(u64* at, u64 n) { atomicAdd(at, n); }

// Counts one for each lane that is here; the lanes of a warp go to the memory together.
LANE u64 count_one(u64* at) {
    unsigned here = __activemask(), lane = threadIdx.x & 31;
    int leader = __ffs(here) - 1;
    u64 first = 0;
    if ((int)lane == leader) first = atomicAdd(at, (u64)__popc(here));
    first = __shfl_sync(here, first, leader);
    return first + __popc(here & ((1u << lane) - 1));
}

LANE u64 high_unsigned(u64 x, u64 y) { return __umul64hi(x, y); }
LANE long long high_product(long long x, long long y) { return __mul64hi(x, y); }
