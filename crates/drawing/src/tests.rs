//! Tests of pictures: random graphs, awkward ones, and what is made of nets and systems.

use fastrand::Rng;
use model::{Action, ActionSystem, Builder, Guard, Stmt, Variable};
use quick_xml::events::{BytesStart, Event};

use super::*;
use crate::figure::TEXT_GAP;
use crate::scene::{Curve, Scene, Spot};

/// A rectangle: left, top, right, bottom.
type Area = [f64; 4];

fn overlap(a: Area, b: Area) -> bool {
    // Rounding is no overlap.
    a[0] + 0.01 < b[2] && b[0] + 0.01 < a[2] && a[1] + 0.01 < b[3] && b[1] + 0.01 < a[3]
}

/// What each node covers, with the text beside it and the edge to itself.
fn node_areas(drawing: &Drawing, scene: &Scene) -> Vec<Area> {
    let area = |(figure, center): (&figure::Figure, &Spot)| {
        let extent = figure.extent(drawing.direction);
        match drawing.direction {
            Direction::Down => [
                center.x - extent.before,
                center.y - extent.along,
                center.x + extent.after,
                center.y + extent.along,
            ],
            Direction::Right => [
                center.x - extent.along,
                center.y - extent.before,
                center.x + extent.along,
                center.y + extent.after,
            ],
        }
    };
    scene.figures.iter().zip(&scene.centers).map(area).collect()
}

/// What each label of an edge covers.
fn label_areas(drawing: &Drawing, scene: &Scene) -> Vec<Area> {
    let area = |(at, label): &(Spot, text::Fitted)| {
        let (width, height) = (label.width(), label.height());
        match drawing.direction {
            Direction::Down => {
                [at.x + TEXT_GAP, at.y - height / 2.0, at.x + TEXT_GAP + width, at.y + height / 2.0]
            }
            Direction::Right => [at.x - width / 2.0, at.y - TEXT_GAP - height, at.x + width / 2.0, at.y],
        }
    };
    scene.curves.iter().filter_map(|curve| curve.label.as_ref()).map(area).collect()
}

/// Between which nodes an edge is, in whatever direction, and the points where its curve bends.
fn way(drawing: &Drawing, curve: &Curve) -> ([NodeId; 2], Vec<(f64, f64)>) {
    let edge = &drawing.edges[curve.edge];
    let mut bends: Vec<(f64, f64)> = curve.pieces.iter().map(|piece| (piece[2].x, piece[2].y)).collect();
    bends.pop();
    bends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ([edge.from.min(edge.to), edge.from.max(edge.to)], bends)
}

/// Checks everything that must be true of a picture.
fn check(drawing: &Drawing) {
    let scene = Scene::new(drawing);
    let mut numbers = vec![scene.width, scene.height];
    let nodes = node_areas(drawing, &scene);
    let labels = label_areas(drawing, &scene);
    numbers.extend(nodes.iter().chain(&labels).flatten());
    for curve in &scene.curves {
        let spots = curve.pieces.iter().flatten().chain([&curve.start]);
        numbers.extend(spots.chain(curve.heads.iter().map(|(tip, _)| tip)).flat_map(|spot| [spot.x, spot.y]));
    }
    assert!(numbers.iter().all(|number| number.is_finite()), "{drawing:?}");
    let picture = [0.0, 0.0, scene.width, scene.height];
    for (index, &area) in nodes.iter().chain(&labels).enumerate() {
        let inside = area[0] >= picture[0] && area[1] >= picture[1];
        assert!(inside && area[2] <= picture[2] && area[3] <= picture[3], "{area:?} in {drawing:?}");
        let mut others = nodes.iter().chain(&labels).skip(index + 1);
        let other = others.find(|&&other| overlap(area, other));
        assert_eq!(other, None, "{area:?} is covered in {drawing:?}");
    }
    let ways: Vec<_> = scene.curves.iter().map(|curve| way(drawing, curve)).collect();
    for (index, way) in ways.iter().enumerate() {
        assert!(!ways[..index].contains(way), "{way:?} twice in {drawing:?}");
    }
    // Edges end where the shapes of their nodes do.
    for curve in &scene.curves {
        let node = drawing.edges[curve.edge].to.index();
        let (figure, center, tip) = (&scene.figures[node], scene.centers[node], curve.heads[0].0);
        let (x, y) = ((tip.x - center.x).abs(), (tip.y - center.y).abs());
        let (width, height) = (figure.half_width, figure.half_height);
        let is_round = matches!(drawing.nodes[node].shape, Shape::Place(_) | Shape::Point);
        let distance =
            if is_round { (x.hypot(y) - width).abs() } else { (x - width).abs().min((y - height).abs()) };
        let label = &drawing.edges[curve.edge].label;
        assert_eq!(curve.label.is_some(), !label.is_empty(), "{label} in {drawing:?}");
        assert!(distance < 0.01 && x <= width + 0.01 && y <= height + 0.01, "{drawing:?}");
    }
    check_svg(drawing);
}

/// Checks that the picture is XML, always the same, has all nodes, and that no texts lie on each other.
fn check_svg(drawing: &Drawing) {
    let svg = drawing.to_svg().expect("it is small");
    assert_eq!(svg, drawing.clone().to_svg().expect("it is small"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    let mut reader = quick_xml::Reader::from_str(&svg);
    let (mut n_shapes, mut texts, mut open) = (0, Vec::new(), None);
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error} in {svg}")) {
            Event::Eof => break,
            Event::Empty(tag) => {
                let class = attribute(&tag, "class");
                n_shapes += usize::from(class.is_some_and(|class| class.starts_with("node")));
            }
            Event::Start(tag) if tag.name().as_ref() == "text" => {
                let number = |name| attribute(&tag, name).and_then(|text| text.parse::<f64>().ok());
                let place = (number("x").expect("a number"), number("y").expect("a number"));
                open = Some((place, attribute(&tag, "text-anchor").is_some(), String::new()));
            }
            Event::Text(part) => {
                if let Some((_, _, text)) = &mut open {
                    *text += &part;
                }
            }
            // Of an entity, any letter will do.
            Event::GeneralRef(_) => {
                if let Some((_, _, text)) = &mut open {
                    text.push('x');
                }
            }
            Event::End(_) => texts.extend(open.take()),
            _ => {}
        }
    }
    let expected = drawing.nodes.iter().map(|node| match node.shape {
        Shape::Point => 0,
        Shape::Accepting => 2,
        _ => 1,
    });
    assert_eq!(n_shapes, expected.sum::<usize>());
    let area = |((x, baseline), centered, text): &((f64, f64), bool, String)| {
        let width = text::Fitted::new(text).width();
        let left = if *centered { x - width / 2.0 } else { *x };
        // Coordinates are rounded.
        [left + 0.1, baseline - 0.7 * text::FONT_SIZE, left + width - 0.1, baseline + 0.2 * text::FONT_SIZE]
    };
    let areas: Vec<Area> = texts.iter().map(area).collect();
    for (index, &one) in areas.iter().enumerate() {
        let other = areas[index + 1..].iter().find(|&&other| overlap(one, other));
        assert_eq!(other, None, "{:?} is covered in {svg}", texts[index]);
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).expect("attributes are in order");
    found.map(|found| found.value.into_owned())
}

/// A random graph with everything: loops, cycles, parallel edges, several parts, groups, odd names.
fn random(rng: &mut Rng) -> Drawing {
    let mut drawing = Drawing::new("random <&> \"graph\"");
    drawing.direction = if rng.bool() { Direction::Down } else { Direction::Right };
    drawing.framed = rng.bool();
    let groups: Vec<GroupId> =
        (0..rng.usize(1..4)).map(|index| drawing.group(index.to_string(), None)).collect();
    let n_nodes = rng.usize(0..30);
    for index in 0..n_nodes {
        let shape = match rng.u8(0..5) {
            0 => Shape::Place(rng.i64(0..9)),
            1 => Shape::Place(rng.i64(..).max(0)),
            2 => Shape::Transition,
            3 => Shape::State,
            _ => Shape::Accepting,
        };
        let name = match rng.u8(0..4) {
            0 => String::new(),
            1 => format!("a rather long name of number {index}, which must be cut <&>"),
            2 => format!("two\nlines {index}"),
            _ => format!("n{index}"),
        };
        let group = rng.bool().then(|| groups[index % groups.len()]);
        drawing.node(Node { root: rng.u8(0..5) == 0, group, ..Node::new(shape, name) });
    }
    let n_edges = if n_nodes == 0 { 0 } else { rng.usize(0..50) };
    for _ in 0..n_edges {
        let [from, to] = [0, 1].map(|_| NodeId::new(rng.usize(0..n_nodes)));
        let label = ["", "a", "a & \u{7}b", "one\ntwo\nthree"][rng.usize(0..4)];
        let heads = if rng.bool() { Heads::End } else { Heads::Both };
        drawing.edge(Edge { heads, ..Edge::new(from, to).labeled(label) });
    }
    if n_nodes > 0 {
        drawing.start(NodeId::new(0), "");
    }
    drawing
}

#[test]
fn random_graphs_have_readable_pictures() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..400 {
        check(&random(&mut rng));
    }
}

/// A graph of states.
fn graph(n_nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Drawing {
    let mut drawing = Drawing::new("graph");
    for index in 0..n_nodes {
        drawing.node(Node::new(Shape::State, index.to_string()));
    }
    for (from, to) in edges {
        drawing.edge(Edge::new(NodeId::new(from), NodeId::new(to)));
    }
    drawing
}

#[test]
fn awkward_graphs_have_pictures() {
    check(&graph(0, []));
    check(&graph(1, []));
    check(&graph(1, [(0, 0), (0, 0)]));
    check(&graph(2, [(0, 1), (1, 0), (0, 1)]));
    check(&graph(5, [(0, 1), (3, 4)]));
    check(&graph(50, (0..50).map(|node| (node, (node + 1) % 50))));
    check(&graph(20, (0..20).flat_map(|from| (0..20).map(move |to| (from, to)))));
    check(&graph(100, (0..99).map(|node| (0, node + 1))));
}

#[test]
fn large_graphs_have_pictures_up_to_a_limit() {
    let mut rng = Rng::with_seed(2);
    // A long chain with edges from everywhere to everywhere: the most pieces of edges.
    let chain = (0..Drawing::MAX_NODES - 1).map(|node| (node, node + 1));
    let others = (0..Drawing::MAX_EDGES - Drawing::MAX_NODES + 1)
        .map(|_| (rng.usize(0..Drawing::MAX_NODES), rng.usize(0..Drawing::MAX_NODES)));
    check_svg(&graph(Drawing::MAX_NODES, chain.chain(others)));

    let too_many_nodes = graph(Drawing::MAX_NODES + 1, []);
    let reason = too_many_nodes.to_svg().expect_err("it is too large").to_string();
    assert!(reason.contains("501 nodes and 0 edges"), "{reason}");
    assert!(too_many_nodes.to_dot().to_string().contains("n500"));
    let too_many_edges = graph(2, (0..=Drawing::MAX_EDGES).map(|_| (0, 1)));
    assert!(too_many_edges.to_svg().is_err());
}

/// Few edges lead backwards, and a straight line is one.
#[test]
fn a_cycle_starts_at_its_root() {
    let mut drawing = graph(4, [(2, 3), (3, 0), (0, 1), (1, 2)]);
    drawing.nodes[2].root = true;
    let scene = Scene::new(&drawing);
    let x = |node: usize| scene.centers[node].x;
    assert!(x(2) < x(3) && x(3) < x(0) && x(0) < x(1), "{:?}", scene.centers);
}

#[test]
fn roots_come_first() {
    let mut drawing = graph(3, [(1, 2), (2, 0)]);
    drawing.nodes[0].root = true;
    drawing.nodes[1].root = true;
    let centers = Scene::new(&drawing).centers;
    assert!(centers[0].x < centers[2].x && centers[1].x < centers[2].x, "{centers:?}");
}

fn drawn(system: &ActionSystem) -> Option<Drawing> {
    system::draw(system, "system", &mut Budget::unlimited()).expect("there is no limit")
}

#[test]
fn a_system_is_drawn_as_its_processes() {
    let mut builder = Builder::new();
    let (p, q) = (builder.process("P"), builder.process("Q"));
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().into();
    let at = builder.variable(Variable::named("P", names(&["a", "b", "c"])));
    let other = builder.variable(Variable::named("Q", names(&["x"])));
    let count = builder.variable(Variable::new("count", 0, 7));
    let early = builder.guard(Guard::one_of(at, [0, 1]));
    let last = builder.guard(Guard::equals(at, 2));
    let (go, back) = (builder.label("go"), builder.internal_label("back"));
    let next = Stmt::Map(at, vec![Some(1), Some(2)]);
    // `Q` takes part in `go` without a guard, and stays where it is. Versions of an action are one edge.
    for _ in 0..2 {
        let effect = vec![next.clone(), Stmt::Add(count, 1)];
        builder.action(Action { label: go, guards: vec![early], effect, owners: vec![p, q] });
    }
    builder.action(Action {
        label: back,
        guards: vec![last],
        effect: vec![Stmt::set(at, 0)],
        owners: vec![p],
    });
    builder.initial(&[1, 0, 0]);
    let system = builder.finish().expect("it is complete");
    let drawing = drawn(&system).expect("locations have names");
    check(&drawing);
    let name = |node: NodeId| drawing.nodes()[node.index()].label.as_str();
    let edges: Vec<(&str, &str, &str)> =
        drawing.edges().iter().map(|edge| (name(edge.from), name(edge.to), edge.label.as_str())).collect();
    assert_eq!(
        edges,
        [
            ("a", "b", "go"),
            ("b", "c", "go"),
            ("c", "a", "back"),
            ("x", "x", "go"),
            ("", "b", ""),
            ("", "x", "")
        ]
    );
    assert_eq!(drawing.description, "2 processes as automata, with 4 states and 4 edges.");
    assert_eq!(Scene::new(&drawing).frames.len(), 2);
    assert_eq!(other.index(), 1);
}

/// A slot for processes is called after the only one that is ever there, and nobody is at its other values.
#[test]
fn a_slot_is_drawn_as_its_process() {
    let mut builder = Builder::new();
    let owner = builder.process("train(0)");
    let names: Vec<String> = ["-", "far", "near"].map(str::to_owned).into();
    let slot = builder.variable(Variable::named("_pc[0]", names.into()));
    let far = builder.guard(Guard::equals(slot, 1));
    let come = builder.label("come");
    builder.action(Action {
        label: come,
        guards: vec![far],
        effect: vec![Stmt::set(slot, 2)],
        owners: vec![owner],
    });
    builder.initial(&[1]);
    let drawing = drawn(&builder.finish().expect("it is complete")).expect("there is a process");
    let names: Vec<&str> = drawing.nodes().iter().map(|node| node.label.as_str()).collect();
    assert_eq!(names, ["far", "near", ""]);
    assert!(drawing.to_dot().to_string().contains("label=\"train(0)\""));
}

#[test]
fn without_named_locations_there_is_nothing_to_draw() {
    let mut builder = Builder::new();
    builder.variable(Variable::new("x", 0, 1));
    builder.initial(&[0]);
    assert_eq!(drawn(&builder.finish().expect("it is complete")), None);
}
