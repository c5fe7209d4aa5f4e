//! Another process that a test talks to, line by line: this program again, with one test of it
//! alone.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Set in the other process.
const PEER: &str = "CUPRUM_TEST_PEER";

/// The other process. It runs commands line by line, and answers each with a line.
pub struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it with the test of this name, which calls [`serve`].
    pub fn start(test: &str) -> Self {
        let mut child = crate::itself::itself()
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(PEER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from }
    }

    pub fn ask(&mut self, question: &str) -> String {
        self.say(question);
        self.answer(question)
    }

    pub fn say(&mut self, question: &str) {
        writeln!(self.to, "{question}").unwrap();
    }

    pub fn answer(&mut self, question: &str) -> String {
        let mut line = String::new();
        while self.from.read_line(&mut line).unwrap() > 0 {
            if let Some((_, answer)) = line.split_once("> ") {
                return answer.trim_end().to_owned();
            }
            line.clear();
        }
        panic!("no answer to {question}");
    }

    /// Kills it at once.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Killed already, or ended; it has reported all its work.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// True in the other process.
pub fn is_peer() -> bool {
    std::env::var_os(PEER).is_some()
}

/// Answers each line until the test closes its end.
pub fn serve(mut answer: impl FnMut(&[&str]) -> String) {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        println!("> {}", answer(&line.split(' ').collect::<Vec<_>>()));
    }
}

/// Bytes as a word of a line.
pub fn hex(bytes: [u8; 64]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that a word of a line encodes.
pub fn bytes(hex: &str) -> [u8; 64] {
    core::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
}
