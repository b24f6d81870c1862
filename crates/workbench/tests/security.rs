//! Who is answered, and what can be reached: the token, hosts and origins, files, garbage.

mod common;

use std::fs;

use common::{Bench, LAMP, model, parse};
use serde_json::json;
use stubborn_workbench::Settings;

#[test]
fn nothing_is_answered_without_the_token() {
    let bench = Bench::start(Settings::default());
    let headers = bench.headers();
    let wrong = "0".repeat(bench.token.len());
    let upper = bench.token.to_uppercase();
    for token in ["", "x", &wrong, &bench.token[1..], &format!("{}0", bench.token)] {
        for path in ["", "app.js", "api/start", "api/files", "api/jobs/1"] {
            let (status, body) = bench.request("GET", &format!("/{token}/{path}"), &headers, "");
            assert_eq!(status, 403, "/{token}/{path}");
            assert!(!body.contains(&bench.token) && !body.contains(&upper), "the token is not told");
        }
        let (status, _) = bench.request("POST", &format!("/{token}/api/model"), &headers, "{}");
        assert_eq!(status, 403);
    }
    assert_eq!(bench.get("").0, 200);
    assert_eq!(bench.get("app.js").0, 200);
    assert_eq!(bench.get("api/start").0, 200);
    assert_ne!(Bench::start(Settings::default()).token, bench.token, "it is another one each time");
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let bench = Bench::start(Settings::default());
    let (port, path) = (bench.address.port(), format!("/{}/api/start", bench.token));
    let status = |headers: &str| bench.request("GET", &path, headers, "").0;
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        assert_eq!(status(&format!("Host: {host}:{port}\r\n")), 200, "{host}");
    }
    // A name that suddenly means this machine is still that name.
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example#127.0.0.1"]
    {
        assert_eq!(status(&format!("Host: {host}:{port}\r\n")), 403, "{host}");
    }
    assert_eq!(status(""), 403, "no host");
    assert_eq!(status(&format!("Host: 127.0.0.1:{port}\r\nHost: evil.example:{port}\r\n")), 403, "two hosts");
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    for origin in
        ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "http://localhost:1"]
    {
        assert_eq!(status(&format!("{own}Origin: {origin}\r\n")), 403, "{origin}");
    }
    assert_eq!(status(&format!("{own}Origin: http://127.0.0.1:{port}\r\n")), 200);
    for site in ["cross-site", "same-site", "other"] {
        assert_eq!(status(&format!("{own}Sec-Fetch-Site: {site}\r\n")), 403, "{site}");
    }
    assert_eq!(status(&format!("{own}Sec-Fetch-Site: none\r\n")), 200, "the address bar");
    // What a form of another site can send.
    let save = format!("/{}/api/save", bench.token);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let headers = format!("{own}Content-Type: {kind}\r\n");
        assert_eq!(bench.request("POST", &save, &headers, "{}").0, 415, "{kind}");
    }
    for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "HEAD"] {
        assert_eq!(bench.request(method, &path, &own, "").0, 405, "{method}");
    }
    let answer = bench.raw(format!("GET {path} HTTP/1.1\r\n{own}\r\n").as_bytes());
    assert!(!answer.to_lowercase().contains("access-control-allow"), "nobody else may read it");
    assert!(answer.contains("frame-ancestors 'none'") && answer.contains("default-src 'none'"), "{answer}");
}

#[test]
fn it_listens_on_this_machine_alone() {
    assert!(Settings::default().address.ip().is_loopback());
}

#[test]
fn files_are_those_of_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("models");
    fs::create_dir(&folder).unwrap();
    fs::write(outer.path().join("secret.proc"), "// secret").unwrap();
    fs::write(folder.join("lamp.proc"), LAMP).unwrap();
    let settings =
        Settings { folder: Some(folder.clone()), file: Some("lamp.proc".into()), ..Settings::default() };
    let bench = Bench::start(settings);
    let (_, start) = bench.get("api/start");
    assert!(start.contains("lamp.proc") && start.contains("flicker") && !start.contains("secret"));
    assert_eq!(bench.post("open", &json!({ "name": "lamp.proc" })).1["text"], LAMP);
    let absolute = outer.path().join("secret.proc");
    for name in ["../secret.proc", "a/../../secret.proc", absolute.to_str().unwrap(), "", "..", "/etc/passwd"]
    {
        let (status, answer) = bench.post("open", &json!({ "name": name }));
        assert_eq!(status, 403, "{name}: {answer}");
        let (status, answer) = bench.post("save", &json!({ "name": name, "text": "x", "replace": true }));
        assert_eq!(status, 403, "{name}: {answer}");
    }
    // A model cannot name others, either.
    let text = "#include \"../secret.proc\"\nactive proctype P() { skip }";
    let spec = json!({ "model": { "name": "m.pml", "text": text } });
    let (_, answer) = bench.post("model", &spec);
    assert!(answer["messages"][0]["message"].as_str().unwrap().contains("secret.proc"), "{answer}");
    assert!(answer["model"].is_null() && !answer.to_string().contains("// secret"), "{answer}");
    // Paths of addresses lead nowhere.
    for path in ["../Cargo.toml", "%2e%2e/Cargo.toml", "api/../../x", "app.js/..", "index.html"] {
        assert_eq!(bench.get(path).0, 404, "{path}");
    }
    // Nothing is written over without being asked for.
    let save = |replace: bool| {
        bench.post("save", &json!({ "name": "lamp.proc", "text": "// new", "replace": replace })).0
    };
    assert_eq!(save(false), 409);
    assert_eq!(fs::read_to_string(folder.join("lamp.proc")).unwrap(), LAMP);
    assert_eq!(save(true), 200);
    assert_eq!(fs::read_to_string(folder.join("lamp.proc")).unwrap(), "// new");
    assert_eq!(bench.post("save", &json!({ "name": "run.sh", "text": "x" })).0, 400, "only models");
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 2, "nothing else was written");
    let without = Bench::start(Settings::default());
    assert_eq!(without.post("open", &json!({ "name": "lamp.proc" })).0, 403);
    assert_eq!(without.post("save", &json!({ "name": "lamp.proc", "text": "x" })).0, 403);
}

#[test]
fn garbage_is_survived() {
    let bench = Bench::start(Settings::default());
    let host = format!("Host: {}\r\n", bench.address);
    let long = format!("GET /{} HTTP/1.1\r\n{host}\r\n", "x".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(1000));
    let huge = format!("POST /{}/api/model HTTP/1.1\r\n{host}Content-Length: 99999999\r\n\r\n", bench.token);
    let chunked = format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    for (bytes, status) in [
        (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], 400),
        (b"\0\0\0\0\r\n\r\n", 400),
        (b"GET\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: \xff\xfe\r\n\r\n", 400),
        (long.as_bytes(), 431),
        (many.as_bytes(), 431),
        (huge.as_bytes(), 413),
        (chunked.as_bytes(), 411),
    ] {
        assert_eq!(
            parse(&bench.raw(bytes)).0,
            status,
            "{:?}",
            String::from_utf8_lossy(&bytes[..20.min(bytes.len())])
        );
    }
    for body in
        ["", "null", "[]", "{", "{\"model\":7}", "{\"model\":{\"text\":7}}", "\"\\ud800\"", "{\"model\":{}}"]
    {
        for path in ["model", "check", "open", "save", "draw"] {
            let path = format!("/{}/api/{path}", bench.token);
            let (status, answer) = bench.request("POST", &path, &bench.headers(), body);
            assert!(
                status == 400 || status == 200 && answer.contains("unknown-language"),
                "{path} {body}: {status} {answer}"
            );
        }
    }
    // Deep nesting of JSON and of models is no stack overflow.
    let deep = "[".repeat(100_000);
    let path = format!("/{}/api/model", bench.token);
    assert_eq!(bench.request("POST", &path, &bench.headers(), &deep).0, 400);
    let deep = format!("invariant i = {}true{};", "(".repeat(100_000), ")".repeat(100_000));
    let (status, answer) = bench.post("model", &json!({ "model": model(&deep) }));
    assert!(status == 200 && answer["model"].is_null(), "{status}");
    for job in ["0", "99", "-1", "x", "1/stop", "99999999999999999999"] {
        assert_eq!(bench.get(&format!("api/jobs/{job}")).0, 404, "{job}");
    }
    assert_eq!(bench.get("api/start").0, 200, "it lives on");
}
