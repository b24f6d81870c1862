//! All models of the corpus are read without an error.

mod common;

use common::{corpus, read_text, shown};

#[test]
fn all_models_are_read() {
    let mut failed = String::new();
    for file in corpus() {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        match read_text(&text) {
            (Ok(program), sources) => {
                if std::env::var_os("STUBBORN_WARNINGS").is_some() {
                    #[expect(clippy::print_stderr, reason = "asked for")]
                    {
                        eprint!(
                            "{}",
                            shown(&program.warnings, &sources)
                                .replace('\n', &format!(" [{}]\n", file.display()))
                        );
                    }
                }
            }
            (Err(errors), sources) => {
                failed.push_str(&format!("{}\n{}", file.display(), shown(&errors, &sources)));
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
