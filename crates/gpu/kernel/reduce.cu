// Kernels that leave something out: what `device::cpu::sets` of `stubborn-check` does. Which steps are taken is said in words behind
// those of the system; what they mean is said in `por::steady`, of which this is a second reading.
//
// The text is a file of its own, and becomes PTX of its own, so that what is done without it stays as it is. All that it shares with
// `explore.cu` it has from there; the kernels of that file are no kernels here.

// The host's program has both in one.
#ifndef FOR_ALL
#define WITHOUT_KERNELS
#include "explore.cu"
#endif

#ifdef __CUDACC__
LANE u32 lowest(u32 bits) { return __ffs(bits) - 1; }
LANE u32 lowest_of_rows(u64 rows) { return __ffsll(rows) - 1; }
LANE u32 n_set(u32 bits) { return __popc(bits); }
#else
static inline u32 lowest(u32 bits) { return __builtin_ctz(bits); }
static inline u32 lowest_of_rows(u64 rows) { return __builtin_ctzll(rows); }
static inline u32 n_set(u32 bits) { return __builtin_popcount(bits); }
#endif

// What the words of the sets are.
namespace sets {
enum {
    N_ACTIONS, N_VERTICES, NEEDS, HUBS, GUARDS_OF, GUARDS, CONTROLS, OPEN, GOAL, ANYWHERE, ANYWHERE_END, HAS_CHAINS, OFFERS
};
}

// Where the place of these words is among the first ones of the program.
#define SETS 9
#define MAX_VERTICES 4096
#define N_BITS (MAX_VERTICES / 32)
#define PART 11
#define UNKNOWN 8
#define USERS (1u << 30)
#define WRITERS (1u << 31)
#define NO_LIST (~0u)
#define MAY_WAIT 1
#define MAY_END 2

struct List {
    u32 start, end;
};

// Why a guard is false: a list, or who leads its control variable out of some rows.
struct Reason {
    bool is_some, is_beyond;
    u32 n_enabled, control;
    List list;
    u64 rows;
};

// A bit for each vertex.
struct Bits {
    u32 enabled[N_BITS], moves[N_BITS], done[N_BITS], todo[N_BITS];
    // Where those of the enabled actions come that are to be taken.
    u32* chosen;
    // No word before this one of what is to be done has a bit.
    u32 first;
    // Where that is which an observer offers; 0 if there is none, and nothing moves.
    u32 offer;
};

// When a closure is of no use.
struct Stop {
    u32 most, seed;
    bool is_silent;
};

LANE bool has(const u32* bits, u32 at) { return bits[at / 32] >> (at % 32) & 1; }

// What is long, and done in several places: once in a kernel.
template <class State> FAR void add_list_far(u64* memory, List list, const State& state, Bits& bits);
template <class State> FAR bool choose_far(u64* memory, const State& state, u32* chosen);

template <class State> struct Reducer : Worker<State> {
    using Worker<State>::Worker;
    using Worker<State>::is_hard;
    using Worker<State>::memory;
    using Worker<State>::orders;
    using Worker<State>::word;

    // ---- The words ---------------------------------------------------------------------------------------------------------

    LANE u32 at(u32 place) const { return word(word(SETS) + place); }

    LANE u64 both(u32 place) const { return (u64)at(place + 1) << 32 | at(place); }

    LANE List list(u32 place) const {
        List list = {at(place), at(place + 1)};
        return list;
    }

    LANE u64 raw_of(u32 variable, const State& state) const { return this->raw(this->field(variable), state); }

    LANE bool holds_guard(u32 guard, State& state) {
        return this->is_enabled(this->action(at(sets::N_ACTIONS) + guard), state);
    }

    LANE u32 first_row(u32 control) const { return at(at(sets::CONTROLS) + 3 * control + 1); }

    // Where the lists of a control variable are for the present value.
    LANE u32 row(u32 control, const State& state) const {
        u32 variable = at(at(sets::CONTROLS) + 3 * control);
        return first_row(control) + 6 * (u32)raw_of(variable, state);
    }

    // ---- Closures ----------------------------------------------------------------------------------------------------------

    LANE void put(u32 vertex, Bits& bits) const {
        u32 at = vertex / 32, bit = 1u << (vertex % 32);
        if ((bits.done[at] | bits.todo[at]) & bit) return;
        bits.todo[at] |= bit;
        if (at < bits.first) bits.first = at;
    }

    LANE void add_list(List list, const State& state, Bits& bits) const { add_list_far<State>(memory, list, state, bits); }

    LANE void add_all(List list, const State& state, Bits& bits) const {
        ROLLED for (u32 place = list.start; place < list.end; place++) {
            u32 item = at(place);
            if (item < USERS) {
                put(item, bits);
                continue;
            }
            u32 row = this->row(item & (USERS - 1), state);
            List actions = this->list(item >= WRITERS ? row + 2 : row);
            ROLLED for (u32 other = actions.start; other < actions.end; other++) put(at(other), bits);
        }
    }

    LANE void forget(Bits& bits, u32 n_words) const {
        ROLLED for (u32 number = 0; number < n_words; number++) bits.done[number] = bits.todo[number] = 0;
        bits.first = n_words;
    }

    // The next vertex that is to be done; NO_LIST if there is none.
    LANE u32 next(Bits& bits, u32 n_words) const {
        ROLLED for (; bits.first < n_words; bits.first++) {
            u32 todo = bits.todo[bits.first];
            if (!todo) continue;
            u32 bit = lowest(todo);
            bits.todo[bits.first] = todo & (todo - 1);
            bits.done[bits.first] |= 1u << bit;
            return 32 * bits.first + bit;
        }
        return NO_LIST;
    }

    LANE u32 n_enabled_in(List list, const Bits& bits) const {
        u32 n = 0;
        ROLLED for (u32 place = list.start; place < list.end; place++) n += has(bits.enabled, at(place));
        return n;
    }

    // The rows that a control variable can come to by enabled actions.
    LANE u64 reached(u32 control, u32 row, const Bits& bits) const {
        u32 first = first_row(control);
        u64 reached = 1ULL << ((row - first) / 6), done = 0;
        ROLLED while (reached != done) {
            u32 next = lowest_of_rows(reached & ~done);
            done |= 1ULL << next;
            List moves = list(first + 6 * next + 4);
            ROLLED for (u32 place = moves.start; place < moves.end; place += 2)
                if (has(bits.enabled, at(place))) reached |= 1ULL << at(place + 1);
        }
        return reached;
    }

    LANE void compare(u32 n_enabled, const Reason& reason, Reason& best) const {
        if (best.is_some && best.n_enabled <= n_enabled) return;
        best = reason;
        best.is_some = true;
        best.n_enabled = n_enabled;
    }

    // Compares the reasons of a guard that is false with the best one so far.
    LANE void look_at_guard(u32 guard, const State& state, const Bits& bits, Reason& best) const {
        u32 place = at(sets::GUARDS) + 8 * guard, front = at(place + 2), control = at(place + 5);
        Reason reason = {true, false, 0, control, {0, 0}, 0};
        reason.list = list(front != NO_LIST && raw_of(front, state) > 0 ? place + 3 : place);
        if (reason.list.start != NO_LIST) compare(n_enabled_in(reason.list, bits), reason, best);
        if (control == NO_LIST) return;
        u32 row = this->row(control, state);
        reason.list = list(row + 2);
        compare(n_enabled_in(reason.list, bits), reason, best);
        u64 rows = both(place + 6);
        if (rows == ~0ULL) return;
        reason.rows = reached(control, row, bits);
        reason.is_beyond = true;
        if (!(rows & reason.rows)) compare(0, reason, best);
    }

    // What the observer may follow.
    LANE List follows(const Bits& bits) const { return list(bits.offer + 1); }

    // Whether the observer lets an action never happen, as long as it stays where it is.
    LANE bool is_refused(u32 action, const Bits& bits) const {
        return bits.offer && at(at(bits.offer + 3) + action / 32) >> (action % 32) & 1;
    }

    // Adds what must happen before a disabled action can.
    LANE void add_reason(u32 action, State& state, Bits& bits) {
        u32 place = at(sets::GUARDS_OF) + 3 * action, middle = at(place + 1), end = at(place + 2);
        Reason best = {false, false, 0, 0, {0, 0}, 0};
        if (is_refused(action, bits)) {
            best.is_some = true;
            best.list = follows(bits);
            best.n_enabled = n_enabled_in(best.list, bits);
        }
        ROLLED for (u32 number = at(place); number < end; number++) {
            // Expressions may rely on the guards before them; and the first that is false will do.
            if (best.is_some && (number >= middle || best.n_enabled == 0)) break;
            u32 guard = at(number);
            bool holds = holds_guard(guard, state);
            if (is_hard) return;
            if (!holds) look_at_guard(guard, state, bits, best);
        }
        if (!best.is_some) {
            u32 n_words = (at(sets::N_ACTIONS) + 31) / 32;
            ROLLED for (u32 number = 0; number < n_words; number++) bits.todo[number] |= bits.enabled[number] & ~bits.done[number];
            bits.first = 0;
            return;
        }
        if (!best.is_beyond) return add_list(best.list, state, bits);
        u32 first = first_row(best.control);
        ROLLED for (u64 left = best.rows; left; left &= left - 1) {
            List moves = list(first + 6 * lowest_of_rows(left) + 4);
            ROLLED for (u32 other = moves.start; other < moves.end; other += 2)
                if (!has(bits.enabled, at(other))) put(at(other), bits);
        }
    }

    // Adds what is to be done to all that it leads to. Returns how many enabled actions there are, or too many if it is of no use: there
    // are `most`, or one of the seeds before this one is among them.
    LANE u32 close(const Stop& stop, State& state, Bits& bits) {
        u32 n_actions = at(sets::N_ACTIONS), n_vertices = at(sets::N_VERTICES), n_all = (n_vertices + 31) / 32, n_enabled = 0;
        // The last vertex is what the observer follows, if there is one.
        u32 observer = bits.offer ? n_vertices - 1 : NO_LIST;
        if (at(sets::OPEN)) put(at(sets::OPEN) - 1, bits);
        ROLLED for (;;) {
            u32 vertex = next(bits, n_all);
            if (vertex == NO_LIST) return n_enabled;
            List added;
            if (vertex >= n_actions) {
                added = vertex == observer ? follows(bits) : list(at(sets::HUBS) + 2 * (vertex - n_actions));
            } else {
                bool moves = has(bits.moves, vertex);
                if (has(bits.enabled, vertex)) {
                    if (++n_enabled >= stop.most) return ~0u;
                    if (vertex < stop.seed && !(stop.is_silent && moves)) return ~0u;
                } else if (!moves || is_refused(vertex, bits)) {
                    add_reason(vertex, state, bits);
                    if (is_hard) return n_enabled;
                    continue;
                }
                added = list(at(sets::NEEDS) + 2 * vertex);
                if (moves) put(observer, bits);
            }
            add_list(added, state, bits);
        }
    }

    // ---- Sets --------------------------------------------------------------------------------------------------------------

    // Adds actions of which one must happen before the goal is reached; not if it is reached, as far as can be told.
    LANE bool attract(const State& state, Bits& bits) const {
        u32 place = at(sets::GOAL) + 1, n_added = 0;
        ROLLED for (u32 left = at(place - 1); left; left--) {
            u32 n_parts = at(place++), end = place + PART * n_parts;
            bool is_unknown = false, is_false = false;
            List fewest = {0, 0};
            ROLLED for (u32 part = place; part < end; part += PART) {
                if (at(part + 4) == UNKNOWN) {
                    is_unknown = true;
                    continue;
                }
                u64 sum = both(part + 2);
                u32 terms = at(part + 1);
                ROLLED for (u32 term = terms; term < terms + 3 * at(part); term += 3)
                    sum += raw_of(at(term), state) * both(term + 1);
                u32 sign = (i64)sum < 0 ? 0 : sum == 0 ? 1 : 2;
                if (at(part + 4) >> sign & 1) continue;
                List known = list(part + 5 + 2 * sign);
                if (!is_false || known.end - known.start < fewest.end - fewest.start) fewest = known;
                is_false = true;
            }
            if (!is_false && !is_unknown) return false;
            if (is_false) {
                n_added += fewest.end - fewest.start;
                add_list(fewest, state, bits);
            }
            ROLLED for (u32 part = place; !is_false && part < end; part += PART) {
                if (at(part + 4) != UNKNOWN) continue;
                List known = list(part + 5);
                n_added += known.end - known.start;
                add_list(known, state, bits);
            }
            place = end;
        }
        List anywhere = list(sets::ANYWHERE);
        if (anywhere.end - anywhere.start < n_added) {
            forget(bits, (at(sets::N_VERTICES) + 31) / 32);
            add_list(anywhere, state, bits);
        }
        return true;
    }

    // Takes over which of the enabled actions were reached.
    LANE void choose_reached(Bits& bits) const {
        u32 n_words = (at(sets::N_ACTIONS) + 31) / 32;
        ROLLED for (u32 number = 0; number < n_words; number++) bits.chosen[number] = bits.done[number] & bits.enabled[number];
    }

    // Chooses all that what is to be done leads to; says whether that is something.
    LANE bool close_all(State& state, Bits& bits) {
        Stop never = {~0u, 0, false};
        u32 n_enabled = close(never, state, bits);
        choose_reached(bits);
        return n_enabled > 0;
    }

    // Chooses the smallest closure of an enabled action; of one that does not move the observer, if it is to be silent.
    LANE void smallest(bool is_silent, State& state, Bits& bits) {
        u32 n_words = (at(sets::N_ACTIONS) + 31) / 32, n_all = (at(sets::N_VERTICES) + 31) / 32, fewest = 0;
        ROLLED for (u32 number = 0; number < n_words; number++) {
            fewest += n_set(bits.enabled[number]);
            bits.chosen[number] = bits.enabled[number];
        }
        ROLLED for (u32 number = 0; number < n_words; number++) {
            u32 seeds = bits.enabled[number];
            if (is_silent) seeds &= ~bits.moves[number];
            ROLLED for (; seeds && fewest > 1; seeds &= seeds - 1) {
                Stop stop = {fewest, 32 * number + lowest(seeds), is_silent};
                forget(bits, n_all);
                put(stop.seed, bits);
                u32 n_enabled = close(stop, state, bits);
                if (is_hard) return;
                if (n_enabled >= fewest) continue;
                fewest = n_enabled;
                choose_reached(bits);
            }
        }
    }

    // Chooses those of the enabled actions that must be taken: for a goal, or for deadlocks.
    LANE void choose(State& state, Bits& bits) {
        if (!at(sets::GOAL)) return smallest(false, state, bits);
        u32 n_words = (at(sets::N_ACTIONS) + 31) / 32;
        ROLLED for (u32 number = 0; number < n_words; number++) bits.chosen[number] = 0;
        forget(bits, (at(sets::N_VERTICES) + 31) / 32);
        if (attract(state, bits)) close_all(state, bits);
    }

    // Finds out what is enabled.
    LANE void enable(State& state, Bits& bits) {
        u32 n_actions = at(sets::N_ACTIONS);
        ROLLED for (u32 number = 0; number < (n_actions + 31) / 32; number++) bits.enabled[number] = bits.moves[number] = 0;
        bool is_any = false;
        ROLLED for (u32 quiet = 0; quiet <= word(HAS_QUIET); quiet++) {
            if (quiet && is_any) return;
            ROLLED for (u32 number = 0; number < n_actions; number++) {
                Four now = this->action(number);
                if ((now.d & 1) != quiet) continue;
                bool enabled = this->is_enabled(now, state);
                if (is_hard) return;
                if (!enabled) continue;
                bits.enabled[number / 32] |= 1u << (number % 32);
                is_any = true;
            }
        }
    }

    // Calls `visit` with where each step leads that is to be taken; returns how many there are.
    template <class Visit> LANE u32 for_each_chosen(State& state, bool notes, Visit visit) {
        u32 n_steps = 0;
        // Where a chain has a choice or goes wrong, the processor looks at all of them.
        if (at(sets::HAS_CHAINS)) this->for_each_step(state, false, [](const State&, u32) {});
        if (is_hard) return 0;
        u32 chosen[N_BITS];
        is_hard = choose_far<State>(memory, state, chosen);
        ROLLED for (u32 number = 0; number < (at(sets::N_ACTIONS) + 31) / 32; number++) {
            if (is_hard) return n_steps;
            ROLLED for (u32 left = chosen[number]; left; left &= left - 1) {
                u32 action = 32 * number + lowest(left);
                State target = state;
                this->step(this->action(action), action, target, notes);
                if (is_hard) return n_steps;
                n_steps++;
                visit(target);
            }
        }
        return n_steps;
    }

    // ---- Kernels: what one lane does -----------------------------------------------------------------------------------------

    LANE void reduce(u64 lane, u64& transitions, u64& deadlocks) {
        State state;
        if (!this->item(orders[0] + lane, state)) return;
        u32 n_steps = for_each_chosen(state, true, [this](const State& target) { this->add(target); });
        if (is_hard) this->note(state);
        else if (n_steps == 0) deadlocks++;
        else transitions += n_steps;
    }

    LANE void retrace(u64 lane) {
        u64 id = orders[0] + lane, want = orders[1];
        State state;
        if (!this->known(id, state) || this->code(id)) return;
        bool is_near = false;
        for_each_chosen(state, false, [&](const State& target) {
            u64 other = find_far<State>(memory, target);
            is_near |= other != EMPTY && this->code(other) == want;
        });
        if (is_hard) return this->note(state);
        if (!is_near) return;
        this->set_code(id, orders[2]);
        count_one(memory + FOUND);
    }
};

template <class State> FAR void add_list_far(u64* memory, List list, const State& state, Bits& bits) {
    Reducer<State>(memory).add_all(list, state, bits);
}

// Finds out what is enabled, and chooses; says whether something was hard.
template <class State> FAR bool choose_far(u64* memory, const State& state, u32* chosen) {
    Reducer<State> lane(memory);
    Bits bits;
    bits.chosen = chosen;
    bits.offer = 0;
    State copy = state;
    lane.enable(copy, bits);
    if (!lane.is_hard) lane.choose(copy, bits);
    return lane.is_hard;
}

#ifndef WITHOUT_KERNELS_OF_SETS
// For all numbers below `n`, as in `explore.cu`.
template <class State, class What> LANE void for_all(u64* memory, u64 n, const Orders& orders, What what) {
    ROLLED for (u64 lane = first_lane(); lane < n; lane += n_lanes()) {
        Reducer<State> it(memory, orders.words);
        what(it, lane);
    }
}

KERNEL stubborn_reduce(u64* memory, u64 n, Orders orders) {
    u64 transitions = 0, deadlocks = 0;
    auto reduce = [&](auto& it, u64 lane) { it.reduce(lane, transitions, deadlocks); };
    if (memory[IS_NARROW]) for_all<Narrow>(memory, n, orders, reduce);
    else for_all<Wide>(memory, n, orders, reduce);
    if (transitions) atomic_add(memory + TRANSITIONS, transitions);
    if (deadlocks) atomic_add(memory + DEADLOCKS, deadlocks);
}
KERNEL stubborn_retrace(u64* memory, u64 n, Orders orders) {
    auto retrace = [](auto& it, u64 lane) { it.retrace(lane); };
    if (memory[IS_NARROW]) for_all<Narrow>(memory, n, orders, retrace);
    else for_all<Wide>(memory, n, orders, retrace);
}
#endif
