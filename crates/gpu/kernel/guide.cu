// Kernels that leave something out of a product: those of `explore.cu` once more, where a state has only those steps that its observer
// leads to. What `device::cpu::sets` of `stubborn-check` does.
//
// The text is a file of its own, and becomes PTX of its own, so that what is done without it stays as it is. All that it adds is how the
// steps of a state are looked at.

#define WITHOUT_KERNELS_OF_SETS
#define LOOK_FAR look_led_far
#include "reduce.cu"

// What a lane finds out about the steps of a state, before some are chosen.
struct Possible {
    bool is_hard, is_any;
    u32 n_steps;
};

// Finds out which steps are possible, and chooses some of them: once in a kernel.
template <class State> FAR Possible lead_far(u64* memory, u32 from, const State& state, u32* chosen);

template <class State> struct Guide : Reducer<State> {
    using Reducer<State>::Reducer;
    using Reducer<State>::at;
    using Reducer<State>::in_part;
    using Reducer<State>::is_hard;
    using Reducer<State>::memory;
    using Reducer<State>::part;
    using Reducer<State>::word;

    // What is seen of a step, as a letter, and whether that is nothing. Only what watches changes looks at where it leads.
    LANE u32 see(u32 kind, u32 from, u32 number, const State& target, bool& is_silent) {
        u32 known = in_part(part::ACTIONS, number);
        is_silent = true;
        if (kind == watches::ACTIONS) {
            is_silent = in_part(part::SILENT, known);
            return known;
        }
        u32 before = kind == watches::CHANGES ? from << part(part::N_PROPOSITIONS) : 0;
        if (kind == watches::SOURCE || !known) return before | from;
        u32 to = this->valuation_of(target);
        if (is_hard) return 0;
        this->took(to);
        is_silent = kind == watches::CHANGES ? in_part(part::SILENT, before | to) != 0 : from == to;
        return before | to;
    }

    LANE bool needs_target(u32 kind, u32 number) const {
        return (kind == watches::CHANGES || kind == watches::TARGET) && in_part(part::ACTIONS, number);
    }

    // Finds out which steps the observer lets happen.
    LANE Possible possible(u32 from, State& state, Bits& bits) {
        Possible found = {false, false, 0};
        u32 n_actions = at(sets::N_ACTIONS), kind = part(part::WATCHES);
        u32 row = this->observer_of(state) * part(part::N_LETTERS);
        ROLLED for (u32 number = 0; number < (n_actions + 31) / 32; number++) bits.enabled[number] = bits.moves[number] = 0;
        ROLLED for (u32 quiet = 0; quiet <= word(HAS_QUIET); quiet++) {
            if (quiet && found.n_steps) break;
            ROLLED for (u32 number = 0; number < n_actions; number++) {
                Four now = this->action(number);
                if ((now.d & 1) != quiet) continue;
                bool enabled = this->is_enabled(now, state);
                if (is_hard) return found;
                if (!enabled) continue;
                found.n_steps++;
                State target = state;
                if (needs_target(kind, number)) this->step(now, number, target, false);
                if (is_hard) return found;
                bool is_silent = true;
                u32 letter = row + see(kind, from, number, target, is_silent);
                if (is_hard) return found;
                bool is_possible = in_part(part::STARTS, letter) < in_part(part::STARTS, letter + 1);
                u32 bit = 1u << (number % 32);
                if (is_possible) bits.enabled[number / 32] |= bit;
                if (!is_possible || !is_silent) bits.moves[number / 32] |= bit;
                found.is_any |= is_possible;
            }
        }
        return found;
    }

    // Chooses those of the possible steps that the observer leads to.
    LANE void choose_led(State& state, Bits& bits) {
        u32 flags = at(bits.offer), n_words = (at(sets::N_ACTIONS) + 31) / 32, n_enabled = 0;
        bool has_silent = false;
        ROLLED for (u32 number = 0; number < n_words; number++) {
            n_enabled += n_set(bits.enabled[number]);
            has_silent |= (bits.enabled[number] & ~bits.moves[number]) != 0;
        }
        if (flags & MAY_WAIT) {
            // Where there is one step, it is taken.
            return this->smallest(has_silent && n_enabled > 1, state, bits);
        }
        this->forget(bits, (at(sets::N_VERTICES) + 31) / 32);
        this->add_list(this->follows(bits), state, bits);
        if (!this->close_all(state, bits) && !is_hard && flags & MAY_END) this->smallest(false, state, bits);
    }

    LANE Looked look_led(State& state, const Task& task) {
        Looked looked = {0, false, false, false, false};
        u32 kind = part(part::WATCHES), from = this->valuation_of(state), ends = part(part::AT_END);
        u32 accepts = is_hard ? 0 : this->stance_of(state, from);
        if (!is_hard) this->took(from);
        looked.is_hard = is_hard;
        looked.is_wrong = accepts & stance::AT_ONCE;
        if (is_hard || looked.is_wrong) return looked;
        // Where a chain has a choice or goes wrong, the processor looks at all of them.
        if (at(sets::HAS_CHAINS)) this->for_each_step(state, false, [](const State&, u32) {});
        looked.is_hard = is_hard;
        if (is_hard) return looked;
        u32 chosen[N_BITS];
        Possible found = lead_far<State>(memory, from, state, chosen);
        is_hard = looked.is_hard = found.is_hard;
        if (is_hard) return looked;
        ROLLED for (u32 number = 0; found.is_any && number < (at(sets::N_ACTIONS) + 31) / 32; number++) {
            ROLLED for (u32 left = chosen[number]; left; left &= left - 1) {
                u32 action = 32 * number + lowest(left);
                State target = state;
                this->step(this->action(action), action, target, false);
                bool is_silent = true;
                u32 letter = is_hard ? 0 : see(kind, from, action, target, is_silent);
                looked.is_hard = is_hard;
                if (is_hard) return looked;
                this->move(letter, target, action, is_silent, task, looked);
            }
        }
        looked.is_deadlock = kind == watches::ACTIONS ? !found.is_any : found.n_steps == 0;
        if (!looked.is_deadlock) return looked;
        looked.is_wrong = ends == at_end::IS_WRONG || (ends == at_end::IS_ASKED && accepts & stance::AT_END);
        if (ends == at_end::STUTTERS) {
            State same = state;
            u32 stays = kind == watches::CHANGES ? from << part(part::N_PROPOSITIONS) | from : from;
            this->move(stays, same, NO_ACTION, true, task, looked);
        }
        return looked;
    }
};

template <class State> FAR Possible lead_far(u64* memory, u32 from, const State& state, u32* chosen) {
    Guide<State> lane(memory);
    Bits bits;
    bits.chosen = chosen;
    u32 number = (lane.observer_of(state) << lane.part(part::N_PROPOSITIONS)) + from;
    bits.offer = lane.at(lane.at(sets::OFFERS) + number);
    State copy = state;
    Possible found = lane.possible(from, copy, bits);
    if (!lane.is_hard && found.is_any) lane.choose_led(copy, bits);
    found.is_hard = lane.is_hard;
    return found;
}

template <class State> FAR Looked look_led_far(u64* memory, const u64* orders, const State& state, const Task& task) {
    Guide<State> lane(memory, orders);
    State copy = state;
    return lane.look_led(copy, task);
}

// The same names as there, and the same lanes: they look at steps otherwise.
KERNEL stubborn_pair_led(u64* memory, u64 n, Orders orders) {
    u64 transitions = 0, deadlocks = 0;
    FOR_ALL(it.pair(lane, transitions, deadlocks))
    if (transitions) atomic_add(memory + TRANSITIONS, transitions);
    if (deadlocks) atomic_add(memory + DEADLOCKS, deadlocks);
}
KERNEL stubborn_scan_led(u64* memory, u64 n, Orders orders) { FOR_ALL(it.scan(lane)) }
KERNEL stubborn_spread_led(u64* memory, u64 n, Orders orders) { FOR_ALL(it.spread_from_all(lane)) }
