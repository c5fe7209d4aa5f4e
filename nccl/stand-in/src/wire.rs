//! Bytes of messages.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// A message: a kind, numbers, and bytes.
#[derive(Debug, Default, Clone)]
pub(crate) struct Message {
    pub(crate) kind: u64,
    pub(crate) numbers: [u64; 8],
    pub(crate) bytes: Vec<u8>,
}

/// Most bytes of one message.
const MOST: u64 = 1 << 32;

pub(crate) fn send(mut stream: &TcpStream, message: &Message) -> io::Result<()> {
    let mut head = Vec::with_capacity(80);
    let words = [message.kind].into_iter().chain(message.numbers).chain([message.bytes.len() as u64]);
    words.for_each(|word| head.extend(word.to_le_bytes()));
    stream.write_all(&head)?;
    stream.write_all(&message.bytes)
}

pub(crate) fn receive(mut stream: &TcpStream) -> io::Result<Message> {
    let mut head = [0; 80];
    stream.read_exact(&mut head)?;
    let mut words = [0; 10];
    for (word, bytes) in words.iter_mut().zip(head.chunks_exact(8)) {
        *word = bytes.try_into().map_or(0, u64::from_le_bytes);
    }
    let [kind, numbers @ .., len] = words;
    if len > MOST {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len as usize];
    stream.read_exact(&mut bytes)?;
    Ok(Message { kind, numbers, bytes })
}
