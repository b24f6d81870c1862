//! What [bensalem.12.topnoc] published: averages of its Tables 1 and 2, and the two formulas of its case
//! studies.
//!
//! The tables are known to us from a text in which they are scrambled; figures that cannot be told are left
//! out.

/// Averages for TGBA, TA and TGTA.
pub(crate) type Three = [Option<f64>; 3];

/// Averages over the formulas of one kind about one net.
pub(crate) struct Averages {
    pub(crate) net: &'static str,
    pub(crate) class: &'static str,
    pub(crate) verdict: &'static str,
    /// States of the full product.
    pub(crate) full_states: Three,
    /// Transitions explored by the emptiness check.
    pub(crate) transitions: Three,
}

/// Net, kind of formulas and verdict; states and transitions for TGBA, TA and TGTA. 0 stands for what cannot be
/// told.
type Row = (&'static str, &'static str, &'static str, [u32; 3], [u32; 3]);

const ROWS: [Row; 16] = [
    ("Kanban", "RND", "holds", [837_446, 575_668, 560_400], [8_350_628, 5_450_687, 5_302_142]),
    ("Kanban", "RND", "violated", [5_974_582, 5_659_936, 5_153_380], [165_487, 104_243, 0]),
    ("FMS", "RND", "holds", [551_742, 405_588, 407_130], [3_993_810, 3_786_904, 3_184_980]),
    ("FMS", "RND", "violated", [6_883_843, 6_686_607, 6_397_882], [214_399, 165_756, 155_899]),
    ("Ring", "RND", "holds", [671_254, 525_472, 538_121], [4_279_403, 5_908_454, 3_168_068]),
    ("Ring", "RND", "violated", [1_534_755, 1_410_442, 1_349_758], [1_257_494, 1_054_280, 979_121]),
    ("Peterson", "RND", "holds", [2_489_651, 2_364_394, 2_327_423], [10_706_255, 14_883_673, 9_070_953]),
    ("Peterson", "RND", "violated", [4_378_750, 4_530_886, 4_338_504], [1_664_897, 1_709_098, 1_504_616]),
    ("MAPK", "RND", "holds", [1_095_515, 812_843, 812_456], [11_940_964, 10_119_485, 10_116_066]),
    ("MAPK", "RND", "violated", [15_364_530, 15_531_840, 14_360_794], [147_170, 53_569, 51_231]),
    ("MAPK", "WFair", "holds", [2_649_730, 1_779_991, 1_684_025], [30_385_763, 21_870_089, 20_831_377]),
    ("MAPK", "WFair", "violated", [9_711_621, 20_285_910, 8_596_802], [195_459, 201_268, 198_070]),
    ("PolyORB-like", "RND", "holds", [69_141, 64_086, 65_108], [182_821, 226_731, 141_407]),
    ("PolyORB-like", "RND", "violated", [100_245, 103_035, 0], [122_212, 117_020, 104_919]),
    ("PolyORB-like", "WFair", "holds", [65_276, 79_602, 62_469], [153_015, 178_828, 133_825]),
    ("PolyORB-like", "WFair", "violated", [0, 155_237, 71_784], [130_841, 201_664, 122_560]),
];

/// All averages.
pub(crate) fn averages() -> impl Iterator<Item = Averages> {
    let three = |figures: [u32; 3]| figures.map(|figure| (figure > 0).then_some(f64::from(figure)));
    ROWS.into_iter().map(move |(net, class, verdict, states, transitions)| Averages {
        net,
        class,
        verdict,
        full_states: three(states),
        transitions: three(transitions),
    })
}

/// The averages for formulas of a kind about a net.
pub(crate) fn find(net: &str, class: &str, verdict: &str) -> Option<Averages> {
    averages().find(|its| (its.net, its.class, its.verdict) == (net, class, verdict))
}

/// The states and transitions of the full products with the automata of ¬Φ2 about MAPK, by observer.
pub(crate) const MAPK_PRODUCTS: [(&str, u64, u64); 3] =
    [("tgba", 46_494, 302_350), ("lazy-ta", 33_376, 289_235), ("lazy-tgta", 33_376, 289_235)];
