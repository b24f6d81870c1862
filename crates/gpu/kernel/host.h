// What stands for CUDA where `explore.cu` is plain C++: threads are lanes, and a warp has one of them.

#include <cstdint>
#include <cstdlib>

typedef unsigned long long u64;

#define LANE
#define FAR
#define ROLLED
#define KERNEL static void

// Which lane this thread is, and how many there are.
static thread_local u64 this_lane = 0;
static u64 all_lanes = 1;

static inline u64 first_lane() { return this_lane; }
static inline u64 n_lanes() { return all_lanes; }

#define WARP 1
static inline unsigned lane_of_warp() { return 0; }
static inline unsigned who(bool is_so) { return is_so; }
static inline unsigned n_bits(unsigned lanes) { return lanes; }
static inline unsigned n_before(unsigned) { return 0; }
static inline void wait_for_warp() {}
static inline u64* warp_queue() {
    static thread_local u64 queue[2];
    return queue;
}

// A card reads several words at once only from where they may begin.
static inline void begins(const void* at) {
    if ((uintptr_t)at % 16) abort();
}

static inline u64 read_only(const u64* at) { return *at; }
static inline unsigned read_only(const unsigned* at) { return *at; }
static inline void read_four(const unsigned* at, unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    begins(at);
    a = at[0], b = at[1], c = at[2], d = at[3];
}

static inline u64 load_shared(const u64* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
static inline unsigned load_shared(const unsigned* at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
static inline u64 load_acquire(const u64* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static inline void read_bucket(const u64* at, u64* entries) {
    begins(at);
    for (int slot = 0; slot < 4; slot++) entries[slot] = load_shared(at + slot);
}
static inline void read_eight(const unsigned* at, unsigned* words) {
    begins(at);
    for (int nth = 0; nth < 8; nth++) words[nth] = load_shared(at + nth);
}
static inline u64 glance(const u64* at) { return load_shared(at); }
static inline void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static inline u64 atomic_swap_if(u64* at, u64 old, u64 mine) {
    __atomic_compare_exchange_n(at, &old, mine, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}
static inline void atomic_or(u64* at, u64 bits) { __atomic_fetch_or(at, bits, __ATOMIC_RELAXED); }
static inline void atomic_and(u64* at, u64 bits) { __atomic_fetch_and(at, bits, __ATOMIC_RELAXED); }
static inline void atomic_add(u64* at, u64 n) { __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
static inline unsigned atomic_or(unsigned* at, unsigned bits) { return __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST); }
static inline void atomic_and(unsigned* at, unsigned bits) { __atomic_fetch_and(at, bits, __ATOMIC_SEQ_CST); }
static inline unsigned atomic_add(unsigned* at, unsigned n) { return __atomic_fetch_add(at, n, __ATOMIC_SEQ_CST); }
static inline u64 count_one(u64* at) { return __atomic_fetch_add(at, 1, __ATOMIC_RELAXED); }

static inline u64 high_unsigned(u64 x, u64 y) { return (u64)((unsigned __int128)x * y >> 64); }
static inline long long high_product(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
