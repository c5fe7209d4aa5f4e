//! Host memory that asynchronous copies write.

use cuprum::sys::FnId;

/// A copy on its way.
///
/// One that reads host memory may be late: then the device gets what lies there by then, and the host comes to no harm.
struct Flight {
    context: u64,
    stream: u64,
    address: u64,
    /// The events that were recorded behind it.
    before: Vec<u64>,
}

/// All copies on their way.
#[derive(Default)]
pub(super) struct Flights(Vec<Flight>);

impl Flights {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets all of them, and tells where they write.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = u64> {
        self.0.drain(..).map(|flight| flight.address)
    }

    /// Forgets those that write to an address.
    pub(super) fn lost(&mut self, address: u64) {
        self.0.retain(|flight| flight.address != address);
    }

    /// Whether some write to an address.
    pub(super) fn are_over(&self, address: u64) -> bool {
        self.0.iter().any(|flight| flight.address == address)
    }

    /// Notes what a call has put in flight.
    pub(super) fn fly(&mut self, function: FnId, words: &[u64], context: u64) {
        match function {
            FnId::cuMemcpyDtoHAsync_v2 => {
                self.0.push(Flight { context, stream: words[3], address: words[0], before: Vec::new() });
            }
            FnId::cuEventRecord => {
                for flight in &mut self.0 {
                    flight.before.retain(|&event| event != words[0]);
                    if (flight.stream, flight.context) == (words[1], context) {
                        flight.before.push(words[0]);
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes what a call has waited for, or what will never move again.
    pub(super) fn land(&mut self, function: FnId, words: &[u64], context: u64) {
        match function {
            FnId::cuStreamSynchronize => {
                self.0.retain(|flight| flight.stream != words[0] || flight.context != context);
            }
            FnId::cuEventSynchronize => self.0.retain(|flight| !flight.before.contains(&words[0])),
            FnId::cuCtxSynchronize => self.0.retain(|flight| flight.context != context),
            FnId::cuCtxDestroy_v2 => self.0.retain(|flight| flight.context != words[0]),
            _ => {}
        }
    }
}
