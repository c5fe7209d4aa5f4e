//! Finding each other.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::frame::{Kind, SILENCE, receive_until, send};
use super::{MemberError, World};

/// Pause between two attempts to reach member 0, or to accept a member.
const PAUSE: Duration = Duration::from_millis(20);
/// Begins the message by which a process joins.
const MAGIC: [u8; 8] = *b"cuprum/1";

/// Connections to other members, by their numbers: of member 0 to all, of the others to that one.
pub(super) type Links = Vec<(u32, TcpStream)>;

pub(super) fn join(world: &World, limit: Duration) -> Result<Links, MemberError> {
    let until = Instant::now() + limit;
    if world.size == 1 {
        return Ok(Links::new());
    }
    if world.rank == 0 { gather(world, until, limit) } else { Ok(vec![(0, reach(world, until, limit)?)]) }
}

fn hello(world: &World) -> Vec<u8> {
    [&MAGIC[..], &world.rank.to_le_bytes(), &world.size.to_le_bytes()].concat()
}

/// Number of the member that says hello, if it belongs to the group.
fn newcomer(world: &World, bytes: &[u8]) -> Option<u32> {
    let numbers = bytes.strip_prefix(&MAGIC)?;
    let number = |at: usize| Some(u32::from_le_bytes(numbers.get(at..at + 4)?.try_into().ok()?));
    let (rank, size) = (number(0)?, number(4)?);
    (size == world.size && (1..size).contains(&rank)).then_some(rank)
}

pub(super) fn numbers_of(ranks: &[u32]) -> Vec<u8> {
    ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect()
}

pub(super) fn ranks_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).filter_map(|chunk| Some(u32::from_le_bytes(chunk.try_into().ok()?))).collect()
}

fn milliseconds(limit: Duration) -> u64 {
    limit.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Member 0 waits for all others, and then welcomes them.
fn gather(world: &World, until: Instant, limit: Duration) -> Result<Links, MemberError> {
    let listener = listen(world)
        .map_err(|error| MemberError::NoPort { address: world.address(), reason: error.to_string() })?;
    let mut links = Links::new();
    while links.len() + 1 < world.size as usize {
        if Instant::now() >= until {
            let missing = |rank: &u32| links.iter().all(|(there, _)| there != rank);
            let ranks: Vec<u32> = (1..world.size).filter(missing).collect();
            for (_, link) in &links {
                // A member that cannot be reached finds the connection closed.
                drop(send(link, Kind::Missing, &numbers_of(&ranks)));
            }
            return Err(MemberError::Missing { ranks, size: world.size, milliseconds: milliseconds(limit) });
        }
        match listener.accept() {
            // Something else may knock at the port: it is sent away, and no error.
            Ok((stream, _)) => drop(admit(world, stream, until, &mut links)),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
    for (rank, link) in &links {
        send(link, Kind::Welcome, &[])
            .map_err(|error| MemberError::Ended { rank: *rank, reason: error.to_string() })?;
    }
    Ok(links)
}

fn listen(world: &World) -> io::Result<TcpListener> {
    let at = (world.host.as_str(), world.port).to_socket_addrs().ok().and_then(|mut all| all.next());
    let is_near = at.is_none_or(|at| at.ip().is_loopback());
    let ip = if is_near { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
    let listener = TcpListener::bind((IpAddr::V4(ip), world.port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn admit(world: &World, stream: TcpStream, until: Instant, links: &mut Links) -> io::Result<()> {
    prepare(&stream)?;
    // A silent process must not keep the others waiting for long.
    let (kind, bytes) = receive_until(&stream, until.min(Instant::now() + Duration::from_secs(2)))?;
    let rank = newcomer(world, &bytes).filter(|_| kind == Kind::Hello);
    match rank.filter(|rank| links.iter().all(|(there, _)| there != rank)) {
        Some(rank) => links.push((rank, stream)),
        None => send(&stream, Kind::Refused, &[])?,
    }
    Ok(())
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SILENCE))
}

/// The others connect to member 0, which may not listen yet, and wait until it welcomes them.
fn reach(world: &World, until: Instant, limit: Duration) -> Result<TcpStream, MemberError> {
    let not_reached = |reason: String| MemberError::NotReached {
        address: world.address(),
        milliseconds: milliseconds(limit),
        reason,
    };
    loop {
        let error = match connect(world, until) {
            Ok(stream) => {
                // A second more, so that member 0 can say who is missing.
                match receive_until(&stream, until + Duration::from_secs(1)) {
                    Ok((Kind::Welcome, _)) => return Ok(stream),
                    Ok((Kind::Missing, bytes)) => {
                        let ranks = ranks_of(&bytes);
                        let milliseconds = milliseconds(limit);
                        return Err(MemberError::Missing { ranks, size: world.size, milliseconds });
                    }
                    Ok((Kind::Refused, _)) => {
                        return Err(MemberError::Refused { rank: world.rank, size: world.size });
                    }
                    Ok(_) => return Err(not_reached("another program answers there".into())),
                    // It ended, or is not member 0: another attempt finds out.
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        if Instant::now() >= until {
            return Err(not_reached(error.to_string()));
        }
        std::thread::sleep(PAUSE);
    }
}

fn connect(world: &World, until: Instant) -> io::Result<TcpStream> {
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in (world.host.as_str(), world.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => {
                prepare(&stream)?;
                send(&stream, Kind::Hello, &hello(world))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
