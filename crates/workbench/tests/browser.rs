//! The page in a real browser: each thing that it promises is a scenario. Without Chromium and ChromeDriver on this
//! machine, nothing is tried, and that is said.
//!
//! `STUBBORN_PICTURES=DIR` keeps pictures to look at; `STUBBORN_AXE=FILE`, the file `axe.min.js` of axe-core, lets it
//! judge every view.

mod common;

use std::fs;
use std::time::Duration;

use common::Bench;
use common::webdriver::{Browser, END, ENTER, HOME, LEFT, RIGHT, TAB};
use serde_json::{Value, json};
use stubborn::Limits;
use stubborn_workbench::Settings;

/// A browser on a workbench with a folder that has one model.
struct Scene {
    browser: Browser,
    bench: Bench,
    folder: tempfile::TempDir,
    axe: Option<String>,
}

const TOGGLE: &str = "process P { off: on -> lit; lit: off -> off; }\nltl again = [] <> P@lit;\n";

impl Scene {
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn start() -> Option<Scene> {
        let Some(browser) = Browser::start() else {
            eprintln!("SKIPPED: there is no Chromium with ChromeDriver on this machine");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("toggle.proc"), TOGGLE).unwrap();
        let limits = Limits::default().time(Duration::from_secs(100)).memory(200 << 20);
        let settings = Settings { folder: Some(folder.path().to_owned()), limits, ..Settings::default() };
        let bench = Bench::start(settings);
        let axe =
            std::env::var_os("STUBBORN_AXE").map(|path| fs::read_to_string(path).expect("axe can be read"));
        if axe.is_none() {
            eprintln!("SKIPPED: axe-core, which STUBBORN_AXE would name");
        }
        browser.go(&bench.url());
        Some(Scene { browser, bench, folder, axe })
    }

    /// Lets axe judge what is seen, and keeps a picture of it.
    fn judge(&self, name: &str) {
        self.browser.picture(name);
        let Some(axe) = &self.axe else { return };
        self.browser.value(&format!("(() => {{ {axe}; window.axe = axe; return true; }})()"));
        self.browser.value("(() => { window.found = null; axe.run(document, { resultTypes: ['violations'] }).then((r) => { window.found = r.violations; }); return true; })()");
        let found = self.browser.wait("window.found !== null && window.found.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' | '))");
        assert_eq!(found, json!([]), "{name}");
    }

    /// Another text in the editor, as if it was typed.
    fn write(&self, text: &str) {
        self.set("#constants", "");
        self.browser.click("$('.cm-content')");
        self.browser.control("a");
        self.browser.value(&format!("document.execCommand('insertText', false, {})", json!(text)));
    }

    /// A value of a field or a choice.
    fn set(&self, field: &str, value: &str) {
        let (field, value) = (json!(field), json!(value));
        self.browser.value(&format!(
            "(() => {{ const it = $({field}); it.value = {value}; it.dispatchEvent(new Event('input')); \
             it.dispatchEvent(new Event('change')); return true; }})()"
        ));
    }

    fn tab(&self, name: &str) {
        self.browser.click(&format!("$('#tab-{name}')"));
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

#[test]
fn the_page_keeps_its_promises() {
    let Some(scene) = Scene::start() else { return };
    it_comes_from_here_and_is_light(&scene);
    errors_are_shown_where_they_are(&scene);
    verdicts_come_with_reasons(&scene);
    a_run_is_stepped_through_and_compared(&scene);
    a_model_is_walked_through(&scene);
    the_state_space_grows_and_folds(&scene);
    the_picture_is_lit_where_one_stands(&scene);
    a_long_check_tells_how_it_goes_and_is_stopped(&scene);
    files_are_saved_where_the_user_says(&scene);
    a_link_carries_model_and_questions(&scene);
    it_works_without_a_mouse(&scene);
    it_fits_a_phone_and_the_dark(&scene);
    let mut complaints = scene.browser.complaints();
    // What was tried to be saved outside of the folder was refused.
    complaints.retain(|text| !text.contains("api/save"));
    assert_eq!(complaints, [""; 0], "the browser has nothing to complain about");
}

fn it_comes_from_here_and_is_light(Scene { browser, bench, .. }: &Scene) {
    let own = json!(bench.url());
    let foreign = format!(
        "performance.getEntriesByType('resource').map((r) => r.name).filter((n) => !n.startsWith({own}))"
    );
    assert_eq!(browser.value(&foreign), json!([]));
    let weight = browser
        .value("performance.getEntriesByType('resource').reduce((sum, r) => sum + r.decodedBodySize, 0)");
    assert!(weight.as_u64().is_some_and(|bytes| (300_000..1_000_000).contains(&bytes)), "{weight}");
}

fn errors_are_shown_where_they_are(scene: &Scene) {
    let browser = &scene.browser;
    browser.wait("$$('.property').length > 3 && $$('.tok-keyword').length > 3");
    scene.judge("1-start");
    scene.write("process P {\n    a: go -> bb;\n    b: ;\n}\n");
    browser.wait("$('.cm-lintRange-error')?.textContent === 'bb'");
    let told = browser.value("$('#problems').textContent");
    assert!(told.as_str().unwrap().starts_with("2:14"), "{told}");
    browser.click("$('#problems button')");
    assert_eq!(browser.value("$('.cm-activeLine').textContent"), "    a: go -> bb;", "it is one click away");
    scene.judge("2-error");
    // Typing goes on, and so do the messages.
    scene.write("process P {\n    a: go -> b;\n    b: ;\n}\n");
    browser.wait(
        "!$('.cm-lintRange-error') && $('#problems').children.length === 0 && $$('.property').length === 1",
    );
}

fn verdicts_come_with_reasons(scene: &Scene) {
    let browser = &scene.browser;
    browser.press("Open");
    browser.click("$$('dialog .choose button')[0]");
    browser.wait("$$('.property').length === 7 && $('#constants').value === 'N=3'");
    browser.press("Check all");
    browser.wait("$$('.badge').length === 7");
    let verdicts = browser.value("$$('.property .badge').map((b) => b.textContent)");
    assert_eq!(
        texts(&verdicts),
        ["✗ violated", "✓ holds", "✓ holds", "✓ holds", "✗ violated", "✗ violated", "✓ holds"]
    );
    // Why it was checked so: in the answer to a formula.
    browser.click("$$('.property').find((p) => p.textContent.includes('fed')).querySelector('summary')");
    browser.wait("$$('details[open] .reasons li').length > 2");
    scene.judge("3-checked");
    // A method that does not fit is refused with what would.
    browser.click("$$('details summary').find((s) => s.textContent === 'Method and fairness')");
    let choose = |name: &str, value: &str| scene.set(&format!("#way-{name}"), value);
    choose("observer", "tgba");
    choose("search", "one-pass");
    let one = "$$('.property').find((p) => p.textContent.includes('fed')).querySelector('.property-line > button:not(.link)')";
    browser.click(one);
    browser.wait("$('.card.error')?.textContent.includes('cannot be checked this way')");
    scene.judge("4-method");
    choose("observer", "");
    choose("search", "");
    choose("fair", "strong");
    browser.click(one);
    browser.wait("!$('.card.error') && $('.progress').hidden && $$('.reasons').some((r) => r.textContent.includes('strong'))");
    choose("fair", "");
    // A question of one's own.
    browser.click("$('.question .formula')");
    browser.type_text("[] <> Phil[0]@eat");
    browser.keys(&[ENTER]);
    browser.wait("$$('.property').length === 8 && $$('.property')[7].querySelector('.badge.violated')");
}

fn a_run_is_stepped_through_and_compared(scene: &Scene) {
    let browser = &scene.browser;
    browser.click("$$('.property')[7].querySelector('.answer button.primary')");
    browser.wait("!$('#run').hidden && $('.steps tr[aria-current] th').textContent === '0'");
    let lanes = browser.value("$$('.steps thead .lane').map((l) => l.textContent)");
    assert!(texts(&lanes).len() == 6 && texts(&lanes).contains(&"Phil[2]"), "{lanes}");
    let now = || browser.value("$('.now').textContent").as_str().unwrap().to_owned();
    assert!(now().starts_with("Step 0 of") && now().ends_with("initial state"), "{}", now());
    browser.keys(&[RIGHT]);
    assert!(now().starts_with("Step 1 of"), "{}", now());
    assert!(browser.value("$$('.panel .changed').length").as_u64() > Some(0), "what changed is marked");
    assert!(browser.value("$$('.drawing .here').length").as_u64() > Some(0), "where the automaton is");
    assert!(browser.value("$$('.words li').length").as_u64() > Some(1), "it is told in words");
    browser.keys(&[END]);
    browser.keys(&[LEFT]);
    let last = browser.value("$('.controls input[type=range]').max");
    assert_eq!(
        browser.value("$('.controls input[type=range]').value").as_str().map(str::len),
        last.as_str().map(str::len)
    );
    browser.keys(&[HOME]);
    scene.judge("5-run");
    browser.press("▶ Play");
    browser.wait("$('.now').textContent.startsWith('Step 2 of')");
    browser.press("⏸ Pause");
    browser.click("$('.jump')");
    browser.type_text("1");
    browser.keys(&[ENTER]);
    assert!(now().starts_with("Step 1 of"), "{}", now());
    let other = browser.value("$('[aria-label=\"Compare with another run\"]').options[1].value");
    scene.set("[aria-label=\"Compare with another run\"]", other.as_str().unwrap());
    browser.wait("$$('.steps').length === 2 && $('.compared').textContent.includes('Compared with')");
    scene.judge("6-compare");
    // Messages through channels are arrows.
    browser.press("Open");
    browser.click("$$('dialog .choose button').find((b) => b.textContent.includes('abp.pml'))");
    browser.wait("$('#language').value === 'promela' && $('#model-info').textContent.includes('process')");
    scene.tab("checks");
    browser.click("$('.question .formula')");
    browser.type_text("[] (len(to_sender) == 0)");
    browser.keys(&[ENTER]);
    browser.click("$$('.property').at(-1).querySelector('.answer button.primary')");
    browser.wait("$$('.arrows path').length > 0");
    browser.keys(&[RIGHT]);
    browser.wait("$('.lit-line')");
    scene.judge("7-messages");
}

/// The dining philosophers, or another example.
fn open_example(Scene { browser, .. }: &Scene, name: &str) {
    browser.press("Open");
    browser.click(&format!("$$('dialog .choose button').find((b) => b.textContent.startsWith('{name}'))"));
    browser.wait(
        "!$('dialog') && $('#model-info').textContent.includes('process') && $$('.property').length > 0",
    );
}

fn a_model_is_walked_through(scene: &Scene) {
    let browser = &scene.browser;
    open_example(scene, "dining.proc");
    scene.tab("simulator");
    let choices = "$$('#simulator .choice-button b').map((b) => b.textContent)";
    browser.wait("$$('#simulator .choice-button').length === 3");
    assert_eq!(texts(&browser.value(choices)), ["take_left[0]", "take_left[1]", "take_left[2]"]);
    let after =
        |text: &str| browser.wait(&format!("$('#simulator .now').textContent.startsWith('After {text}')"));
    browser.click("$('#simulator .choice-button')");
    after("1 step");
    assert_eq!(
        browser.value("$$('#simulator .panel .changed dt').map((d) => d.textContent)"),
        json!(["Fork[0]", "Phil[0]"])
    );
    // Back, and another way: both are in the tree.
    browser.press("↶ Undo");
    after("0 steps");
    browser.keys(&["2"]);
    after("1 step");
    assert_eq!(browser.value("$$('.tree-line').length"), json!(3));
    browser.click("$$('.tree-line')[1]");
    browser.wait("$('.tree-line[aria-current]').textContent.includes('take_left[0]')");
    // A breakpoint.
    browser.click("$('[aria-label=\"Expression to watch\"]')");
    browser.type_text("Phil[1]@lefft");
    browser.keys(&[ENTER]);
    browser.wait("$('#simulator .card.error')?.textContent.includes('left')");
    browser.control("a");
    browser.type_text("Phil[1]@left");
    browser.keys(&[ENTER]);
    browser.wait("$$('.watches li').length === 1 && $('.watches b').textContent.includes('false')");
    scene.set("[aria-label=\"Number of random steps\"]", "500");
    browser.press("Random");
    browser.wait("$('.watches b').textContent.includes('true') || $('#simulator .now').textContent.includes('deadlock') || $('#simulator .now').textContent.includes('501')");
    // To a goal, by a shortest way.
    browser.press("Restart");
    after("0 steps");
    browser.click("$('[aria-label=\"Expression that should become true\"]')");
    browser.type_text("Phil[2]@right && Phil[1]@left");
    browser.keys(&[ENTER]);
    after("4 steps");
    scene.judge("7a-simulator");
    browser.press("to a deadlock");
    browser.wait("$('#simulator .now').textContent.includes('a deadlock')");
    browser.press("Restart");
    after("0 steps");
    browser.click("$('[aria-label=\"Expression that should become true\"]')");
    browser.control("a");
    browser.type_text("Phil[0]@eat && Phil[1]@eat");
    browser.keys(&[ENTER]);
    browser.wait("$('#simulator').textContent.includes('never so from here: all 26 states')");
    // As a run.
    browser.press("to a deadlock");
    after("3 steps");
    browser.press("Show as a run");
    browser.wait("!$('#run').hidden && $('.length').textContent.startsWith('3 steps')");
    // An assertion that fails is told before the step is taken.
    open_example(scene, "abp.pml");
    scene.write("byte x; active proctype P() { x = 1; assert(x == 2) }\n");
    browser.wait("$('#model-info').textContent.startsWith('1 process')");
    scene.tab("simulator");
    browser.click("$('#simulator .choice-button')");
    after("1 step");
    browser.wait("$('#simulator .choice-button .violated')?.textContent.includes('x == 2')");
}

fn the_state_space_grows_and_folds(scene: &Scene) {
    let browser = &scene.browser;
    open_example(scene, "dining.proc");
    scene.tab("space");
    browser.wait("$$('.graph-node').length === 4");
    browser.click("$('.graph-node.open')");
    browser.wait("$$('.graph-node').length > 5 && $$('.graph-edge').length > 5");
    browser.value("($('.graph-node.open').focus(), true)");
    let before = browser.value("$$('.graph-node').length");
    browser.keys(&[ENTER]);
    browser.wait(&format!("$$('.graph-node').length > {before}"));
    scene.judge("7b-space");
    let fold = |mode: &str| scene.set("#space-mode", mode);
    fold("parts");
    browser.press("Show");
    // What is kept is one fork, which is free or held.
    browser.wait("$$('.graph-node').length === 2 && $('#space .news').textContent.startsWith('26 states')");
    fold("truths");
    scene.set("[aria-label=\"Expressions, between semicolons\"]", "Phil[0]@eat; Phil[1]@eat");
    browser.press("Show");
    browser.wait("$$('.graph-node').length === 3");
    fold("components");
    browser.wait("$$('.graph-node').length === 2 && $$('.graph-node.dead').length === 1");
    scene.judge("7c-components");
    browser.click("$('.graph-node.many')");
    browser.press("Open: show its states");
    browser.wait("$$('.graph-node').length === 26");
    scene.judge("7d-opened");
    fold("components");
    browser.click("$('.graph-node.dead')");
    browser.press("Go to the nearest of them");
    browser.wait("!$('#simulator').hidden && $('#simulator .now').textContent === 'After 3 steps: nothing can happen, a deadlock'");
    // A hundred thousand states in four classes.
    scene.write("process P[i in 0..8] { a: x[i] -> b; b: y[i] -> c; c: z[i] -> d; d: w[i] -> a; }\n");
    browser.wait("$('#model-info').textContent.startsWith('8 processes')");
    scene.tab("space");
    fold("grow");
    browser.wait("$$('.graph-node').length === 9");
    fold("parts");
    browser.press("Show");
    browser
        .wait("$('#space .news').textContent.startsWith('65,536 states') && $$('.graph-node').length === 4");
    fold("grow");
}

fn the_picture_is_lit_where_one_stands(scene: &Scene) {
    let browser = &scene.browser;
    open_example(scene, "dining.proc");
    scene.tab("simulator");
    browser.click("$('#simulator .choice-button')");
    browser.wait("$('#simulator .now').textContent.startsWith('After 1 step')");
    scene.tab("picture");
    browser.wait("$$('#picture .here').length === 6");
    let lit = browser.value("$$('#picture .here').map((g) => g.querySelector('title').textContent).sort()");
    assert_eq!(
        texts(&lit),
        ["Fork[0]@held", "Fork[1]@free", "Fork[2]@free", "Phil[0]@left", "Phil[1]@think", "Phil[2]@think"]
    );
    scene.judge("7e-picture");
    open_example(scene, "crossroads.pnml");
    scene.tab("picture");
    browser.wait("$$('#picture circle.node').length === 7");
    scene.tab("simulator");
    browser.click("$('#simulator .choice-button')");
    browser.wait("$('#simulator .now').textContent.startsWith('After 1 step')");
    scene.tab("picture");
    browser.wait("$$('#picture .here').length === 2 && $$('#picture .token').length === 2");
    scene.judge("7f-net");
    scene.tab("checks");
}

fn a_long_check_tells_how_it_goes_and_is_stopped(scene: &Scene) {
    let browser = &scene.browser;
    scene.tab("checks");
    browser.press("Open");
    browser.click("$$('dialog .choose button')[0]");
    browser.wait("$$('.property').length === 7");
    scene.write("process P[i in 0..15] { a: x[i] -> b; b: y[i] -> c; c: z[i] -> d; d: w[i] -> a; }\ninvariant all = (count i in 0..15: P[i]@a) <= 15;\n");
    browser.wait("$$('.property').length === 2");
    scene.set("#way-reduce", "none");
    browser.click("$$('.property').find((p) => p.textContent.includes('all')).querySelector('.property-line > button:not(.link)')");
    browser.wait("/\\d+ states, .* per second, .* left/.test($('.news').textContent)");
    scene.judge("8-progress");
    browser.press("Stop");
    browser.wait(
        "$('.progress').hidden && $('.badge.unknown') && $('.answer').textContent.includes('interrupted')",
    );
    scene.set("#way-reduce", "");
}

fn files_are_saved_where_the_user_says(scene: &Scene) {
    let (browser, folder) = (&scene.browser, scene.folder.path());
    browser.press("Open");
    browser.click("$$('dialog .files button').find((b) => b.textContent === 'toggle.proc')");
    browser.wait("$('#file-name').textContent === 'toggle.proc'");
    scene.write("process Q { a: go -> a; }\n");
    browser.wait("$('#file-state').textContent === 'changed'");
    assert_eq!(fs::read_to_string(folder.join("toggle.proc")).unwrap(), TOGGLE, "nothing is saved by itself");
    browser.press("Save");
    browser.wait("$('dialog input').value === 'toggle.proc'");
    browser.control("a");
    browser.type_text("../out.proc");
    browser.keys(&[ENTER]);
    browser.wait("$('dialog .bad-text').textContent.includes('no name of a file')");
    scene.judge("9-save");
    browser.click("$('dialog input')");
    browser.control("a");
    browser.type_text("new.proc");
    browser.keys(&[ENTER]);
    browser.wait(
        "!$('dialog') && $('#file-name').textContent === 'new.proc' && $('#file-state').textContent === ''",
    );
    assert_eq!(fs::read_to_string(folder.join("new.proc")).unwrap(), "process Q { a: go -> a; }\n");
    assert_eq!(fs::read_to_string(folder.join("toggle.proc")).unwrap(), TOGGLE);
}

fn a_link_carries_model_and_questions(scene: &Scene) {
    let browser = &scene.browser;
    scene.write("process Shared { here: go -> here; }\n");
    browser.wait("$$('.property').length === 1");
    scene.tab("checks");
    browser.click("$('.question .formula')");
    browser.control("a");
    browser.type_text("[] Shared@here");
    browser.keys(&[ENTER]);
    browser.wait("$$('.property').length === 2 && $$('.property')[1].querySelector('.badge.holds')");
    browser.press("Share");
    let link = browser.wait("$('dialog textarea')?.value");
    let link = link.as_str().unwrap();
    assert!(!link.contains(&scene.bench.token), "the token is not shared");
    let fragment = link.split_once('#').expect("there is a fragment").1;
    scene.judge("10-share");
    browser.go(&format!("{}#m=AAAA", scene.bench.url()));
    browser.reload();
    browser.wait("$('#toast').textContent.includes('no link')");
    browser.go(&format!("{}#{fragment}", scene.bench.url()));
    browser.reload();
    browser.wait("$('.cm-content').textContent.includes('process Shared') && $$('.property').length === 2");
    assert!(browser.value("$$('.property')[1].textContent").as_str().unwrap().contains("[] Shared@here"));
}

fn it_works_without_a_mouse(scene: &Scene) {
    let browser = &scene.browser;
    browser.go(&scene.bench.url());
    browser.reload();
    browser.wait("$$('.property').length === 7");
    browser.value("(document.activeElement.blur(), window.seen = [], true)");
    // From the top through everything to the list: the editor lets go.
    let mut seen = Vec::new();
    for _ in 0..40 {
        browser.keys(&[TAB]);
        let at = browser.value("document.activeElement.id || document.activeElement.className || document.activeElement.textContent");
        seen.push(at.as_str().unwrap_or_default().to_owned());
        if browser.value("document.activeElement.textContent === 'Check all'") == json!(true) {
            break;
        }
    }
    for name in ["open", "save", "share", "theme", "tab-checks", "constants", "language"] {
        assert!(seen.iter().any(|at| at == name), "{name} in {seen:?}");
    }
    assert!(seen.iter().any(|at| at.contains("cm-content")), "{seen:?}");
    browser.keys(&[ENTER]);
    browser.wait("$$('.badge').length === 7");
    browser.value("($('#tab-checks').focus(), true)");
    browser.keys(&[RIGHT]);
    browser.wait("!$('#run').hidden && document.activeElement.id === 'tab-run'");
    browser.keys(&[LEFT]);
    browser.wait("!$('#checks').hidden");
    browser.value("($('.answer button.primary').focus(), true)");
    browser.keys(&[ENTER]);
    browser.wait("!$('#run').hidden && document.activeElement.classList.contains('steps')");
    browser.keys(&[RIGHT]);
    browser.wait("$('.now').textContent.startsWith('Step 1 of')");
}

fn it_fits_a_phone_and_the_dark(scene: &Scene) {
    let browser = &scene.browser;
    browser.prefer_dark(true);
    let brightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)";
    assert!(browser.value(brightness).as_u64() < Some(150), "as the system wants it");
    scene.judge("11-dark-run");
    scene.tab("checks");
    scene.judge("12-dark");
    browser.click("$('#theme')");
    assert!(browser.value(brightness).as_u64() > Some(600), "as the user wants it");
    browser.resize(390, 844);
    for tab in ["model", "checks", "run", "simulator", "space", "picture"] {
        scene.tab(tab);
        browser.wait(&format!("$('#{tab}').offsetParent !== null"));
        let width = browser.value("[document.documentElement.scrollWidth, innerWidth]");
        assert_eq!(width, json!([390, 390]), "{tab}");
        scene.judge(&format!("13-phone-{tab}"));
    }
    browser.prefer_dark(false);
}
