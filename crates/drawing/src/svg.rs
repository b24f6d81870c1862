//! Drawings as SVG: one file with everything, no scripts, readable on light and on dark ground.

use std::fmt::Write as _;

use base::text::escape_xml;

use crate::figure::{Figure, LOOP_REACH, MAX_DOTS, PLACE_RADIUS, POINT_RADIUS, TEXT_GAP};
use crate::scene::{Curve, HEAD, Scene, Spot};
use crate::text::{FONT_SIZE, Fitted, LINE};
use crate::{Direction, Drawing, Fill, Node, Shape};

/// Colors for light ground, and for dark where that is preferred.
const STYLE: &str = "\
  text { font-family: system-ui, -apple-system, \"Segoe UI\", \"DejaVu Sans\", sans-serif; fill: #1f2328 }
  .paper { fill: #ffffff }
  .frame { fill: #f6f8fa; stroke: #d1d9e0 }
  .name { font-weight: 600 }
  .node { fill: #ffffff; stroke: #1f2328; stroke-width: 1.4 }
  .bar { fill: #eaeef2 }
  .initial { fill: #dbeafe }
  .final { fill: #dcfce7 }
  .dashed { stroke-dasharray: 5 3 }
  .token, .head { fill: #1f2328 }
  .edge { fill: none; stroke: #57606a; stroke-width: 1.2 }
  .head { fill: #57606a }
  .label { fill: #0b4a8f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .paper { fill: #0d1117 }
    .frame { fill: #151b23; stroke: #3d444d }
    .node { fill: #0d1117; stroke: #e6edf3 }
    .bar { fill: #2a313c }
    .initial { fill: #12305c }
    .final { fill: #0f3d22 }
    .token { fill: #e6edf3 }
    .edge { stroke: #9198a1 }
    .head { fill: #9198a1 }
    .label { fill: #79c0ff }
  }
";

pub(super) fn write(drawing: &Drawing) -> String {
    let scene = Scene::new(drawing);
    let (width, height) = (scene.width.ceil(), scene.height.ceil());
    // Writing to a string cannot fail.
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-size=\"{FONT_SIZE}\" role=\"img\">\n"
    );
    _ = writeln!(svg, "<title>{}</title>", escape_xml(&drawing.title));
    _ = writeln!(svg, "<desc>{}</desc>", escape_xml(&drawing.description));
    _ = writeln!(svg, "<style>\n{STYLE}</style>");
    _ = writeln!(svg, "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>");
    for frame in &scene.frames {
        let Spot { x, y } = frame.corner;
        _ = writeln!(
            svg,
            "<rect class=\"frame\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"/>",
            frame.width, frame.height
        );
        let at = Spot { x: x + 10.0, y: y + 10.0 + LINE / 2.0 };
        write_text(&mut svg, at, Anchor::Start, "name", &frame.name);
    }
    for curve in &scene.curves {
        write_curve(&mut svg, drawing, curve);
    }
    for (index, node) in drawing.nodes.iter().enumerate() {
        write_node(&mut svg, drawing, node, &scene.figures[index], scene.centers[index]);
    }
    svg + "</svg>\n"
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
}

/// Writes lines; the middle of all of them is at the height of the place.
fn write_text(svg: &mut String, at: Spot, anchor: Anchor, class: &str, text: &Fitted) {
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
    };
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let top = at.y - text.height() / 2.0;
    for (index, line) in text.lines.iter().enumerate() {
        // Letters without descenders are in the middle of their line.
        let baseline = top + LINE * (index as f64 + 0.5) + FONT_SIZE * 0.36;
        _ = writeln!(
            svg,
            "<text{class} x=\"{:.1}\" y=\"{baseline:.1}\"{anchor}>{}</text>",
            at.x,
            escape_xml(line)
        );
    }
}

fn write_curve(svg: &mut String, drawing: &Drawing, curve: &Curve) {
    let edge = &drawing.edges[curve.edge];
    let mut path = format!("M{:.1} {:.1}", curve.start.x, curve.start.y);
    for [one, two, end] in &curve.pieces {
        _ = write!(path, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", one.x, one.y, two.x, two.y, end.x, end.y);
    }
    svg.push_str("<g>\n");
    let label = curve.label.as_ref();
    if label.is_some_and(|(_, label)| label.is_cut) {
        _ = writeln!(svg, "<title>{}</title>", escape_xml(&edge.label));
    }
    _ = writeln!(svg, "<path class=\"edge\" d=\"{path}\"/>");
    for &(tip, toward) in &curve.heads {
        write_head(svg, tip, toward);
    }
    if let Some((at, label)) = label {
        let (at, anchor) = match drawing.direction {
            Direction::Down => (Spot { x: at.x + TEXT_GAP, ..*at }, Anchor::Start),
            Direction::Right => {
                (Spot { y: at.y - TEXT_GAP / 2.0 - label.height() / 2.0, ..*at }, Anchor::Middle)
            }
        };
        write_text(svg, at, anchor, "label", label);
    }
    svg.push_str("</g>\n");
}

/// The head of an arrow.
fn write_head(svg: &mut String, tip: Spot, toward: Spot) {
    let length = toward.x.hypot(toward.y).max(1e-6);
    let (x, y) = (toward.x / length, toward.y / length);
    let base = Spot { x: tip.x - x * HEAD, y: tip.y - y * HEAD };
    let half = HEAD * 0.42;
    _ = writeln!(
        svg,
        "<path class=\"head\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
        tip.x,
        tip.y,
        base.x - y * half,
        base.y + x * half,
        base.x + y * half,
        base.y - x * half
    );
}

fn write_node(svg: &mut String, drawing: &Drawing, node: &Node, figure: &Figure, center: Spot) {
    let Spot { x, y } = center;
    if let Some((whole, label)) = &figure.own_loop {
        svg.push_str("<g>\n");
        if label.is_cut {
            _ = writeln!(svg, "<title>{}</title>", escape_xml(whole));
        }
        write_loop(svg, drawing.direction, figure, label, center);
        svg.push_str("</g>\n");
    }
    svg.push_str("<g>\n");
    let cut = figure.text.is_cut.then_some(node.label.as_str());
    let notes: Vec<&str> =
        cut.into_iter().chain(Some(node.note.as_str()).filter(|note| !note.is_empty())).collect();
    if !notes.is_empty() {
        _ = writeln!(svg, "<title>{}</title>", escape_xml(&notes.join("\n")));
    }
    let mut class = match node.fill {
        Fill::Initial => "node initial".to_owned(),
        Fill::Final => "node final".to_owned(),
        Fill::Plain if node.shape == Shape::Transition => "node bar".to_owned(),
        Fill::Plain => "node".to_owned(),
    };
    if node.dashed {
        class += " dashed";
    }
    match node.shape {
        Shape::Place(tokens) => {
            let radius = figure.half_width;
            _ = writeln!(svg, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>");
            write_tokens(svg, tokens, center);
            let at = Spot { x: x + radius + TEXT_GAP, y };
            write_text(svg, at, Anchor::Start, "", &figure.text);
        }
        Shape::Point => {
            _ = writeln!(svg, "<circle class=\"token\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{POINT_RADIUS}\"/>");
        }
        Shape::Transition => {
            write_box(svg, &class, figure, center, 0.0, 2.0);
            write_text(svg, center, Anchor::Middle, "", &figure.text);
        }
        Shape::State | Shape::Accepting => {
            write_box(svg, &class, figure, center, 0.0, 10.0);
            if node.shape == Shape::Accepting {
                write_box(svg, &class, figure, center, 3.0, 7.0);
            }
            write_text(svg, center, Anchor::Middle, "", &figure.text);
        }
    }
    svg.push_str("</g>\n");
}

fn write_box(svg: &mut String, class: &str, figure: &Figure, center: Spot, inset: f64, radius: f64) {
    let (half_width, half_height) = (figure.half_width - inset, figure.half_height - inset);
    _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius}\"/>",
        center.x - half_width,
        center.y - half_height,
        2.0 * half_width,
        2.0 * half_height
    );
}

/// Tokens as dots, many as a number.
fn write_tokens(svg: &mut String, tokens: i64, center: Spot) {
    let d = PLACE_RADIUS * 0.42;
    let places: &[(f64, f64)] = match tokens {
        i64::MIN..=0 => &[],
        1 => &[(0.0, 0.0)],
        2 => &[(-d, 0.0), (d, 0.0)],
        3 => &[(0.0, -d), (-d, d * 0.8), (d, d * 0.8)],
        4 => &[(-d, -d), (d, -d), (-d, d), (d, d)],
        MAX_DOTS => &[(-d, -d), (d, -d), (-d, d), (d, d), (0.0, 0.0)],
        _ => {
            let text = Fitted::new(&tokens.to_string());
            return write_text(svg, center, Anchor::Middle, "", &text);
        }
    };
    for (x, y) in places {
        let (x, y) = (center.x + x, center.y + y);
        _ = writeln!(svg, "<circle class=\"token\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\"/>");
    }
}

/// An edge from a node to itself: above it, or at its left.
fn write_loop(svg: &mut String, direction: Direction, figure: &Figure, label: &Fitted, center: Spot) {
    // As if the side of the node were at the bottom.
    let (reach, foot) = (LOOP_REACH * 1.3, 7.0);
    let (side, at, anchor) = match direction {
        Direction::Right => {
            let lift = figure.half_height + LOOP_REACH + TEXT_GAP / 2.0 + label.height() / 2.0;
            (figure.half_height, Spot { y: center.y - lift, ..center }, Anchor::Middle)
        }
        Direction::Down => {
            let shift = figure.half_width + LOOP_REACH + TEXT_GAP + label.width();
            (figure.half_width, Spot { x: center.x - shift, ..center }, Anchor::Start)
        }
    };
    let spot = |sideward: f64, out: f64| match direction {
        Direction::Right => Spot { x: center.x + sideward, y: center.y - side - out },
        Direction::Down => Spot { x: center.x - side - out, y: center.y + sideward },
    };
    let (start, end, tip) = (spot(-foot, 0.0), spot(foot + 2.0, HEAD), spot(foot, 0.0));
    let (one, two) = (spot(-foot - 10.0, reach), spot(foot + 12.0, reach));
    _ = writeln!(
        svg,
        "<path class=\"edge\" d=\"M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}\"/>",
        start.x, start.y, one.x, one.y, two.x, two.y, end.x, end.y
    );
    write_head(svg, tip, Spot { x: tip.x - end.x, y: tip.y - end.y });
    write_text(svg, at, anchor, "label", label);
}
