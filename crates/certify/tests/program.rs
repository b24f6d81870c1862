//! The program `stubborn-certify`, alone: what it says of a file that was kept, so that it can read tomorrow what was written
//! today, and of files that are wrong.
#![cfg(feature = "program")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The exit code, what is said, and what is complained about.
fn run(arguments: &[&Path]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_stubborn-certify")).args(arguments).output();
    let output = output.expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// A file of one's own, which is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("stubborn-certify-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("a scratch file");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn what_was_kept_is_certified() {
    let (code, said, complaints) = run(&[&kept("lamp.proc"), &kept("lamp.scert")]);
    assert_eq!((code, complaints.as_str()), (0, ""));
    assert_eq!(
        said,
        "deadlock-free: certified (4 states and 4 steps looked at)\n\
         sane: certified (4 states and 4 steps looked at)\n\
         tires: certified (4 states and 4 steps looked at, 6 states of the product)\n"
    );
}

#[test]
fn another_model_is_not_certified() {
    let text = std::fs::read_to_string(kept("lamp.proc")).expect("it is there");
    // The lamp goes out for ever.
    let other = Scratch::new("other.proc", text.replace("on: press -> off;", "on: ;").as_bytes());
    let (code, said, _) = run(&[&other.0, &kept("lamp.scert")]);
    assert_eq!(
        (code, said.lines().filter(|line| line.contains(": NOT CERTIFIED: ")).count()),
        (1, 3),
        "{said}"
    );
}

#[test]
fn what_cannot_be_read_is_told() {
    let bytes = std::fs::read(kept("lamp.scert")).expect("it is there");
    let line = bytes.iter().position(|&byte| byte == b'\n').expect("a line");
    let (cut, old) = (&bytes[..bytes.len() - 1], [b"stubborn certificate 1", &bytes[line..]].concat());
    let mut damaged = bytes.clone();
    damaged[bytes.len() - 2] ^= 4;
    let wrong: [(&str, &[u8], &str); 4] = [
        ("cut", cut, "the certificate is cut off"),
        ("old", &old, "it was made by an older stubborn: write it again, with `check --certificate`"),
        ("damaged", &damaged, "the states of the certificate are damaged"),
        ("other", b"what is this\n", "this is no certificate, or of a later version"),
    ];
    for (name, bytes, expected) in wrong {
        let file = Scratch::new(&format!("{name}.scert"), bytes);
        let (code, said, complaints) = run(&[&kept("lamp.proc"), &file.0]);
        assert!(code == 2 && said.is_empty() && complaints.contains(expected), "{name}: {code} {complaints}");
    }
    let nothing = Path::new("nothing.scert");
    assert_eq!(run(&[&kept("lamp.proc"), nothing]).0, 2);
    assert_eq!(run(&[nothing, &kept("lamp.scert")]).0, 2);
    assert_eq!(run(&[&kept("lamp.scert"), &kept("lamp.scert")]).0, 2, "no model");
    let (code, _, usage) = run(&[nothing]);
    assert!(code == 2 && usage.contains("Usage: "), "{usage}");
    assert_eq!(run(&[Path::new("--help")]).0, 0);
}
