// Products on a device: what `device::cpu::products` of `stubborn-check` does. The observer is a table behind the words of the
// system (`device::observer`); a state of the product has the observer's state in bits that no variable uses.

// What the words of an observer are.
namespace part {
enum {
    WATCHES, WORD, SHIFT, MASK, N_LETTERS, PROPOSITIONS, N_PROPOSITIONS, ACTIONS, SILENT, STARTS, STEPS, STANCES, AT_END, MEMBERS,
    TAKERS, N_WEAK, N_STRONG
};
}
namespace watches { enum { SOURCE, TARGET, CHANGES, ACTIONS }; }
namespace stance { enum { AT_ONCE = 1, AT_END = 2, LIVELOCK = 4, PASSING = 8 }; }
namespace at_end { enum { STUTTERS, STOPS, IS_ASKED, IS_WRONG }; }

// What is done with the steps of a product: they are only counted; where they lead is added; it is seen whether one leads to a state with
// a code; or something spreads along them.
namespace along { enum { NOTHING, ADD, NEAR, SPREAD }; }
namespace spread { enum { COUNT, TRIM, REACH, LEAVE, WAIT, BEGIN }; }

// Flags of a state's first word.
#define ALIVE (1u << 31)
#define WAITS (1u << 30)
#define LEAVES (1u << 29)
#define PREDECESSORS (LEAVES - 1)
#define NO_ACTION (~0u)

// In searches for cycles, a lane has so many states, since most of them have nothing to do.
#define GROUP 8

// What was found in a state.
struct Looked {
    u32 n_edges;
    bool is_hard, is_deadlock, is_wrong, is_near;
};

// What is done, and with what: a code that is wanted; or what spreads, along which steps, and the marks that it is about.
struct Task {
    u32 along, want, what, only_silent, kind, word, bits, seen, at_state;
};

// How a state is looked at. Another text may say otherwise.
#ifndef LOOK_FAR
#define LOOK_FAR look_far
#endif

template <class State> FAR Looked LOOK_FAR(u64* memory, const u64* orders, const State& state, const Task& task);
template <class State> FAR u32 valuation_far(u64* memory, const State& state, bool& is_hard);

template <class State> struct Pairs : Lane<State> {
    using Lane<State>::Lane;
    using Lane<State>::is_hard;
    using Lane<State>::memory;
    using Lane<State>::orders;
    using Lane<State>::word;
    using Lane<State>::place;
    using Lane<State>::action;
    using Lane<State>::holds;
    using Lane<State>::is_enabled;

    LANE bool is_product() const { return word(OBSERVER) != 0; }

    LANE u32 part(u32 what) const { return word(word(OBSERVER) + what); }

    LANE u32 in_part(u32 what, u32 at) const { return word(part(what) + at); }

    LANE u32 observer_of(const State& state) const {
        return state.get(part(part::WORD)) >> part(part::SHIFT) & part(part::MASK);
    }

    LANE void set_observer(State& state, u32 observer) const {
        u32 at = part(part::WORD), shift = part(part::SHIFT);
        state.set(at, (state.get(at) & ~(part(part::MASK) << shift)) | observer << shift);
    }

    // The values of the propositions, as bits.
    LANE u32 valuation(State& state) {
        u32 bits = 0, n = part(part::N_PROPOSITIONS);
        ROLLED for (u32 bit = 0; bit < n; bit++) {
            bits |= (u32)holds(in_part(part::PROPOSITIONS, bit), state) << bit;
            if (is_hard) return 0;
        }
        return bits;
    }

    LANE u32 valuation_of(const State& state) {
        bool was_hard = false;
        u32 bits = valuation_far<State>(memory, state, was_hard);
        is_hard |= was_hard;
        return bits;
    }

    LANE u32 stance_of(const State& state, u32 valuation) const {
        return in_part(part::STANCES, (observer_of(state) << part(part::N_PROPOSITIONS)) + valuation);
    }

    // ---- A word of 32 bits per state ----------------------------------------------------------------------------------------

    LANE u32* half(Place where, u64 id) const { return (u32*)(memory + place(where)) + id; }

    // Something about a state.
    LANE void hear(u64 id, u32 what, u32 told) {
        u32* at = half(WORDS, id);
        if (what == spread::BEGIN) {
            atomic_or(at, told);
            return;
        }
        if (!(load_shared(at) & ALIVE)) return;
        if (what == spread::COUNT) {
            u32 before = atomic_add(at, 1);
            if ((before & PREDECESSORS) >= PREDECESSORS / 2) atomic_or(memory + FULL, 1);
        } else if (what == spread::TRIM) {
            atomic_add(at, ~0u);
        } else if (what == spread::LEAVE) {
            atomic_or(at, LEAVES);
        } else if (told & ~atomic_or(half(SEEN, id), told)) {
            fence();
            atomic_or(at, WAITS);
        }
    }

    // The word of constraints of an action: weak ones, or strong ones.
    LANE u32 constraint(u32 table, u32 number, u32 kind, u32 nth) const {
        u32 n_weak = part(part::N_WEAK);
        return in_part(table, number * (n_weak + part(part::N_STRONG)) + (kind == 1 ? nth : n_weak + nth));
    }

    // The marks that a state has, by what is enabled in it: of weak constraints that are not, or of strong ones that are.
    LANE u32 state_marks(State& state, u32 kind, u32 nth) {
        if (kind == 0) return 0;
        u32 enabled = 0, n_enabled = 0, n_actions = word(N_ACTIONS);
        ROLLED for (u32 quiet = 0; quiet <= word(HAS_QUIET); quiet++) {
            if (quiet && n_enabled > 0) break;
            ROLLED for (u32 number = 0; number < n_actions; number++) {
                Four now = action(number);
                if ((now.d & 1) != quiet) continue;
                bool can_happen = is_enabled(now, state);
                if (is_hard) return 0;
                if (!can_happen) continue;
                n_enabled++;
                enabled |= constraint(part::MEMBERS, number, kind, nth);
            }
        }
        return kind == 1 ? ~enabled : enabled;
    }

    // ---- Steps of the product -----------------------------------------------------------------------------------------------

    LANE void go_along(const State& target, u32 number, u32 marks, bool is_silent, const Task& task, Looked& looked) {
        if (task.along == along::NOTHING) return;
        if (task.along == along::ADD) {
            this->add(target);
            return;
        }
        if (task.along == along::SPREAD && task.only_silent && !is_silent) return;
        u64 id = find_far<State>(memory, target);
        if (id == EMPTY) return;
        if (task.along == along::NEAR) {
            looked.is_near |= this->code(id) == task.want;
            return;
        }
        u32 by_step = marks;
        if (task.kind) {
            by_step = number == NO_ACTION ? 0 : constraint(part::TAKERS, number, task.kind, task.word);
            if (task.kind == 1) by_step |= task.at_state;
        }
        hear(id, task.what, task.seen | (by_step & task.bits));
    }

    // The observer moves when the system comes to a state.
    LANE void move(u32 letter, State& target, u32 number, bool is_silent, const Task& task, Looked& looked) {
        u32 row = observer_of(target) * part(part::N_LETTERS) + letter;
        u32 end = in_part(part::STARTS, row + 1);
        ROLLED for (u32 step = in_part(part::STARTS, row); step < end; step++) {
            State moved = target;
            set_observer(moved, in_part(part::STEPS, 2 * step));
            looked.n_edges++;
            go_along(moved, number, in_part(part::STEPS, 2 * step + 1), is_silent, task, looked);
        }
    }

    LANE Looked look(State& state, const Task& task) {
        Looked looked = {0, false, false, false, false};
        u32 kind = part(part::WATCHES), from = valuation_of(state), ends = part(part::AT_END);
        u32 accepts = is_hard ? 0 : stance_of(state, from);
        if (!is_hard) this->took(from);
        looked.is_hard = is_hard;
        looked.is_wrong = accepts & stance::AT_ONCE;
        if (is_hard || looked.is_wrong) return looked;
        // What it sees where nothing changes.
        u32 before = kind == watches::CHANGES ? from << part(part::N_PROPOSITIONS) : 0, stays = before | from;
        u32 n_steps = this->for_each_step(state, false, [&](State& target, u32 number) {
            u32 known = in_part(part::ACTIONS, number), letter = stays;
            bool is_silent = true;
            if (kind == watches::ACTIONS) {
                letter = known;
                is_silent = in_part(part::SILENT, known);
            } else if (kind != watches::SOURCE && known) {
                u32 to = valuation_of(target);
                if (is_hard) return;
                this->took(to);
                letter = before | to;
                is_silent = kind == watches::CHANGES ? in_part(part::SILENT, letter) : from == to;
            }
            move(letter, target, number, is_silent, task, looked);
        });
        looked.is_hard = is_hard;
        if (is_hard) return looked;
        looked.is_deadlock = kind == watches::ACTIONS ? looked.n_edges == 0 : n_steps == 0;
        if (!looked.is_deadlock) return looked;
        looked.is_wrong = ends == at_end::IS_WRONG || (ends == at_end::IS_ASKED && accepts & stance::AT_END);
        if (ends == at_end::STUTTERS) {
            State same = state;
            move(stays, same, NO_ACTION, true, task, looked);
        }
        return looked;
    }

    LANE Looked look_at(const State& state, const Task& task) {
        return LOOK_FAR<State>(memory, orders, state, task);
    }

    LANE static Task only(u32 along, u32 want = 0) {
        Task task = {along, want, 0, 0, 0, 0, 0, 0, 0};
        return task;
    }

    // ---- Kernels: what one lane does -----------------------------------------------------------------------------------------

    LANE void pair(u64 lane, u64& transitions, u64& deadlocks) {
        State state;
        if (!this->item(orders[0] + lane, state)) return;
        Looked looked = look_at(state, only(along::ADD));
        if (looked.is_hard) return this->note(state);
        transitions += looked.n_edges;
        deadlocks += looked.is_deadlock;
        if (looked.is_wrong) count_one(memory + FOUND);
    }

    LANE void begin_cycles(u64 lane) {
        ROLLED for (u64 id = orders[0] + GROUP * lane, end = id + GROUP; id < end; id++) {
            *half(WORDS, id) = 0;
            State state;
            if (id < orders[2] && this->known(id, state)) begin_with(id, state);
            is_hard = false;
        }
    }

    LANE void begin_with(u64 id, State& state) {
        u32 bits = valuation_of(state);
        if (is_hard) return this->note(state);
        u32 accepts = stance_of(state, bits);
        if (orders[1] ? !(accepts & stance::LIVELOCK) : (accepts & stance::PASSING) != 0) return;
        *half(WORDS, id) = ALIVE;
        count_one(memory + FOUND);
    }

    LANE void spread_from_all(u64 lane) {
        u32 what = (u32)orders[1], words[GROUP];
        u64 first = orders[0] + GROUP * lane;
        read_eight(half(WORDS, first), words);
        for (u32 nth = 0; nth < GROUP; nth++) {
            u32 now = words[nth];
            bool has_to = now & ALIVE;
            if (what == spread::TRIM) has_to &= !(now & PREDECESSORS) || now & LEAVES;
            if (what == spread::REACH) has_to &= (now & WAITS) != 0;
            words[nth] = has_to;
        }
        ROLLED for (u32 nth = 0; nth < GROUP; nth++) {
            if (words[nth]) spread_from(first + nth, what);
            is_hard = false;
        }
    }

    LANE void spread_from(u64 id, u32 what) {
        if (what == spread::WAIT) {
            atomic_or(half(WORDS, id), WAITS);
            count_one(memory + FOUND);
            return;
        }
        State state;
        if (!this->known(id, state)) return;
        Task task = {along::SPREAD, 0, what, (u32)orders[2] & 1, (u32)orders[3], (u32)orders[4], (u32)orders[5], 0, 0};
        if (what == spread::LEAVE) {
            u32 missing = task.bits & ~load_shared(half(SEEN, id));
            if (task.kind == 2 && missing) missing &= state_marks(state, task.kind, task.word);
            if (is_hard) return this->note(state);
            if (!missing) return;
            atomic_or(half(WORDS, id), LEAVES);
            count_one(memory + FOUND);
            return;
        }
        if (what == spread::TRIM) atomic_and(half(WORDS, id), ~ALIVE);
        if (what == spread::REACH) {
            atomic_and(half(WORDS, id), ~WAITS);
            fence();
        }
        count_one(memory + FOUND);
        // Nothing must be done twice: what is hard is left to the processor before something is done.
        if (orders[2] & 2 && look_at(state, only(along::NOTHING)).is_hard) return this->note(state);
        if (what == spread::REACH) {
            task.at_state = state_marks(state, task.kind, task.word);
            if (is_hard) return this->note(state);
            task.seen = load_shared(half(SEEN, id));
        }
        if (look_at(state, task).is_hard) this->note(state);
    }

    LANE void tell(u64 lane) {
        State state;
        this->letter(lane, state);
        u64 id = find_far<State>(memory, state);
        u32 told = (u32)memory[place(LETTERS) + MAX_LETTERS * (u64)this->state_words + lane];
        if (id != EMPTY) hear(id, (u32)orders[1], told);
    }
};

template <class State> FAR Looked look_far(u64* memory, const u64* orders, const State& state, const Task& task) {
    Pairs<State> lane(memory, orders);
    State copy = state;
    return lane.look(copy, task);
}

template <class State> FAR u32 valuation_far(u64* memory, const State& state, bool& is_hard) {
    Pairs<State> lane(memory);
    State copy = state;
    u32 bits = lane.valuation(copy);
    is_hard = lane.is_hard;
    return bits;
}
