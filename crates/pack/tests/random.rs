//! Random values of all kinds of types, packed and unpacked.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Debug;

use stubborn_derive::Pack;
use stubborn_pack::{Pack, Packing, Table};

const LAST: i16 = 900;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Pack)]
#[pack(crate = stubborn_pack)]
enum Role {
    Idle,
    Candidate { votes: [bool; 3], term: u8 },
    Leader(#[pack(0..=5)] u8, Option<Box<(bool, i8)>>),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Pack)]
#[pack(crate = stubborn_pack)]
struct Unit;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Pack)]
#[pack(crate = stubborn_pack)]
enum Single {
    Only(u16),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Pack)]
#[pack(crate = stubborn_pack)]
struct Server<T: Clone, const N: usize>
where
    T: PartialEq,
{
    role: Role,
    #[pack(-3..=4)]
    offset: i8,
    #[pack(i64::MIN..=i64::MAX)]
    all: i64,
    #[pack(-LAST..=LAST)]
    r#bounded: i16,
    pair: (u16, T),
    parts: [T; N],
    #[pack(max = 4)]
    log: Vec<(u8, Role)>,
    #[pack(max = 3, 0..10)]
    queue: VecDeque<u32>,
    #[pack(max = 5)]
    votes: BTreeSet<u8>,
    #[pack(0..=2)]
    grid: [[usize; 2]; 2],
    #[pack(1..=1)]
    one: u64,
    #[pack(0..=6)]
    vote: Option<u8>,
    #[pack(intern)]
    name: String,
    #[pack(intern = 10)]
    sets: Vec<BTreeSet<u8>>,
    empty: (Unit, Single),
    pub(crate) long: (u64, isize),
}

type State = Server<bool, 3>;

fn role(random: &mut fastrand::Rng) -> Role {
    match random.u8(0..3) {
        0 => Role::Idle,
        1 => Role::Candidate { votes: [random.bool(), random.bool(), random.bool()], term: random.u8(..) },
        _ => Role::Leader(random.u8(0..=5), random.bool().then(|| Box::new((random.bool(), random.i8(..))))),
    }
}

fn state(random: &mut fastrand::Rng) -> State {
    let mut some = |most: usize| 0..random.usize(0..=most);
    let (log, queue, votes, sets) = (some(4), some(3), some(5), some(2));
    Server {
        role: role(random),
        offset: random.i8(-3..=4),
        all: random.i64(..),
        r#bounded: random.i16(-LAST..=LAST),
        pair: (random.u16(..), random.bool()),
        parts: [random.bool(), random.bool(), random.bool()],
        log: log.map(|_| (random.u8(..), role(random))).collect(),
        queue: queue.map(|_| random.u32(0..10)).collect(),
        votes: votes.map(|_| random.u8(..)).collect(),
        grid: [[random.usize(0..=2), 2], [0, random.usize(0..=2)]],
        one: 1,
        vote: random.bool().then(|| random.u8(0..=6)),
        name: ["", "a", "b", "something long"][random.usize(0..4)].to_owned(),
        sets: sets.map(|_| (0..random.u8(0..4)).collect()).collect(),
        empty: (Unit, Single::Only(random.u16(..))),
        long: (random.u64(..), random.i64(..) as isize),
    }
}

fn words<T: Pack>(packing: &Packing<T>, value: &T, rest: u32) -> Vec<u32> {
    // What was there before does not matter.
    let mut words = vec![rest; packing.words()];
    packing.encode(value, &mut words).unwrap();
    words
}

fn survives<T: Pack + PartialEq + Debug>(packing: &Packing<T>, value: &T) {
    assert_eq!(packing.decode(&words(packing, value, u32::MAX)), *value);
}

#[test]
fn values_survive_and_equal_values_are_equal_words() {
    let mut random = fastrand::Rng::with_seed(1);
    let packing = Packing::<State>::default();
    let role_bits = 2 + 3 + 1 + 1 + 8; // Those of a leader.
    let expected = role_bits
        + 3
        + 64
        + 11
        + 17
        + 3
        + (3 + 4 * (8 + role_bits))
        + (2 + 3 * 4)
        + (3 + 5 * 8)
        + 8
        + 4
        + 32
        + 10
        + 16
        + 128;
    assert_eq!(State::BITS, expected);
    assert_eq!((Unit::BITS, Single::BITS), (0, 16));
    for _ in 0..20_000 {
        let value = state(&mut random);
        survives(&packing, &value);
        assert_eq!(words(&packing, &value, 0), words(&packing, &value.clone(), u32::MAX));
    }
}

#[test]
fn different_values_are_different_words() {
    let mut random = fastrand::Rng::with_seed(2);
    let packing = Packing::<State>::default();
    for _ in 0..2_000 {
        let (one, mut other) = (state(&mut random), state(&mut random));
        other =
            Server { role: other.role, log: other.log, queue: other.queue, vote: other.vote, ..one.clone() };
        assert_eq!(one == other, words(&packing, &one, 0) == words(&packing, &other, 0), "{one:?} {other:?}");
    }
}

#[test]
fn what_does_not_fit_names_its_field() {
    let packing = Packing::<State>::default();
    let refused = |change: fn(&mut State)| {
        let mut value = state(&mut fastrand::Rng::with_seed(3));
        change(&mut value);
        packing.encode(&value, &mut vec![0; packing.words()]).unwrap_err().to_string()
    };
    assert_eq!(refused(|s| s.offset = 5), "`Server.offset` is 5, which is not in -3..=4");
    assert_eq!(refused(|s| s.r#bounded = -901), "`Server.bounded` is -901, which is not in -900..=900");
    assert_eq!(refused(|s| s.queue = [1, 10].into()), "`Server.queue` is 10, which is not in 0..=9");
    assert_eq!(refused(|s| s.grid[1][0] = 3), "`Server.grid` is 3, which is not in 0..=2");
    assert_eq!(refused(|s| s.vote = Some(7)), "`Server.vote` is 7, which is not in 0..=6");
    assert_eq!(refused(|s| s.votes = (0..6).collect()), "`Server.votes` has 6 elements, and `max` is 5");
    assert_eq!(refused(|s| s.role = Role::Leader(6, None)), "`Role::Leader.0` is 6, which is not in 0..=5");
    let mut full = Packing::<State>::default();
    for n in 0..1024u16 {
        let mut value = state(&mut fastrand::Rng::with_seed(3));
        value.sets = vec![[n as u8].into(), [(n >> 8) as u8].into()];
        survives(&full, &value);
    }
    let value = state(&mut fastrand::Rng::with_seed(4));
    let other = Server { sets: vec![BTreeSet::new(); 9], ..value };
    let text = full.encode(&other, &mut vec![0; full.words()]).unwrap_err().to_string();
    assert_eq!(text, "`Server.sets` has more values than fit the 10 bits of its number");
    full = Packing::default();
    survives(&full, &other);
}

#[test]
fn numbers_are_given_in_order_and_found_again() {
    let table = Table::<u64>::default();
    let mut random = fastrand::Rng::with_seed(5);
    let mut all: Vec<u64> = Vec::new();
    for _ in 0..50_000 {
        let value = random.u64(0..30_000);
        let known = all.iter().position(|other| *other == value).filter(|_| all.len() < 2_000);
        let number = table.number(&value);
        match known {
            Some(known) => assert_eq!(number as usize, known),
            None if number as usize == all.len() => all.push(value),
            None => {}
        }
        assert_eq!(*table.get(number), value);
    }
    assert_eq!(table.len() as usize, all.len());
    assert!(all.iter().enumerate().all(|(number, value)| table.number(value) as usize == number));
}

#[test]
fn threads_agree_on_numbers() {
    let table = Table::<u32>::default();
    let numbers = |seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..20_000)
            .map(|_| random.u32(0..5_000))
            .map(|value| (value, table.number(&value)))
            .collect::<Vec<_>>()
    };
    let numbers = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|seed| scope.spawn(move || numbers(seed))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(numbers.iter().all(|&(value, number)| *table.get(number) == value));
    assert_eq!(table.len(), 5_000);
}
