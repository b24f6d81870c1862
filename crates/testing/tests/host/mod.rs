//! The kernel text for graphics processors as a device: built by the C++ compiler of this machine, and run by threads of a
//! process that keeps the memory.
#![allow(clippy::print_stdout)] // What is skipped is said.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use base::device::{Device, Failure, Kernel, Memory, Orders};

/// A process that runs the kernels, with so many threads.
pub(crate) struct HostDevice {
    program: PathBuf,
    n_threads: usize,
}

struct HostMemory {
    child: Child,
}

impl Device for HostDevice {
    fn name(&self) -> String {
        "the compiler of this machine".to_owned()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        Ok(1 << 20)
    }

    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
        let mut command = Command::new(&self.program);
        command.arg(self.n_threads.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut memory = HostMemory { child: command.spawn().map_err(|error| failed(&error))? };
        memory.tell([0, n_words, 0, 0], &[])?;
        memory.hear(&mut [0])?;
        Ok(Box::new(memory))
    }
}

fn failed(error: &std::io::Error) -> Failure {
    Failure(error.to_string())
}

impl HostMemory {
    fn tell(&mut self, command: [u64; 4], words: &[u64]) -> Result<(), Failure> {
        let bytes: Vec<u8> = command.iter().chain(words).flat_map(|word| word.to_ne_bytes()).collect();
        let input = self.child.stdin.as_mut().ok_or_else(|| Failure("closed".to_owned()))?;
        input.write_all(&bytes).and_then(|()| input.flush()).map_err(|error| failed(&error))
    }

    fn hear(&mut self, words: &mut [u64]) -> Result<(), Failure> {
        let mut bytes = vec![0; 8 * words.len()];
        let output = self.child.stdout.as_mut().ok_or_else(|| Failure("closed".to_owned()))?;
        output.read_exact(&mut bytes).map_err(|error| failed(&error))?;
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        Ok(())
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        _ = self.child.wait();
    }
}

impl Memory for HostMemory {
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure> {
        self.tell([1, at, words.len() as u64, 0], words)?;
        self.hear(&mut [0])
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Failure> {
        self.tell([2, at, words.len() as u64, 0], &[])?;
        self.hear(words)
    }

    fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure> {
        self.tell([3, at, n_words, byte.into()], &[])?;
        self.hear(&mut [0])
    }

    fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure> {
        self.tell([4, kernel as u64, n, 0], &orders)?;
        self.hear(&mut [0])
    }
}

/// The kernels, built once for each test under a name of its own, with so many threads; nothing if there is no compiler.
pub(crate) fn device(name: &str, n_threads: usize) -> Option<HostDevice> {
    let compiler = ["c++", "g++", "clang++"].into_iter().find(|compiler| {
        let mut asked = Command::new(compiler);
        asked
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|it| it.success())
    });
    let Some(compiler) = compiler else {
        println!("skipped: there is no C++ compiler");
        return None;
    };
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu/kernel/host.cpp");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command
        .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
        .arg(&program)
        .arg(source);
    assert!(command.status().is_ok_and(|status| status.success()), "the kernels cannot be built");
    Some(HostDevice { program, n_threads })
}
