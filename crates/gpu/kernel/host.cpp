// A device that is a process: reads commands from its input, and answers on its output. For tests of the kernels without a device.
//
// A command is four words: what, and three operands. 0: take so many words. 1: write at, so many words, which follow. 2: read
// at, so many words, which are the answer. 3: fill at, so many words, with a byte. 4: launch a kernel for so many numbers; six
// words follow. Every command but a read is answered by one word, 0.

#include "explore.cu"
#include "reduce.cu"

// What leaves something out of products looks at states otherwise: it has all of that once more.
#undef FOR_ALL
#undef FOR_ALL_AS
#undef LOOK_FAR
namespace led {
#include "guide.cu"
}
#define LED(name) [](u64* memory, u64 n, Orders orders) { led::name(memory, n, *(const led::Orders*)&orders); }

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

static bool get(void* to, u64 n_words) { return fread(to, 8, n_words, stdin) == n_words; }

int main(int, char** arguments) {
    all_lanes = led::all_lanes = arguments[1] ? strtoull(arguments[1], nullptr, 10) : 1;
    void (*const kernels[])(u64*, u64, Orders) = {stubborn_insert, stubborn_expand, stubborn_select,
                                                  stubborn_scan,   stubborn_ask,    stubborn_mark,
                                                  stubborn_pair,   stubborn_begin,  stubborn_spread,
                                                  stubborn_tell,   stubborn_reduce, stubborn_retrace,
                                                  LED(stubborn_pair_led), LED(stubborn_scan_led),
                                                  LED(stubborn_spread_led)};
    std::vector<u64> memory;
    u64 command[4];
    while (get(command, 4)) {
        u64 at = command[1], n = command[2], zero = 0;
        bool is_answered = false;
        switch (command[0]) {
        case 0: memory.assign(at, 0x5555555555555555ULL); break;
        case 1:
            if (!get(memory.data() + at, n)) return 1;
            break;
        case 2:
            fwrite(memory.data() + at, 8, n, stdout);
            is_answered = true;
            break;
        case 3: memset(memory.data() + at, (int)command[3], n * 8); break;
        default: {
            Orders orders;
            if (at >= sizeof kernels / sizeof *kernels || !get(orders.words, 6)) return 1;
            std::vector<std::thread> threads;
            for (u64 lane = 0; lane < all_lanes; lane++)
                threads.emplace_back([&, lane] {
                    this_lane = led::this_lane = lane;
                    kernels[at](memory.data(), n, orders);
                });
            for (std::thread& thread : threads) thread.join();
        }
        }
        if (!is_answered) fwrite(&zero, 8, 1, stdout);
        fflush(stdout);
    }
    return 0;
}
