// What `explore.cu` needs of CUDA.

typedef unsigned long long u64;

#define LANE __device__ __forceinline__
#define FAR __device__ __noinline__
// A loop that is not worth several copies of its body.
#define ROLLED _Pragma("unroll 1")
// Blocks of 256 lanes, of which four share a multiprocessor: with fewer registers a lane waits for memory less often alone.
#define KERNEL extern "C" __global__ void __launch_bounds__(256, 4)

LANE u64 first_lane() { return blockIdx.x * (u64)blockDim.x + threadIdx.x; }
LANE u64 n_lanes() { return gridDim.x * (u64)blockDim.x; }

// The lanes of a warp do the same at the same time. Each warp has a queue that all of its lanes see.
#define WARP 32
LANE unsigned lane_of_warp() { return threadIdx.x & 31; }
LANE unsigned who(bool is_so) { return __ballot_sync(~0u, is_so); }
LANE unsigned n_bits(unsigned lanes) { return __popc(lanes); }
LANE unsigned n_before(unsigned lanes) { return __popc(lanes & ((1u << lane_of_warp()) - 1)); }
LANE void wait_for_warp() { __syncwarp(); }
LANE u64* warp_queue() {
    __shared__ u64 queues[8][2 * WARP];
    return queues[threadIdx.x / WARP];
}

// Memory that no kernel writes: places and programs.
LANE u64 read_only(const u64* at) { return __ldg(at); }
LANE unsigned read_only(const unsigned* at) { return __ldg(at); }
LANE void read_four(const unsigned* at, unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    uint4 words = __ldg((const uint4*)at);
    a = words.x, b = words.y, c = words.z, d = words.w;
}

// Memory that other lanes write. What another multiprocessor has written is in the second cache, never in the first.
LANE u64 load_shared(const u64* at) { return __ldcg(at); }
LANE unsigned load_shared(const unsigned* at) { return __ldcg(at); }
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
// Eight words that begin at a multiple of eight.
LANE void read_eight(const unsigned* at, unsigned* words) {
    uint4 first = __ldcg((const uint4*)at), second = __ldcg((const uint4*)(at + 4));
    words[0] = first.x, words[1] = first.y, words[2] = first.z, words[3] = first.w;
    words[4] = second.x, words[5] = second.y, words[6] = second.z, words[7] = second.w;
}
// A word that may be old: it matters to nobody but the clock.
LANE u64 glance(const u64* at) { return *at; }
LANE void fence() { __threadfence(); }

LANE u64 atomic_swap_if(u64* at, u64 old, u64 mine) { return atomicCAS(at, old, mine); }
LANE void atomic_or(u64* at, u64 bits) { atomicOr(at, bits); }
LANE void atomic_and(u64* at, u64 bits) { atomicAnd(at, bits); }
LANE void atomic_add(u64* at, u64 n) { atomicAdd(at, n); }
LANE unsigned atomic_or(unsigned* at, unsigned bits) { return atomicOr(at, bits); }
LANE void atomic_and(unsigned* at, unsigned bits) { atomicAnd(at, bits); }
LANE unsigned atomic_add(unsigned* at, unsigned n) { return atomicAdd(at, n); }

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
