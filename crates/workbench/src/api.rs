//! What can be asked for, behind the token: files of the page, and `api/…`. Whatever computes is bounded in time and
//! memory; what may take long becomes a job.

mod requests;
mod walks;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stubborn::base::{SourceId, Span};
use stubborn::folder::{Folder, Refused};
use stubborn::language::{Asked, Property};
use stubborn::methods::{OBSERVERS, REDUCTIONS, SEARCHES};
use stubborn::{
    Clock, LANGUAGES, Limits, ObserverKind, Question, ReductionWish, SearchKind, Session, Threads, Walker,
};

use self::requests::{Check, Folding, Named, OfModel, Saved, Seeking, Walking, Wandering};
use crate::http::{Request, Response};
use crate::jobs::{Gate, Jobs, Watched};
use crate::spec::Spec;
use crate::{Settings, page, telling};

/// What is answered at once takes at most so long.
const AT_ONCE: Duration = Duration::from_secs(10);

/// And so much memory.
const AT_ONCE_BYTES: u64 = 512 << 20;

/// Everything that can be asked for.
pub(crate) struct Api {
    settings: Settings,
    folder: Option<Arc<Folder>>,
    jobs: Arc<Jobs>,
    /// Only so many compute at once, besides jobs.
    computing: Arc<Gate>,
    /// Models that somebody walks through, the last one first.
    walkers: Mutex<Vec<(Spec, Arc<Mutex<Walker>>)>>,
}

type Answer = Result<Value, Response>;

impl Api {
    pub(crate) fn new(settings: Settings, folder: Option<Folder>, jobs: Arc<Jobs>) -> Api {
        let n_cores = thread::available_parallelism().map_or(2, usize::from);
        let computing = Arc::new(Gate::new(n_cores.max(2)));
        Api { settings, folder: folder.map(Arc::new), jobs, computing, walkers: Mutex::default() }
    }

    /// Ends all jobs.
    pub(crate) fn close(&self) {
        self.jobs.close();
    }

    /// Answers a request that was admitted, for what stands behind the token.
    pub(crate) fn answer(&self, path: &str, request: &Request) -> Response {
        let is_post = request.method == "POST";
        let Some(what) = path.strip_prefix("api/") else {
            let found = page::asset(path).filter(|_| !is_post);
            return found.unwrap_or_else(|| Response::refusal(404, "there is no such thing here"));
        };
        if let Some(job) = what.strip_prefix("jobs/") {
            return self.of_job(job, is_post);
        }
        let answer = match (what, is_post) {
            ("start", false) => Ok(self.start()),
            ("files", false) => Ok(json!({ "files": self.files() })),
            ("open", true) => parsed(request).and_then(|named: Named| self.open(&named.name)),
            ("save", true) => parsed(request).and_then(|saved: Saved| self.save(&saved)),
            ("model", true) => parsed(request).map(|OfModel { model }| self.model(&model)),
            ("draw", true) => parsed(request).map(|OfModel { model }| self.draw(&model)),
            ("walk", true) => parsed(request).map(|walk: Walking| self.walk(&walk)),
            ("wander", true) => parsed(request).map(|walk: Wandering| self.wander(&walk)),
            ("trace", true) => parsed(request).map(|walk: Walking| self.trace(&walk)),
            ("seek", true) => parsed(request).and_then(|seeking: Seeking| self.seek(seeking)),
            ("fold", true) => parsed(request).and_then(|folding: Folding| self.fold(folding)),
            ("check", true) => parsed(request).and_then(|check: Check| self.check(check)),
            _ => Err(Response::refusal(404, "there is no such thing here")),
        };
        answer.map_or_else(|refusal| refusal, |value| Response::json(200, &value))
    }

    /// What the page needs to begin.
    fn start(&self) -> Value {
        let languages: Vec<Value> = LANGUAGES
            .iter()
            .map(
                |known| json!({ "name": known.name, "about": known.a_model, "extensions": known.extensions }),
            )
            .collect();
        let file = self.settings.file.as_deref().map(|name| match self.open(name) {
            Ok(opened) => opened,
            Err(_) => json!({ "name": name, "error": "it cannot be read" }),
        });
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "file": file,
            "definitions": self.settings.definitions,
            "folder": self.folder.as_ref().map(|folder| folder.name()),
            "files": self.files(),
            "languages": languages,
            "examples": page::examples(),
            "methods": {
                "observer": OBSERVERS.map(ObserverKind::name),
                "search": SEARCHES.map(SearchKind::name),
                "reduce": REDUCTIONS.map(ReductionWish::name),
            },
            "limits": {
                "seconds": self.settings.limits.time.map(|time| time.as_secs_f64()),
                "bytes": self.settings.limits.memory,
            },
        })
    }

    fn files(&self) -> Vec<String> {
        self.folder.as_ref().map_or_else(Vec::new, |folder| folder.files())
    }

    /// The folder, if the user gave one.
    fn folder(&self) -> Result<&Folder, Response> {
        let none =
            || Response::refusal(403, "the workbench was given no folder: `stubborn serve --folder DIR`");
        self.folder.as_deref().ok_or_else(none)
    }

    fn open(&self, name: &str) -> Answer {
        let bytes = self.folder()?.read(name).map_err(|why| refused(&why, name))?;
        let text =
            String::from_utf8(bytes).map_err(|_| Response::refusal(400, "the file is not UTF-8 text"))?;
        Ok(json!({ "name": name, "text": text }))
    }

    fn save(&self, saved: &Saved) -> Answer {
        let written = self.folder()?.write(&saved.name, &saved.text, saved.replace);
        written.map_err(|why| refused(&why, &saved.name))?;
        Ok(json!({ "name": saved.name, "files": self.files() }))
    }

    /// Lets somebody read a model, within limits, and say what there is to say.
    fn at_once(&self, model: &Spec, tell: impl FnOnce(Session, &Clock<'_>) -> Value) -> Value {
        let _inside = self.computing.enter();
        let clock = self.clock();
        match model.open(self.folder.as_deref(), &clock) {
            Ok(session) => tell(session, &clock),
            Err(error) => telling::trouble(&error, own_source(&error)),
        }
    }

    /// A clock for what is answered at once.
    fn clock(&self) -> Clock<'static> {
        let mut limits = Limits::default().time(AT_ONCE).memory(AT_ONCE_BYTES);
        limits.time = limits.time.min(self.settings.limits.time.or(limits.time));
        limits.memory = limits.memory.min(self.settings.limits.memory.or(limits.memory));
        Clock::start(&limits).with_threads(Threads::ONE)
    }

    /// What is in a model, or what is wrong with it.
    fn model(&self, model: &Spec) -> Value {
        self.at_once(model, |mut session, _| {
            let file = session.info().file;
            let properties = match session.properties() {
                Ok(properties) => properties,
                Err(error) => return telling::trouble(&error, Some(&file)),
            };
            let sources = session.sources();
            let own = |span: &Span| sources.get(span.source).name == file;
            let property = |it: &Property| {
                let place = it.span.filter(own).map(|span| {
                    let source = sources.get(span.source);
                    (source.position(span.start).0, telling::units(&source.text, span).0)
                });
                json!({
                    "name": it.name, "kind": it.kind.name(), "by_default": it.asked == Asked::ByDefault,
                    "by_kind": it.asked == Asked::ByKind,
                    "line": place.map(|place| place.0), "from": place.map(|place| place.1),
                })
            };
            let system = session.model().system();
            json!({
                "model": session.info(),
                "messages": telling::messages(sources, session.model().warnings(), Some(&file)),
                "properties": properties.iter().map(property).collect::<Vec<_>>(),
                "processes": system.processes().iter().take(200).map(|it| it.name.as_str()).collect::<Vec<_>>(),
            })
        })
    }

    /// The model as a picture.
    fn draw(&self, model: &Spec) -> Value {
        self.at_once(model, |session, clock| match session.draw(clock) {
            Ok(Some(drawing)) => match drawing.to_svg() {
                Ok(svg) => json!({ "svg": svg, "title": drawing.title, "about": drawing.description }),
                Err(why) => json!({ "error": why.to_string() }),
            },
            Ok(None) => json!({ "error": "there is nothing to be drawn" }),
            Err(error) => telling::trouble(&error, None),
        })
    }

    /// Begins to check.
    fn check(&self, check: Check) -> Answer {
        let (folder, limits) = (self.folder.clone(), self.settings.limits);
        self.begin(move |watched| {
            let clock = Clock::start(&limits).watched_by(watched);
            let answer = || {
                let options = check.way.options()?;
                let questions: Vec<Question> = check.questions.iter().map(Question::from).collect();
                let mut session = check.model.open(folder.as_deref(), &clock)?;
                session.check_within(&questions, &options, &clock)
            };
            match answer() {
                Ok(report) => telling::report(&report),
                Err(error) => telling::trouble(&error, own_source(&error)),
            }
        })
    }

    /// Adds a job.
    fn begin(&self, work: impl FnOnce(&Watched) -> Value + Send + 'static) -> Answer {
        match self.jobs.add(Box::new(work)) {
            Some(number) => Ok(json!({ "job": number })),
            None => Err(Response::refusal(429, "too many jobs are waiting: stop some of them, or wait")),
        }
    }

    /// `NUMBER` asks for news, `NUMBER/stop` ends it.
    fn of_job(&self, what: &str, is_post: bool) -> Response {
        let (number, verb) = what.split_once('/').unwrap_or((what, ""));
        let unknown = || Response::refusal(404, "there is no such job, or its answer is not kept any more");
        let Ok(number) = number.parse() else { return unknown() };
        match (verb, is_post) {
            ("", false) => match self.jobs.news(number) {
                Some(news) => Response::new(200, "application/json", news.into_bytes()),
                None => unknown(),
            },
            ("stop", true) if self.jobs.stop(number) => Response::json(200, &json!({ "stopped": number })),
            _ => unknown(),
        }
    }
}

/// The name of the model's own text, which is always read first.
fn own_source(error: &stubborn::Error) -> Option<&str> {
    error.diagnostics().iter().find_map(|it| it.span)?;
    Some(error.sources().get(SourceId::new(0)).name.as_str())
}

fn parsed<T: DeserializeOwned>(request: &Request) -> Result<T, Response> {
    serde_json::from_slice(&request.body)
        .map_err(|error| Response::refusal(400, &format!("bad request: {error}")))
}

fn refused(why: &Refused, name: &str) -> Response {
    let status = match why {
        Refused::Outside => 403,
        Refused::Exists => 409,
        Refused::System(_) => 400,
    };
    Response::refusal(status, &why.message(name))
}
