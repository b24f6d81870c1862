//! `cargo xtask gpu-ptx`: makes the PTX of the kernels, which is kept beside their text with a hash of it; `tidy` compares.
//!
//! PTX is a text that drivers compile for the card that there is. It is made for the oldest cards that today's compilers know, and says
//! a version that older drivers read, too: the kernels need nothing that is newer. Comments are left out.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

pub(crate) const USAGE: &str = "       cargo xtask gpu-ptx (--nvcc PROGRAM | --nvrtc LIBRARY)";

/// The oldest cards.
const ARCHITECTURE: &str = "compute_75";

/// The version that the text says.
const VERSION: &str = ".version 7.0";

/// What the first line begins with.
const MARK: &str = "// Made by `cargo xtask gpu-ptx` of kernels with the hash ";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/kernel")
}

/// What PTX is made of, and what else is in there. What leaves something out are texts of their own.
const TEXTS: [(&str, &[&str]); 3] = [
    ("explore", &["explore.cu", "products.h", "device.h"]),
    ("reduce", &["reduce.cu", "explore.cu", "products.h", "device.h"]),
    ("guide", &["guide.cu", "reduce.cu", "explore.cu", "products.h", "device.h"]),
];

/// A hash of the texts that kernels are made of (FNV-1a).
fn hash(files: &[&str]) -> Option<String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in fs::read(folder().join(file)).ok()? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    Some(format!("{hash:016x}"))
}

/// Why the PTX is not that of the kernels, if it is not.
pub(crate) fn problem() -> Option<String> {
    let is_old = |&(name, files): &(&str, &[&str])| {
        let made = fs::read_to_string(folder().join(name).with_extension("ptx")).unwrap_or_default();
        let of = made.lines().next().and_then(|line| line.strip_prefix(MARK)).map(str::to_owned);
        of.is_none() || of != hash(files)
    };
    TEXTS.into_iter().find(is_old).map(|(name, _)| {
        format!("crates/gpu/kernel/{name}.ptx is not that of the kernels: run cargo xtask gpu-ptx")
    })
}

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    for (name, files) in TEXTS {
        let made = match arguments {
            ["--nvcc", program] => with_nvcc(program, name),
            ["--nvrtc", library] => with_nvrtc(library, name),
            _ => {
                eprintln!("usage:\n{USAGE}");
                return ExitCode::from(2);
            }
        };
        let (Some(text), Some(hash)) = (made, hash(files)) else {
            eprintln!("gpu-ptx: nothing was made of {name}.cu");
            return ExitCode::FAILURE;
        };
        if let Err(error) = keep(name, &text, &hash) {
            eprintln!("gpu-ptx: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Writes PTX without comments.
fn keep(name: &str, text: &str, hash: &str) -> std::io::Result<()> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    let lines = lines.map(|line| if line.starts_with(".version ") { VERSION } else { line });
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let text = format!("{MARK}{hash}\n{}\n", lines.join("\n"));
    fs::write(folder().join(name).with_extension("ptx"), &text)?;
    println!("gpu-ptx: {} bytes of {name}.cu", text.len());
    Ok(())
}

/// The output of a command that succeeds; what it says goes to the terminal.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(std::process::Stdio::inherit()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn with_nvcc(program: &str, name: &str) -> Option<String> {
    let made = env::temp_dir().join(format!("stubborn-{}.ptx", std::process::id()));
    let mut command = Command::new(program);
    command
        .args(["-ptx", "-std=c++17", "-arch", ARCHITECTURE, "-o"])
        .arg(&made)
        .arg(folder().join(name).with_extension("cu"));
    output(&mut command)?;
    let text = fs::read_to_string(&made).ok();
    _ = fs::remove_file(made);
    text
}

/// NVRTC is a library; a small program calls it.
fn with_nvrtc(library: &str, name: &str) -> Option<String> {
    let program = env::temp_dir().join(format!("stubborn-nvrtc-{}", std::process::id()));
    let mut build = Command::new("c++");
    build.args(["-std=c++17", "-O1", "-o"]).arg(&program).arg(folder().join("nvrtc.cpp")).arg("-ldl");
    output(&mut build)?;
    let mut command = Command::new(&program);
    command.arg(library).arg(folder().join(name).with_extension("cu")).arg(folder()).arg(ARCHITECTURE);
    let text = output(&mut command);
    _ = fs::remove_file(program);
    text
}
