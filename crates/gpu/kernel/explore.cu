// The kernels of a search on a device: what `device::cpu` of `stubborn-check` does, on the same memory, in CUDA C++.
//
// One lane has one state. All actions are tried in the order of their numbers, so that the lanes of a warp read the same tables at
// the same time. The meaning of the tables is that of `model::tables`; what is hard is noted, and left to the processor. The
// memory is one array of 64-bit words, which begins with a block of places and counters (`device::memory`). Nothing here
// allocates, and nothing is recursive.
//
// The text is also plain C++: `host.h` stands for what CUDA brings along, so that it is tested where there is no device.

#ifdef __CUDACC__
#include "device.h"
#else
#include "host.h"
#endif

// ---- What the words mean: the same numbers as in Rust, which a test compares ------------------------------------------------

enum Place { PROGRAM, STATE_WORDS, IS_NARROW, TABLE, N_BUCKETS, CODES, ARENA, CAPACITY, HOLES, NOTES, LETTERS, TAKEN, WORDS, SEEN };
enum Counter { ADDED = 16, N_HOLES, TRANSITIONS, DEADLOCKS, FULL, N_NOTES, FOUND };
enum Head { WIDTH, N_ACTIONS, ACTIONS, FIELDS, PROPOSITIONS, N_PROPOSITIONS, PROCESSES, HAS_QUIET, OBSERVER };
enum Test { MATCH, MEMBER, BETWEEN, MEMBER_OF, RUN, NEVER };
enum Op {
    RETURN, BLIT, PUSH, LOAD, LOAD_ELEMENT, NEG, NOT, BIT_NOT, TRUNCATE, BINARY, JUMP_IF_ZERO, JUMP, LOOP, AND_THEN, OR_ELSE,
    TRUTH, STORE, STORE_ELEMENT, ADD_TO, MAP, ASSERT
};
enum Binary { PLUS, MINUS, TIMES, DIV, REM, AND, OR, EQ, NE, LT, LE, GT, GE, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR };

#define MAX_WIDTH 16
#define MAX_CHAIN 32
#define MAX_DEPTH 32
#define MAX_ROUNDS 4096
#define MAX_PROBES 512
#define MAX_LETTERS 4096
#define NUMBER_BITS 40
#define EMPTY (~0ULL)

typedef unsigned int u32;
typedef long long i64;

// ---- States ----------------------------------------------------------------------------------------------------------------

// One word, in registers.
struct Narrow {
    u32 low, high;
    static constexpr bool is_narrow = true;
    LANE u32 get(u32 word) const { return word ? high : low; }
    LANE void set(u32 word, u32 value) {
        if (word) high = value;
        else low = value;
    }
    LANE u64 packed(u32) const { return (u64)high << 32 | low; }
    LANE void unpack(u32, u64 word) {
        low = (u32)word;
        high = (u32)(word >> 32);
    }
};

// Up to eight words.
struct Wide {
    u32 words[MAX_WIDTH];
    static constexpr bool is_narrow = false;
    LANE u32 get(u32 word) const { return words[word]; }
    LANE void set(u32 word, u32 value) { words[word] = value; }
    LANE u64 packed(u32 number) const { return (u64)words[2 * number + 1] << 32 | words[2 * number]; }
    LANE void unpack(u32 number, u64 word) {
        words[2 * number] = (u32)word;
        words[2 * number + 1] = (u32)(word >> 32);
    }
};

struct Four {
    u32 a, b, c, d;
};

struct Field {
    u32 word, shift, bits;
    i64 lo;
    u64 span;
};

LANE static u64 mix(u64 number) {
    const u64 factor = 0xd6e8feb86659fd93ULL;
    number ^= number >> 32;
    number *= factor;
    number ^= number >> 32;
    number *= factor;
    return number ^ number >> 32;
}

// Runs code that needs a stack: once in a kernel, however often it is called.
template <class State> FAR i64 run_far(const u32* program, u32 at, State& state, bool& is_hard);

// ---- The program, as one lane runs it --------------------------------------------------------------------------------------

template <class State> struct Code {
    const u32* program;
    bool is_hard;

    LANE Code(const u32* program) : program(program), is_hard(false) {}

    LANE u32 word(u32 at) const { return read_only(program + at); }

    LANE Four four(u32 at) const {
        Four words;
        read_four(program + at, words.a, words.b, words.c, words.d);
        return words;
    }

    LANE u64 twice(u32 at) const { return (u64)word(at + 1) << 32 | word(at); }

    LANE Field field(u32 number) const {
        u32 at = word(FIELDS) + 8 * number;
        Four words = four(at);
        Field field = {words.a, words.b, words.c, (i64)twice(at + 4), twice(at + 6)};
        return field;
    }

    LANE u64 raw(const Field& field, const State& state) const {
        if (field.bits > 32) return (u64)state.get(field.word + 1) << 32 | state.get(field.word);
        return (u64)state.get(field.word) >> field.shift & ((1ULL << field.bits) - 1);
    }

    LANE i64 value(const Field& field, const State& state) const { return (i64)(raw(field, state) + (u64)field.lo); }

    LANE void set_raw(const Field& field, State& state, u64 raw) const {
        if (field.bits > 32) {
            state.set(field.word, (u32)raw);
            state.set(field.word + 1, (u32)(raw >> 32));
        } else {
            u32 mask = (u32)(((1ULL << field.bits) - 1) << field.shift);
            state.set(field.word, (state.get(field.word) & ~mask) | (u32)(raw << field.shift));
        }
    }

    LANE void assign(const Field& field, State& state, i64 value) {
        u64 raw = (u64)value - (u64)field.lo;
        if (value < field.lo || raw > field.span) is_hard = true;
        else set_raw(field, state, raw);
    }

    LANE u32 element(u32 first, u32 len, i64 index) {
        if (index < 0 || index >= (i64)len) {
            is_hard = true;
            return first;
        }
        return first + (u32)index;
    }

    LANE i64 binary(u32 kind, i64 x, i64 y) {
        const i64 least = (i64)(1ULL << 63);
        u64 a = (u64)x, b = (u64)y;
        switch (kind) {
        case PLUS: {
            i64 sum = (i64)(a + b);
            is_hard |= ((x ^ sum) & (y ^ sum)) < 0;
            return sum;
        }
        case MINUS: {
            i64 difference = (i64)(a - b);
            is_hard |= ((x ^ y) & (x ^ difference)) < 0;
            return difference;
        }
        case TIMES: {
            i64 product = (i64)(a * b);
            is_hard |= high_product(x, y) != product >> 63;
            return product;
        }
        case DIV:
        case REM:
            if (y == 0) {
                is_hard = true;
                return 0;
            }
            if (x == least && y == -1) {
                is_hard |= kind == DIV;
                return 0;
            }
            return kind == DIV ? x / y : x % y;
        case AND: return x != 0 && y != 0;
        case OR: return x != 0 || y != 0;
        case EQ: return x == y;
        case NE: return x != y;
        case LT: return x < y;
        case LE: return x <= y;
        case GT: return x > y;
        case GE: return x >= y;
        case BIT_AND: return x & y;
        case BIT_OR: return x | y;
        case BIT_XOR: return x ^ y;
        case SHL: return y >= 0 && y < 64 ? (i64)(a << y) : 0;
        case SHR: return y >= 0 && y < 64 ? x >> y : x >> 63;
        default: is_hard = true; return 0;
        }
    }

    // Runs code to the next return; gives the value that is left, if one is.
    LANE i64 run_on_stack(u32 at, State& state) {
        i64 stack[MAX_DEPTH];
        u32 top = 0, rounds = 0;
        for (;;) {
            Four op = four(at);
            at += 4;
            switch (op.a) {
            case BLIT: state.set(op.b, (state.get(op.b) & op.c) | op.d); break;
            case RETURN: return top > 0 ? stack[top - 1] : 0;
            case PUSH: stack[top++] = (i64)((u64)op.c << 32 | op.b); break;
            case LOAD: stack[top++] = value(field(op.b), state); break;
            case LOAD_ELEMENT: stack[top - 1] = value(field(element(op.b, op.c, stack[top - 1])), state); break;
            case NEG:
                is_hard |= stack[top - 1] == (i64)(1ULL << 63);
                stack[top - 1] = (i64)(0 - (u64)stack[top - 1]);
                break;
            case NOT: stack[top - 1] = stack[top - 1] == 0; break;
            case BIT_NOT: stack[top - 1] = ~stack[top - 1]; break;
            case TRUNCATE: {
                u64 shifted = (u64)stack[top - 1] << op.b;
                stack[top - 1] = op.c ? (i64)shifted >> op.b : (i64)(shifted >> op.b);
                break;
            }
            case BINARY:
                top--;
                stack[top - 1] = binary(op.b, stack[top - 1], stack[top]);
                break;
            case JUMP_IF_ZERO:
                if (stack[--top] == 0) at = op.b;
                break;
            case JUMP: at = op.b; break;
            case LOOP:
                is_hard |= ++rounds > MAX_ROUNDS;
                at = op.b;
                break;
            case AND_THEN:
                if (stack[top - 1] == 0) at = op.b;
                else top--;
                break;
            case OR_ELSE:
                if (stack[top - 1] != 0) {
                    stack[top - 1] = 1;
                    at = op.b;
                } else {
                    top--;
                }
                break;
            case TRUTH: stack[top - 1] = stack[top - 1] != 0; break;
            case STORE: assign(field(op.b), state, stack[--top]); break;
            case STORE_ELEMENT: {
                top -= 2;
                u32 number = element(op.b, op.c, stack[top]);
                if (!is_hard) assign(field(number), state, stack[top + 1]);
                break;
            }
            case ADD_TO: {
                Field to = field(op.b);
                i64 sum = binary(PLUS, value(to, state), (i64)((u64)op.d << 32 | op.c));
                if (!is_hard) assign(to, state, sum);
                break;
            }
            case MAP: {
                Field of = field(op.b);
                u64 number = raw(of, state);
                u64 target = number < op.d ? twice(op.c + 2 * (u32)number) : EMPTY;
                if (target == EMPTY) is_hard = true;
                else set_raw(of, state, target);
                break;
            }
            case ASSERT: is_hard |= stack[--top] == 0; break;
            default: is_hard = true;
            }
            if (is_hard) return 0;
        }
    }

    // The same. What needs no stack stays in registers.
    LANE i64 run(u32 at, State& state) {
        Four op = four(at);
        for (; op.a == BLIT; op = four(at)) {
            state.set(op.b, (state.get(op.b) & op.c) | op.d);
            at += 4;
        }
        if (op.a == RETURN) return 0;
        State copy = state;
        bool was_hard = false;
        i64 value = run_far<State>(program, at, copy, was_hard);
        is_hard |= was_hard;
        state = copy;
        return value;
    }

    LANE bool succeeds(const Four& test, State& state) {
        switch (test.a) {
        case MATCH: return (state.get(test.b) & test.c) == test.d;
        case MEMBER: return ((u64)test.d << 32 | test.c) >> (raw(field(test.b), state) & 63) & 1;
        case BETWEEN: {
            u64 number = raw(field(test.b), state);
            return twice(test.c) <= number && number <= twice(test.c + 2);
        }
        case MEMBER_OF: {
            u64 number = raw(field(test.b), state), first = twice(test.c);
            if (number < first || number > twice(test.c + 2)) return false;
            u64 bit = number - first;
            return word(test.c + 4 + (u32)(bit / 32)) >> (bit % 32) & 1;
        }
        case RUN: return run(test.b, state) != 0;
        default: return false;
        }
    }

    LANE bool is_enabled(const Four& action, State& state) {
        ROLLED for (u32 at = action.a; at < action.b; at += 4)
            if (!succeeds(four(at), state) || is_hard) return false;
        return true;
    }

    LANE Four action(u32 number) const { return four(word(ACTIONS) + 4 * number); }

    LANE bool holds(u32 proposition, State& state) { return run(word(word(PROPOSITIONS) + proposition), state) != 0; }

};

template <class State> FAR i64 run_far(const u32* program, u32 at, State& state, bool& is_hard) {
    Code<State> code(program);
    i64 value = code.run_on_stack(at, state);
    is_hard = code.is_hard;
    return value;
}

// ---- A lane, and what it shares with others --------------------------------------------------------------------------------

// Chains, and the table for who is not in a hurry: once in a kernel.
template <class State> FAR bool go_on_far(u64* memory, u32 process, State& state, bool notes);
template <class State> FAR u64 find_far(u64* memory, const State& state);
template <class State> FAR void insert_far(u64* memory, const State& state);

template <class State> struct Lane : Code<State> {
    using Code<State>::is_hard;
    using Code<State>::word;
    using Code<State>::action;
    using Code<State>::run;
    using Code<State>::is_enabled;
    using Code<State>::holds;

    u64* memory;
    u32 state_words;
    u64 orders[6];

    LANE Lane(u64* memory)
        : Code<State>((const u32*)(memory + memory[PROGRAM])), memory(memory),
          state_words(State::is_narrow ? 1 : (u32)memory[STATE_WORDS]) {}

    LANE Lane(u64* memory, const u64* given) : Lane(memory) {
        for (int at = 0; at < 6; at++) orders[at] = given[at];
    }

    LANE u64 place(Place where) const { return read_only(memory + where); }

    LANE void took(u32 number) {
        u64* bits = memory + place(TAKEN) + number / 64;
        u64 bit = 1ULL << (number % 64);
        if (!(glance(bits) & bit)) atomic_or(bits, bit);
    }

    // The step that begins with an action.
    LANE void step(const Four& first, u32 number, State& state, bool notes) {
        run(first.c, state);
        if (is_hard) return;
        if (notes) took(number);
        if (first.d >> 1 == 0) return;
        State copy = state;
        is_hard = go_on_far<State>(memory, first.d >> 1, copy, notes);
        state = copy;
    }

    // What follows in the same step, as long as there is one way. A chain that ends so has come back nowhere.
    LANE void go_on(u32 process, State& state, bool notes) {
        ROLLED for (int length = 1; length < MAX_CHAIN; length++) {
            u32 list = word(PROCESSES) + 2 * (process - 1), n_found = 0, number = 0;
            ROLLED for (u32 at = word(list); at < word(list + 1); at++) {
                u32 other = word(at);
                if (is_enabled(action(other), state)) {
                    n_found++;
                    number = other;
                }
                if (is_hard) return;
            }
            if (n_found == 0) return;
            if (n_found > 1) break;
            Four now = action(number);
            run(now.c, state);
            if (is_hard) return;
            if (notes) took(number);
            process = now.d >> 1;
            if (process == 0) return;
        }
        is_hard = true;
    }

    // Calls `visit` with the state that each step leads to, and what it begins with; says how many there are. What was hard may have steps that are
    // missing.
    template <class Visit> LANE u32 for_each_step(State& state, bool notes, Visit visit) {
        u32 n_actions = word(N_ACTIONS), n_steps = 0;
        ROLLED for (u32 quiet = 0; quiet <= word(HAS_QUIET); quiet++) {
            if (quiet && n_steps > 0) break;
            ROLLED for (u32 number = 0; number < n_actions; number++) {
                Four now = action(number);
                if ((now.d & 1) != quiet) continue;
                bool enabled = is_enabled(now, state);
                if (is_hard) return n_steps;
                if (!enabled) continue;
                State target = state;
                step(now, number, target, notes);
                if (is_hard) return n_steps;
                n_steps++;
                visit(target, number);
            }
        }
        return n_steps;
    }

    // ---- The table ---------------------------------------------------------------------------------------------------------

    LANE void load(u64 at, State& state) const {
        ROLLED for (u32 number = 0; number < state_words; number++) state.unpack(number, memory[at + number]);
    }

    LANE void keep(u64 at, const State& state) {
        ROLLED for (u32 number = 0; number < state_words; number++) memory[at + number] = state.packed(number);
    }

    LANE u64 hash(const State& state) const {
        u64 hash = 0x9e3779b97f4a7c15ULL;
        ROLLED for (u32 number = 0; number < state_words; number++) hash = mix(hash ^ state.packed(number));
        return hash;
    }

    // Whether the entry of a table is this state.
    LANE bool is_entry(u64 entry, u64 hash, const State& state) const {
        if (State::is_narrow) return entry == state.packed(0);
        if (entry >> NUMBER_BITS != (hash & 0xffffff)) return false;
        u64 at = place(ARENA) + (entry & ((1ULL << NUMBER_BITS) - 1)) * state_words;
        ROLLED for (u32 number = 0; number < state_words; number++)
            if (load_shared(memory + at + number) != state.packed(number)) return false;
        return true;
    }

    // By what a state is known; EMPTY if it is not.
    LANE u64 find(const State& state) const {
        u64 hash = this->hash(state), n_buckets = place(N_BUCKETS), bucket = high_unsigned(hash, n_buckets);
        u64 n_probes = n_buckets < MAX_PROBES ? n_buckets : MAX_PROBES;
        ROLLED for (u64 probe = 0; probe < n_probes; probe++) {
            for (u32 at = 0; at < 4; at++) {
                u64 slot = 4 * bucket + at, entry = load_acquire(memory + place(TABLE) + slot);
                if (entry == EMPTY) return EMPTY;
                if (is_entry(entry, hash, state)) return State::is_narrow ? slot : entry & ((1ULL << NUMBER_BITS) - 1);
            }
            if (++bucket == n_buckets) bucket = 0;
        }
        return EMPTY;
    }

    // Adds a state, unless it is known.
    LANE void insert(const State& state) {
        u64 hash = this->hash(state), n_buckets = place(N_BUCKETS), bucket = high_unsigned(hash, n_buckets);
        u64 n_probes = n_buckets < MAX_PROBES ? n_buckets : MAX_PROBES;
        u64 mine = State::is_narrow ? state.packed(0) : EMPTY, number = 0;
        ROLLED for (u64 probe = 0; probe < n_probes; probe++) {
            u64* slots = memory + place(TABLE) + 4 * bucket;
            u64 entries[4];
            if (State::is_narrow) read_bucket(slots, entries);
            for (u32 at = 0; at < 4; at++) {
                u64 entry = State::is_narrow ? entries[at] : load_acquire(slots + at);
                if (entry == EMPTY) {
                    if (mine == EMPTY) {
                        number = count_one(memory + ADDED);
                        if (number >= place(CAPACITY)) {
                            atomic_or(memory + FULL, 1);
                            return;
                        }
                        keep(place(ARENA) + number * state_words, state);
                        mine = (hash & 0xffffff) << NUMBER_BITS | number;
                        fence();
                    }
                    entry = atomic_swap_if(slots + at, EMPTY, mine);
                    if (entry == EMPTY) {
                        if (State::is_narrow) push(state);
                        return;
                    }
                    // The state of who was first is to be seen.
                    if (!State::is_narrow) fence();
                }
                if (is_entry(entry, hash, state)) {
                    if (!State::is_narrow && mine != EMPTY) {
                        atomic_or(memory + place(HOLES) + number / 64, 1ULL << (number % 64));
                        count_one(memory + N_HOLES);
                    }
                    return;
                }
            }
            if (++bucket == n_buckets) bucket = 0;
        }
        atomic_or(memory + FULL, 1);
    }

    LANE void add(const State& state) {
        if constexpr (State::is_narrow) insert(state);
        else insert_far<State>(memory, state);
    }

    // Puts a new state into the ring, which is in use from an item on.
    LANE void push(const State& state) {
        u64 number = count_one(memory + ADDED), capacity = place(CAPACITY);
        if (number - orders[1] >= capacity) atomic_or(memory + FULL, 1);
        else keep(place(ARENA) + number % capacity, state);
    }

    LANE void note(const State& state) {
        u64 at = place(NOTES) + count_one(memory + N_NOTES) * state_words;
        // More are not expected, and told by their number.
        if (at + state_words <= place(TABLE)) keep(at, state);
    }

    // Reads an item; not if it is a hole.
    LANE bool item(u64 number, State& state) const {
        if (State::is_narrow) {
            load(place(ARENA) + number % place(CAPACITY), state);
            return true;
        }
        if (memory[place(HOLES) + number / 64] >> (number % 64) & 1) return false;
        load(place(ARENA) + number * state_words, state);
        return true;
    }

    // Reads the state that is known by a number; not if there is none.
    LANE bool known(u64 id, State& state) const {
        if (!State::is_narrow) return item(id, state);
        u64 entry = memory[place(TABLE) + id];
        if (entry == EMPTY) return false;
        state.unpack(0, entry);
        return true;
    }

    LANE void letter(u64 lane, State& state) const { load(place(LETTERS) + lane * state_words, state); }

    LANE u64 code(u64 id) const { return load_shared(memory + place(CODES) + id / 8) >> (8 * (id % 8)) & 0xff; }

    LANE void set_code(u64 id, u64 code) { atomic_or(memory + place(CODES) + id / 8, code << (8 * (id % 8))); }
};

template <class State> FAR bool go_on_far(u64* memory, u32 process, State& state, bool notes) {
    Lane<State> lane(memory);
    lane.go_on(process, state, notes);
    return lane.is_hard;
}

template <class State> FAR u64 find_far(u64* memory, const State& state) { return Lane<State>(memory).find(state); }

template <class State> FAR void insert_far(u64* memory, const State& state) { Lane<State>(memory).insert(state); }

#include "products.h"

// ---- Kernels: what one lane does ------------------------------------------------------------------------------------------

template <class State> struct Worker : Pairs<State> {
    using Pairs<State>::Pairs;
    using Pairs<State>::is_hard;
    using Pairs<State>::memory;
    using Pairs<State>::orders;
    using Pairs<State>::place;

    LANE void insert_letter(u64 lane) {
        State state;
        this->letter(lane, state);
        this->add(state);
    }

    // Expands narrow states, a warp at a time. Few of its lanes have a step by the same action, and each of these would wait for
    // the memory nearly alone: so targets are collected until there is one for every lane.
    LANE void expand_together(u64 n, u64& transitions, u64& deadlocks) {
        u64* queue = warp_queue();
        u32 n_waiting = 0, me = lane_of_warp();
        ROLLED for (u64 first = first_lane() - me; first < n; first += n_lanes()) {
            State state = {};
            bool is_here = first + me < n && this->item(orders[0] + first + me, state);
            u32 n_steps = 0, n_actions = this->word(N_ACTIONS);
            is_hard = false;
            ROLLED for (u32 quiet = 0; quiet <= this->word(HAS_QUIET); quiet++) {
                bool looks = is_here && (quiet == 0 || n_steps == 0);
                ROLLED for (u32 number = 0; number < n_actions; number++) {
                    Four now = this->action(number);
                    if ((now.d & 1) != quiet) continue;
                    bool has_step = looks && !is_hard && this->is_enabled(now, state) && !is_hard;
                    State target = state;
                    if (has_step) {
                        this->step(now, number, target, true);
                        has_step = !is_hard;
                    }
                    u32 having = who(has_step);
                    if (!having) continue;
                    if (has_step) {
                        queue[n_waiting + n_before(having)] = target.packed(0);
                        n_steps++;
                    }
                    n_waiting += n_bits(having);
                    wait_for_warp();
                    if (n_waiting < WARP) continue;
                    n_waiting -= WARP;
                    State next;
                    next.unpack(0, queue[n_waiting + me]);
                    wait_for_warp();
                    this->insert(next);
                    wait_for_warp();
                }
            }
            if (!is_here) continue;
            if (is_hard) this->note(state);
            else if (n_steps == 0) deadlocks++;
            else transitions += n_steps;
        }
        if (me >= n_waiting) return;
        State next;
        next.unpack(0, queue[me]);
        this->insert(next);
    }

    LANE void expand(u64 lane, u64& transitions, u64& deadlocks) {
        State state;
        if (!this->item(orders[0] + lane, state)) return;
        u32 n_steps = this->for_each_step(state, true, [this](const State& target, u32) { this->add(target); });
        if (is_hard) this->note(state);
        else if (n_steps == 0) deadlocks++;
        else transitions += n_steps;
    }

    LANE void select(u64 lane) {
        State state;
        if (!this->item(orders[0] + lane, state)) return;
        bool is_picked = false;
        if (orders[1] == 0) {
            is_picked = !this->holds((u32)orders[2], state);
        } else if (orders[1] == 1) {
            is_picked = this->for_each_step(state, false, [](const State&, u32) {}) == 0;
        } else {
            Looked looked = this->look_at(state, this->only(along::NOTHING));
            is_picked = looked.is_wrong;
            is_hard |= looked.is_hard;
        }
        if (is_hard) return this->note(state);
        if (!is_picked) return;
        count_one(memory + FOUND);
        u64 id = orders[3] ? find_far<State>(memory, state) : EMPTY;
        if (id != EMPTY) this->set_code(id, orders[3]);
    }

    LANE void scan(u64 lane) {
        u64 id = orders[0] + lane, want = orders[1];
        State state;
        if (!this->known(id, state) || this->code(id)) return;
        bool is_near = false;
        if (this->is_product()) {
            Looked looked = this->look_at(state, this->only(along::NEAR, (u32)want));
            is_near = looked.is_near;
            is_hard |= looked.is_hard;
        } else {
            this->for_each_step(state, false, [&](const State& target, u32) {
                u64 other = find_far<State>(memory, target);
                is_near |= other != EMPTY && this->code(other) == want;
            });
        }
        // Where something goes wrong, what was found before does not count.
        if (is_hard) return this->note(state);
        if (!is_near) return;
        this->set_code(id, orders[2]);
        count_one(memory + FOUND);
    }

    LANE void ask(u64 lane) {
        State state;
        this->letter(lane, state);
        u64 id = find_far<State>(memory, state);
        u64 answer = id == EMPTY ? 256 : orders[0] ? (u64)load_shared(this->half(SEEN, id)) : this->code(id);
        memory[place(LETTERS) + MAX_LETTERS * (u64)this->state_words + lane] = answer;
    }

    LANE void mark(u64 lane) {
        State state;
        this->letter(lane, state);
        u64 id = find_far<State>(memory, state);
        if (id == EMPTY || this->code(id) != 0) return;
        this->set_code(id, orders[0]);
        count_one(memory + FOUND);
    }
};

// What a kernel is told.
struct Orders {
    u64 words[6];
};

// For all numbers below `n`, whichever kind of state there is: `what` is done by the lane `it` for the number `lane`.
#define FOR_ALL_AS(State, what)                                                                              \
    ROLLED for (u64 lane = first_lane(); lane < n; lane += n_lanes()) {                                             \
        Worker<State> it(memory, orders.words);                                                                \
        what;                                                                                                \
    }
#define FOR_ALL(what)                                                                                        \
    if (memory[IS_NARROW]) {                                                                                 \
        FOR_ALL_AS(Narrow, what)                                                                             \
    } else {                                                                                                 \
        FOR_ALL_AS(Wide, what)                                                                               \
    }

#ifndef WITHOUT_KERNELS
KERNEL stubborn_insert(u64* memory, u64 n, Orders orders) { FOR_ALL(it.insert_letter(lane)) }
KERNEL stubborn_expand(u64* memory, u64 n, Orders orders) {
    u64 transitions = 0, deadlocks = 0;
    if (memory[IS_NARROW]) {
        Worker<Narrow>(memory, orders.words).expand_together(n, transitions, deadlocks);
    } else {
        FOR_ALL_AS(Wide, it.expand(lane, transitions, deadlocks))
    }
    if (transitions) atomic_add(memory + TRANSITIONS, transitions);
    if (deadlocks) atomic_add(memory + DEADLOCKS, deadlocks);
}
KERNEL stubborn_select(u64* memory, u64 n, Orders orders) { FOR_ALL(it.select(lane)) }
KERNEL stubborn_scan(u64* memory, u64 n, Orders orders) { FOR_ALL(it.scan(lane)) }
KERNEL stubborn_ask(u64* memory, u64 n, Orders orders) { FOR_ALL(it.ask(lane)) }
KERNEL stubborn_mark(u64* memory, u64 n, Orders orders) { FOR_ALL(it.mark(lane)) }
KERNEL stubborn_pair(u64* memory, u64 n, Orders orders) {
    u64 transitions = 0, deadlocks = 0;
    FOR_ALL(it.pair(lane, transitions, deadlocks))
    if (transitions) atomic_add(memory + TRANSITIONS, transitions);
    if (deadlocks) atomic_add(memory + DEADLOCKS, deadlocks);
}
KERNEL stubborn_begin(u64* memory, u64 n, Orders orders) { FOR_ALL(it.begin_cycles(lane)) }
KERNEL stubborn_spread(u64* memory, u64 n, Orders orders) { FOR_ALL(it.spread_from_all(lane)) }
KERNEL stubborn_tell(u64* memory, u64 n, Orders orders) { FOR_ALL(it.tell(lane)) }
#endif
