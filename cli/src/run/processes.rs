//! The processes of a run: one, or the members of a group with the variables that launchers set.

use std::io;
use std::net::TcpListener;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use crate::signals;

/// Maximum number of processes, which is the number of software devices.
const MOST: u32 = 16;
/// Time for the others to end by themselves after one has failed.
const GRACE: Duration = Duration::from_secs(5);
/// Interval between checks of the processes.
const PAUSE: Duration = Duration::from_millis(10);

/// Reads the value of `--processes`.
pub(super) fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| (1..=MOST).contains(count))
}

/// Running processes, which drop ends.
#[derive(Debug, Default)]
pub(super) struct Processes(Vec<Process>);

#[derive(Debug)]
struct Process {
    rank: u32,
    child: Child,
}

/// End of the first process that failed; without any, of the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) rank: u32,
    pub(super) status: ExitStatus,
}

impl Processes {
    /// Starts a group of `size` processes, or a process without a group.
    pub(super) fn start(command: &mut Command, size: Option<u32>) -> io::Result<Self> {
        let mut all = Self::default();
        let Some(size) = size else {
            all.0.push(Process { rank: 0, child: signals::spawn(command)? });
            return Ok(all);
        };
        // Another program may take the port before member 0 listens, which reports it then.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
        command.env("WORLD_SIZE", size.to_string());
        command.envs([("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", &port)]);
        for rank in 0..size {
            let number = rank.to_string();
            command.envs([("RANK", &number), ("LOCAL_RANK", &number)]);
            all.0.push(Process { rank, child: signals::spawn(command)? });
        }
        Ok(all)
    }

    /// Waits for all. Reports the first failure to `failed` immediately, and ends the others a few
    /// seconds later. Calls `looked` after each check.
    pub(super) fn wait(mut self, mut looked: impl FnMut(), failed: impl Fn(Ended)) -> io::Result<Ended> {
        let (mut last, mut first, mut until) = (None, None, None);
        while !self.0.is_empty() && until.is_none_or(|until| Instant::now() < until) {
            for ended in self.ended()? {
                last = Some(ended);
                if first.is_none() && !ended.status.success() {
                    first = last;
                    until = Some(Instant::now() + GRACE);
                    failed(ended);
                }
            }
            looked();
            if !self.0.is_empty() {
                thread::sleep(PAUSE);
            }
        }
        first.or(last).ok_or_else(|| io::Error::other("no process was started"))
    }

    /// Processes that have ended since the last check, in order.
    fn ended(&mut self) -> io::Result<Vec<Ended>> {
        let (mut ended, mut wrong) = (Vec::new(), Ok(()));
        self.0.retain_mut(|Process { rank, child }| match signals::try_wait(child) {
            Ok(None) => true,
            Ok(Some(status)) => {
                ended.push(Ended { rank: *rank, status });
                false
            }
            Err(error) => {
                wrong = Err(error);
                true
            }
        });
        wrong.map(|()| ended)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for Process { child, .. } in &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
