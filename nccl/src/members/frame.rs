//! Messages between members: a kind, a length, and bytes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Interval at which a member says that it is alive.
pub(super) const BEAT: Duration = Duration::from_secs(1);
/// Interval at which a wait for bytes looks up.
const PAUSE: Duration = Duration::from_millis(50);
/// Time after which a member that said nothing counts as ended, as when its machine has lost power.
pub(super) const SILENCE: Duration = Duration::from_secs(60);
/// Most bytes of a message, more than which no member sends.
const MOST: usize = 1 << 24;

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// The sender joins: its number and the size of the group.
    Hello = 1,
    /// All are there.
    Welcome,
    /// The sender has another group, or a number that is taken.
    Refused,
    /// Numbers of members that did not come.
    Missing,
    /// Data that a member shares, or that all share.
    Shared,
    /// Number of a member that ended, and the reason.
    Ended,
    /// The sender leaves.
    Leaves,
    /// The sender is alive.
    Beat,
}

impl Kind {
    fn of(byte: u8) -> io::Result<Self> {
        let all = [
            Self::Hello,
            Self::Welcome,
            Self::Refused,
            Self::Missing,
            Self::Shared,
            Self::Ended,
            Self::Leaves,
            Self::Beat,
        ];
        all.into_iter().find(|kind| *kind as u8 == byte).ok_or_else(|| ErrorKind::InvalidData.into())
    }
}

pub(super) fn send(mut stream: &TcpStream, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    let len =
        u32::try_from(bytes.len()).ok().filter(|len| *len as usize <= MOST).ok_or(ErrorKind::InvalidInput)?;
    let mut message = Vec::with_capacity(5 + bytes.len());
    message.push(kind as u8);
    message.extend(len.to_le_bytes());
    message.extend(bytes);
    stream.write_all(&message)
}

/// Reads a message up to a moment.
pub(super) fn receive_until(stream: &TcpStream, until: Instant) -> io::Result<(Kind, Vec<u8>)> {
    receive(stream, |_| if Instant::now() < until { Ok(()) } else { Err(ErrorKind::TimedOut.into()) })
}

/// Reads a message of a member that is alive; calls `beat` now and then meanwhile.
pub(super) fn receive_alive(stream: &TcpStream, mut beat: impl FnMut()) -> io::Result<(Kind, Vec<u8>)> {
    receive(stream, |silent| {
        beat();
        if silent < SILENCE { Ok(()) } else { Err(ErrorKind::TimedOut.into()) }
    })
}

fn receive(
    stream: &TcpStream,
    mut pause: impl FnMut(Duration) -> io::Result<()>,
) -> io::Result<(Kind, Vec<u8>)> {
    stream.set_read_timeout(Some(PAUSE))?;
    let mut head = [0; 5];
    fill(stream, &mut head, &mut pause)?;
    let [kind, length @ ..] = head;
    let len = u32::from_le_bytes(length) as usize;
    let kind = Kind::of(kind)?;
    if len > MOST {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len];
    fill(stream, &mut bytes, &mut pause)?;
    Ok((kind, bytes))
}

/// Fills a place, and asks at each pause whether to go on.
fn fill(
    mut stream: &TcpStream,
    mut place: &mut [u8],
    pause: &mut impl FnMut(Duration) -> io::Result<()>,
) -> io::Result<()> {
    let mut heard = Instant::now();
    while !place.is_empty() {
        match stream.read(place) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                place = &mut place[count..];
                heard = Instant::now();
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                pause(heard.elapsed())?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
