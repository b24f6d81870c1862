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

const fn three(tgba: u32, ta: u32, tgta: u32) -> Three {
    [Some(tgba as f64), Some(ta as f64), Some(tgta as f64)]
}

const fn averages(
    (net, class, verdict): (&'static str, &'static str, &'static str),
    full_states: Three,
    transitions: Three,
) -> Averages {
    Averages { net, class, verdict, full_states, transitions }
}

pub(crate) const AVERAGES: [Averages; 16] = [
    averages(
        ("Kanban", "RND", "holds"),
        three(837_446, 575_668, 560_400),
        three(8_350_628, 5_450_687, 5_302_142),
    ),
    averages(
        ("Kanban", "RND", "violated"),
        three(5_974_582, 5_659_936, 5_153_380),
        [Some(165_487.0), Some(104_243.0), None],
    ),
    averages(
        ("FMS", "RND", "holds"),
        three(551_742, 405_588, 407_130),
        three(3_993_810, 3_786_904, 3_184_980),
    ),
    averages(
        ("FMS", "RND", "violated"),
        three(6_883_843, 6_686_607, 6_397_882),
        three(214_399, 165_756, 155_899),
    ),
    averages(
        ("Ring", "RND", "holds"),
        three(671_254, 525_472, 538_121),
        three(4_279_403, 5_908_454, 3_168_068),
    ),
    averages(
        ("Ring", "RND", "violated"),
        three(1_534_755, 1_410_442, 1_349_758),
        three(1_257_494, 1_054_280, 979_121),
    ),
    averages(
        ("Peterson", "RND", "holds"),
        three(2_489_651, 2_364_394, 2_327_423),
        three(10_706_255, 14_883_673, 9_070_953),
    ),
    averages(
        ("Peterson", "RND", "violated"),
        three(4_378_750, 4_530_886, 4_338_504),
        three(1_664_897, 1_709_098, 1_504_616),
    ),
    averages(
        ("MAPK", "RND", "holds"),
        three(1_095_515, 812_843, 812_456),
        three(11_940_964, 10_119_485, 10_116_066),
    ),
    averages(
        ("MAPK", "RND", "violated"),
        three(15_364_530, 15_531_840, 14_360_794),
        three(147_170, 53_569, 51_231),
    ),
    averages(
        ("MAPK", "WFair", "holds"),
        three(2_649_730, 1_779_991, 1_684_025),
        three(30_385_763, 21_870_089, 20_831_377),
    ),
    averages(
        ("MAPK", "WFair", "violated"),
        three(9_711_621, 20_285_910, 8_596_802),
        three(195_459, 201_268, 198_070),
    ),
    averages(
        ("PolyORB-like", "RND", "holds"),
        three(69_141, 64_086, 65_108),
        three(182_821, 226_731, 141_407),
    ),
    averages(
        ("PolyORB-like", "RND", "violated"),
        [Some(100_245.0), Some(103_035.0), None],
        three(122_212, 117_020, 104_919),
    ),
    averages(
        ("PolyORB-like", "WFair", "holds"),
        three(65_276, 79_602, 62_469),
        three(153_015, 178_828, 133_825),
    ),
    averages(
        ("PolyORB-like", "WFair", "violated"),
        [None, Some(155_237.0), Some(71_784.0)],
        three(130_841, 201_664, 122_560),
    ),
];

/// The averages for formulas of a kind about a net.
pub(crate) fn find(net: &str, class: &str, verdict: &str) -> Option<&'static Averages> {
    AVERAGES.iter().find(|its| (its.net, its.class, its.verdict) == (net, class, verdict))
}

/// The states and transitions of the full products with the automata of ¬Φ2 about MAPK, by observer.
pub(crate) const MAPK_PRODUCTS: [(&str, u64, u64); 3] =
    [("tgba", 46_494, 302_350), ("lazy-ta", 33_376, 289_235), ("lazy-tgta", 33_376, 289_235)];
