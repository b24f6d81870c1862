//! Random models as texts, in each of the languages: small ones in which processes share data, meet, and watch each other, so
//! that who is enabled when depends on the order of steps.

use std::fmt::Write as _;

/// A model, and what can be said about it.
#[derive(Clone, Debug)]
pub struct Text {
    /// The name of its language.
    pub language: &'static str,
    /// The model.
    pub text: String,
    /// Expressions about its states.
    pub propositions: Vec<String>,
    /// Its processes.
    pub processes: Vec<String>,
    /// Some of its actions, by their names.
    pub actions: Vec<String>,
}

/// Makes a text of the numbers that it draws.
pub type Maker = fn(&mut dyn FnMut(u32) -> u32) -> Text;

/// One for each language.
pub const MAKERS: [Maker; 3] = [networks, promela, nets];

/// Processes that toggle and look at cells, and meet.
pub fn networks(draw: &mut dyn FnMut(u32) -> u32) -> Text {
    let n_processes = 2 + draw(3) as usize;
    let n_cells = 1 + draw(2) as usize;
    let mut text = String::new();
    // Per cell, what is done to it where it is off, and where it is on.
    let mut cells = vec![[Vec::<String>::new(), Vec::new()]; n_cells];
    let (mut propositions, mut actions) = (Vec::new(), Vec::new());
    for process in 0..n_processes {
        let n_states = 2 + draw(2);
        _ = writeln!(text, "process P{process} {{");
        for state in 0..n_states {
            propositions.push(format!("P{process}@s{state}"));
            let mut moves = Vec::new();
            for number in 0..1 + draw(2) {
                let to = if draw(3) > 0 { (state + 1) % n_states } else { draw(n_states) };
                let own = format!("P{process}_{state}_{number}");
                let label = match draw(6) {
                    0 => "tau".to_owned(),
                    1 => {
                        actions.push(own.clone());
                        own
                    }
                    // The others of the same remainder take part.
                    2 => format!("meet{}", process % 2),
                    how => {
                        let [off, on] = &mut cells[draw(n_cells as u32) as usize];
                        match how {
                            3 => off.push(format!("{own} -> on")),
                            4 => on.push(format!("{own} -> off")),
                            _ if draw(2) == 0 => off.push(format!("{own} -> off")),
                            _ => on.push(format!("{own} -> on")),
                        }
                        actions.push(own.clone());
                        own
                    }
                };
                moves.push(format!("{label} -> s{to}"));
            }
            _ = writeln!(text, "    s{state}: {};", moves.join(" | "));
        }
        text += "}\n";
    }
    for (number, [off, on]) in cells.iter().enumerate() {
        _ = writeln!(text, "process C{number} {{ off: {}; on: {}; }}", off.join(" | "), on.join(" | "));
        propositions.push(format!("C{number}@on"));
    }
    let processes = (0..n_processes).map(|process| format!("P{process}")).collect();
    Text { language: "process", text, propositions, processes, actions }
}

/// Processes with global variables, channels, and atomic sequences.
pub fn promela(draw: &mut dyn FnMut(u32) -> u32) -> Text {
    let n_processes = 2 + draw(2) as usize;
    let room = draw(3);
    let mut text = format!("bool a, b; byte x; chan c = [{room}] of {{ bit }};\n");
    let mut propositions = ["a", "b", "x == 0", "x > 1"].map(str::to_owned).to_vec();
    for process in 0..n_processes {
        let n_states = 2 + draw(2);
        _ = writeln!(text, "active proctype P{process}() {{");
        for state in 0..n_states {
            propositions.push(format!("P{process}@s{state}"));
            _ = write!(text, "s{state}: if");
            for _ in 0..1 + draw(2) {
                let to = if draw(3) > 0 { (state + 1) % n_states } else { draw(n_states) };
                let guard = ["skip", "a", "!a", "b", "!b", "x < 2", "x > 0", "a != b"][draw(8) as usize];
                let effect =
                    ["skip", "a = !a", "b = !b", "b = a", "x = (x + 1) % 3", "x = 0"][draw(6) as usize];
                let statement = match draw(7) {
                    0 => format!("c!{}", draw(2)),
                    1 => "c?_".to_owned(),
                    2 => format!("c?{}", draw(2)),
                    3 => format!("atomic {{ {guard} -> {effect}; x = (x + 1) % 3 }}"),
                    4 => format!("{guard} -> {effect}"),
                    _ => format!("atomic {{ {guard} -> {effect} }}"),
                };
                _ = write!(text, " :: {statement}; goto s{to}");
            }
            text += " fi;\n";
        }
        text += "}\n";
    }
    let processes = (0..n_processes).map(|process| format!("P{process}")).collect();
    Text { language: "promela", text, propositions, processes, actions: Vec::new() }
}

/// Nets of units, one token each, whose transitions also fill and empty buffers for one token, or look at them.
pub fn nets(draw: &mut dyn FnMut(u32) -> u32) -> Text {
    let n_units = 2 + draw(2);
    let n_buffers = 1 + draw(2);
    let (mut body, mut units) = (String::new(), String::new());
    let mut propositions = Vec::new();
    let place = |name: &str, tokens: u32| {
        format!("<place id='{name}'><initialMarking><text>{tokens}</text></initialMarking></place>\n")
    };
    let sizes: Vec<u32> = (0..n_units).map(|_| 2 + draw(2)).collect();
    for (unit, size) in sizes.iter().enumerate() {
        let names: Vec<String> = (0..*size).map(|state| format!("u{unit}s{state}")).collect();
        for (state, name) in names.iter().enumerate() {
            body += &place(name, u32::from(state == 0));
            propositions.push(format!("{name} >= 1"));
        }
        _ = writeln!(units, "<unit id='U{unit}'><places>{}</places><subunits/></unit>", names.join(" "));
    }
    for buffer in 0..n_buffers {
        body += &place(&format!("full{buffer}"), 0);
        body += &place(&format!("empty{buffer}"), 1);
        propositions.push(format!("full{buffer} == 1"));
    }
    let n_transitions = 3 + draw(6);
    let mut actions = Vec::new();
    for number in 0..n_transitions {
        let name = format!("t{number}");
        _ = writeln!(body, "<transition id='{name}'><name><text>{name}</text></name></transition>");
        let mut arcs: Vec<(String, String)> = Vec::new();
        let first = draw(n_units);
        let mut movers = vec![first];
        if draw(4) == 0 {
            movers.push((first + 1) % n_units);
        }
        for unit in movers {
            let size = sizes[unit as usize];
            let from = draw(size);
            let to = if draw(3) > 0 { (from + 1) % size } else { draw(size) };
            arcs.push((format!("u{unit}s{from}"), format!("u{unit}s{to}")));
        }
        let (full, empty) = match draw(n_buffers + 1) {
            buffer if buffer < n_buffers => (format!("full{buffer}"), format!("empty{buffer}")),
            _ => (String::new(), String::new()),
        };
        if !full.is_empty() {
            arcs.push(match draw(4) {
                0 => (full.clone(), full),
                1 => (empty.clone(), empty),
                2 => (full, empty),
                _ => (empty, full),
            });
        }
        for (at, (from, to)) in arcs.into_iter().enumerate() {
            _ = writeln!(body, "<arc id='{name}i{at}' source='{from}' target='{name}'/>");
            _ = writeln!(body, "<arc id='{name}o{at}' source='{name}' target='{to}'/>");
        }
        actions.push(name);
    }
    let buffers: Vec<String> =
        (0..n_buffers).flat_map(|buffer| [format!("full{buffer}"), format!("empty{buffer}")]).collect();
    let n_places = sizes.iter().sum::<u32>() + 2 * n_buffers;
    let subunits: Vec<String> = (0..n_units).map(|unit| format!("U{unit}")).collect();
    let text = format!(
        "<?xml version='1.0'?><pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'>\n\
         <net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='p'>\n{body}</page>\n\
         <toolspecific tool='nupn' version='1.1'>\
         <size places='{n_places}' transitions='{n_transitions}' arcs='0'/>\
         <structure units='{}' root='R' safe='true'>\
         <unit id='R'><places>{}</places><subunits>{}</subunits></unit>\n{units}</structure>\
         </toolspecific></net></pnml>\n",
        n_units + 1,
        buffers.join(" "),
        subunits.join(" "),
    );
    Text { language: "petri", text, propositions, processes: subunits, actions }
}
