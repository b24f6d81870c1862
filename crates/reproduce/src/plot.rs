//! Plots as SVG: curves and clouds of points, on linear or logarithmic axes, readable on light and on dark
//! ground. Series differ in color, mark and, for curves, dashes: no color is needed to tell them apart.

use std::fmt::Write as _;

use stubborn::base::text::escape_xml as escape;

/// A plot.
pub(crate) struct Plot {
    /// The name of its file, without `.svg`.
    pub(crate) file: String,
    pub(crate) title: String,
    /// What it shows, for those who cannot see it.
    pub(crate) description: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Whether there is a line where both coordinates are the same.
    pub(crate) has_diagonal: bool,
}

/// An axis.
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) is_log: bool,
}

/// Points that belong together.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// Whether they are joined.
    pub(crate) is_curve: bool,
}

impl Axis {
    pub(crate) fn linear(label: &str) -> Axis {
        Axis { label: label.to_owned(), is_log: false }
    }

    pub(crate) fn log(label: &str) -> Axis {
        Axis { label: label.to_owned(), is_log: true }
    }
}

impl Series {
    pub(crate) fn curve(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), points, is_curve: true }
    }

    pub(crate) fn cloud(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), points, is_curve: false }
    }
}

const WIDTH: f64 = 480.0;
const LEFT: f64 = 68.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const INNER_HEIGHT: f64 = 270.0;
const BOTTOM: f64 = 48.0;
const LEGEND_LINE: f64 = 18.0;
const N_STYLES: usize = 6;

/// Colors for light ground, and for dark where that is preferred: distinct for people who are color-blind.
pub(crate) const STYLE: &str = include_str!("plot.css");

/// The range of an axis and how it is divided.
struct Scale {
    is_log: bool,
    low: f64,
    high: f64,
    /// Where the ticks are.
    ticks: Vec<f64>,
}

impl Scale {
    /// A scale that has room for all these values.
    fn new(is_log: bool, values: impl Iterator<Item = f64>) -> Scale {
        let is_good = |value: &f64| value.is_finite() && (!is_log || *value > 0.0);
        let values: Vec<f64> = values.filter(is_good).collect();
        let low = values.iter().copied().reduce(f64::min).unwrap_or(1.0);
        let high = values.iter().copied().reduce(f64::max).unwrap_or(10.0);
        let is_whole = values.iter().all(|value| value.fract() == 0.0);
        if is_log { Scale::log(low, high) } else { Scale::linear(low, high, is_whole) }
    }

    fn log(low: f64, high: f64) -> Scale {
        let first = low.log10().floor() as i32;
        let last = (high.log10().ceil() as i32).max(first + 1);
        let step = ((last - first) as usize).div_ceil(7);
        let ticks = (first..=last).step_by(step).map(|power| 10f64.powi(power)).collect();
        Scale { is_log: true, low: 10f64.powi(first), high: 10f64.powi(last), ticks }
    }

    /// Where all values are whole numbers, so are the ticks.
    fn linear(low: f64, high: f64, is_whole: bool) -> Scale {
        let span = if high > low { high - low } else { 1.0 };
        let power = 10f64.powf((span / 6.0).log10().floor()).max(if is_whole { 1.0 } else { 0.0 });
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| span / step <= 7.0).unwrap_or(span);
        let (first, last) = ((low / step).floor(), (high / step).ceil().max((low / step).floor() + 1.0));
        let n_ticks = (last - first) as u32;
        let ticks = (0..=n_ticks).map(|index| (first + f64::from(index)) * step).collect();
        Scale { is_log: false, low: first * step, high: last * step, ticks }
    }

    /// Where a value is, between 0 and 1.
    fn place(&self, value: f64) -> f64 {
        let position = if self.is_log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        position.clamp(0.0, 1.0)
    }

    fn label(&self, tick: f64) -> String {
        if self.is_log && !(0.01..=10_000.0).contains(&tick) {
            let power = tick.log10().round() as i32;
            return format!("10{}", superscript(power));
        }
        crate::document::number((tick * 1e9).round() / 1e9)
    }
}

fn superscript(power: i32) -> String {
    let digit = |char| match char {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => other.to_digit(10).and_then(|digit| char::from_u32(0x2070 + digit)).unwrap_or(other),
    };
    power.to_string().chars().map(digit).collect()
}

impl Plot {
    /// The picture. If it stands alone, it brings its colors along.
    pub(crate) fn to_svg(&self, stands_alone: bool) -> String {
        let all = || self.series.iter().flat_map(|series| series.points.iter());
        let (mut x, mut y) = (
            Scale::new(self.x.is_log, all().map(|point| point.0)),
            Scale::new(self.y.is_log, all().map(|point| point.1)),
        );
        if self.has_diagonal {
            let both = || all().flat_map(|point| [point.0, point.1]);
            (x, y) = (Scale::new(self.x.is_log, both()), Scale::new(self.y.is_log, both()));
        }
        let inner_width = WIDTH - LEFT - RIGHT;
        let legend_top = TOP + INNER_HEIGHT + BOTTOM;
        let height = legend_top + LEGEND_LINE * self.series.len() as f64 + 8.0;
        let at = |point: &(f64, f64)| {
            (LEFT + x.place(point.0) * inner_width, TOP + (1.0 - y.place(point.1)) * INNER_HEIGHT)
        };
        // Writing to a string cannot fail.
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" font-size=\"13\" role=\"img\" \
             aria-labelledby=\"{0}-title {0}-desc\">\n",
            self.file
        );
        let (title, description) = (escape(&self.title), escape(&self.description));
        _ = writeln!(svg, "<title id=\"{}-title\">{title}</title>", self.file);
        _ = writeln!(svg, "<desc id=\"{}-desc\">{description}</desc>", self.file);
        if stands_alone {
            _ = writeln!(svg, "<style>\n{STYLE}</style>");
        }
        _ = writeln!(svg, "<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>");
        _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"20\" font-weight=\"600\">{title}</text>");
        let (bottom, right) = (TOP + INNER_HEIGHT, LEFT + inner_width);
        for tick in &x.ticks {
            let at = LEFT + x.place(*tick) * inner_width;
            _ = writeln!(svg, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>");
            let label = x.label(*tick);
            _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"12\">{label}</text>",
                bottom + 17.0
            );
        }
        for tick in &y.ticks {
            let at = bottom - y.place(*tick) * INNER_HEIGHT;
            _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>");
            let label = y.label(*tick);
            _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"12\">{label}</text>",
                LEFT - 6.0,
                at + 4.0
            );
        }
        _ = writeln!(svg, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>");
        let (x_label, y_label) = (escape(&self.x.label), escape(&self.y.label));
        _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_label}</text>",
            LEFT + inner_width / 2.0,
            bottom + 36.0
        );
        _ = writeln!(
            svg,
            "<text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{y_label}</text>",
            TOP + INNER_HEIGHT / 2.0
        );
        if self.has_diagonal {
            _ = writeln!(svg, "<path class=\"diagonal\" d=\"M{LEFT} {bottom}L{right} {TOP}\"/>");
        }
        for (index, series) in self.series.iter().enumerate() {
            write_series(&mut svg, index, series, at);
            let line = legend_top + LEGEND_LINE * (index as f64 + 0.5);
            let points = if series.is_curve { vec![(0.0, 0.0), (26.0, 0.0)] } else { vec![(13.0, 0.0)] };
            let sample = Series { points, name: String::new(), ..*series };
            write_series(&mut svg, index, &sample, |point| (LEFT + point.0, line));
            _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LEFT + 36.0,
                line + 4.5,
                escape(&series.name)
            );
        }
        svg + "</svg>\n"
    }
}

fn write_series(svg: &mut String, index: usize, series: &Series, at: impl Fn(&(f64, f64)) -> (f64, f64)) {
    const DASHES: [&str; N_STYLES] = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"];
    let style = index % N_STYLES;
    let points: Vec<(f64, f64)> = series.points.iter().map(at).collect();
    _ = writeln!(svg, "<g class=\"s{style}\">");
    if series.is_curve && points.len() > 1 {
        let steps: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let dashes = DASHES[style];
        _ = writeln!(
            svg,
            "<path class=\"line\" stroke-dasharray=\"{}\" d=\"M{}\"/>",
            if dashes.is_empty() { "none" } else { dashes },
            steps.join("L")
        );
    }
    for (x, y) in points {
        let path = match style {
            0 => format!("M{:.1} {y:.1}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0", x - 3.5),
            1 => format!("M{:.1} {:.1}h6v6h-6z", x - 3.0, y - 3.0),
            2 => format!("M{x:.1} {:.1}l4 7h-8z", y - 4.0),
            3 => format!("M{x:.1} {:.1}l4 4l-4 4l-4 -4z", y - 4.0),
            4 => format!("M{:.1} {:.1}l6 6m0 -6l-6 6", x - 3.0, y - 3.0),
            _ => format!("M{:.1} {y:.1}h8m-4 -4v8", x - 4.0),
        };
        _ = writeln!(svg, "<path class=\"mark\" d=\"{path}\"/>");
    }
    svg.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_room_for_everything_and_few_ticks() {
        for is_log in [false, true] {
            for values in [vec![], vec![3.0], vec![0.5, 1e6], vec![2.0, 14.0], vec![0.0, 0.0]] {
                let scale = Scale::new(is_log, values.iter().copied());
                assert!(scale.ticks.len() >= 2 && scale.ticks.len() <= 9, "{values:?}: {:?}", scale.ticks);
                for value in values.iter().filter(|value| !is_log || **value > 0.0) {
                    assert!((scale.low..=scale.high).contains(value), "{value} of {values:?}");
                }
                assert_eq!((scale.place(scale.low), scale.place(scale.high)), (0.0, 1.0));
            }
        }
    }

    #[test]
    fn powers_of_ten_are_written_as_such() {
        let scale = Scale::new(true, [1e-3, 1e7].into_iter());
        assert_eq!(scale.label(1e7), "10⁷");
        assert_eq!(scale.label(1e-3), "10⁻³");
        assert_eq!(scale.label(100.0), "100");
    }
}
