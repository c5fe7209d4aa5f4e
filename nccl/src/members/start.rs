//! Starting the processes of a group on this machine.

use std::io;
use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::{MemberError, World};

/// Pause between two looks at the processes.
const PAUSE: Duration = Duration::from_millis(10);
/// Time that the others have, after one has failed, to notice it and to say so.
const GRACE: Duration = Duration::from_secs(5);

impl World {
    /// Starts `size` processes on this machine, as launchers do, and waits for them. `command`
    /// makes the command of each number, which gets the variables of
    /// [`from_environment`](Self::from_environment).
    ///
    /// When one fails, the others are ended, after a few seconds in which they may notice and say
    /// so themselves. If those fail as quickly, another number than the first one's may be in the
    /// error here; their own output has it.
    ///
    /// ```
    /// use std::process::Command;
    ///
    /// use cuprum_nccl::World;
    ///
    /// World::start_all(2, |_| Command::new("true"))?;
    /// let failed = World::start_all(2, |rank| {
    ///     let mut command = Command::new("sh");
    ///     command.args(["-c", "exit $RANK"]).env("NUMBER_AGAIN", rank.to_string());
    ///     command
    /// });
    /// assert_eq!(failed.unwrap_err().to_string(), "member 1 ended: exit status: 1");
    /// # Ok::<(), cuprum_nccl::MemberError>(())
    /// ```
    ///
    /// # Errors
    /// [`MemberError::Ended`] with the number of one that could not be started or failed, and its
    /// status.
    pub fn start_all(size: u32, mut command: impl FnMut(u32) -> Command) -> Result<(), MemberError> {
        let ended = |rank: u32, reason: String| MemberError::Ended { rank, reason };
        // The port may be taken by another program before member 0 listens, which says so then.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.map_err(|error| ended(0, error.to_string()))?.port().to_string();
        let mut running = Running(Vec::new());
        for rank in 0..size {
            let number = rank.to_string();
            let mut command = command(rank);
            command.envs([("RANK", &number), ("LOCAL_RANK", &number), ("WORLD_SIZE", &size.to_string())]);
            command.envs([("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", &port)]);
            running.0.push((rank, command.spawn().map_err(|error| ended(rank, error.to_string()))?));
        }
        let (mut first, mut until) = (Ok(()), None);
        while !running.0.is_empty() && until.is_none_or(|until| Instant::now() < until) {
            if let Err((rank, reason)) = running.look() {
                first = first.and(Err(ended(rank, reason)));
                until = until.or(Some(Instant::now() + GRACE));
            }
            std::thread::sleep(PAUSE);
        }
        first
    }
}

/// Processes that run, which are ended when this is dropped.
struct Running(Vec<(u32, Child)>);

impl Running {
    /// Forgets those that have ended; the first that failed is an error.
    fn look(&mut self) -> Result<(), (u32, String)> {
        let mut failed = Ok(());
        self.0.retain_mut(|(rank, child)| {
            let reason = match child.try_wait() {
                Ok(None) => return true,
                Ok(Some(status)) if status.success() => return false,
                Ok(Some(status)) => status.to_string(),
                Err(error) => error.to_string(),
            };
            if failed.is_ok() {
                failed = Err((*rank, reason));
            }
            false
        });
        failed
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for (_, child) in &mut self.0 {
            // It may have ended by itself.
            let _: io::Result<()> = child.kill();
            drop(child.wait());
        }
    }
}
