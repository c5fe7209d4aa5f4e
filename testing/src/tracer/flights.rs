//! Host memory that asynchronous copies write.

use cuprum::sys::FnId;

/// A copy on its way.
///
/// A copy that reads host memory may run late: the device then gets the memory's later contents,
/// and the host comes to no harm.
struct Flight {
    context: u64,
    stream: u64,
    address: u64,
    /// The events that were recorded after it.
    before: Vec<u64>,
}

/// All copies on their way.
#[derive(Default)]
pub(super) struct Flights {
    all: Vec<Flight>,
    /// True if copies become nodes of a graph.
    capturing: bool,
}

impl Flights {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Forgets all of them, and returns the addresses that they write.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = u64> {
        self.all.drain(..).map(|flight| flight.address)
    }

    /// Forgets those that write to an address.
    pub(super) fn lost(&mut self, address: u64) {
        self.all.retain(|flight| flight.address != address);
    }

    /// True if some write to an address.
    pub(super) fn are_over(&self, address: u64) -> bool {
        self.all.iter().any(|flight| flight.address == address)
    }

    /// Records that a call has put a copy in flight: `copy` is the stream and the address of a copy
    /// to the host.
    pub(super) fn fly(&mut self, function: FnId, words: &[u64], context: u64, copy: Option<(u64, u64)>) {
        match function {
            FnId::cuStreamBeginCapture
            | FnId::cuStreamBeginCapture_v2
            | FnId::cuStreamBeginCaptureToGraph => self.capturing = true,
            FnId::cuStreamEndCapture => self.capturing = false,
            FnId::cuEventRecord => {
                for flight in &mut self.all {
                    flight.before.retain(|&event| event != words[0]);
                    if (flight.stream, flight.context) == (words[1], context) {
                        flight.before.push(words[0]);
                    }
                }
            }
            _ if self.capturing => {}
            _ => self.all.extend(copy.map(|(stream, address)| Flight {
                context,
                stream,
                address,
                before: Vec::new(),
            })),
        }
    }

    /// Removes copies that a call has waited for, or that will never run again.
    pub(super) fn land(&mut self, function: FnId, words: &[u64], context: u64) {
        match function {
            FnId::cuStreamSynchronize => {
                self.all.retain(|flight| flight.stream != words[0] || flight.context != context);
            }
            FnId::cuEventSynchronize | FnId::cuEventQuery => {
                self.all.retain(|flight| !flight.before.contains(&words[0]))
            }
            FnId::cuCtxSynchronize => self.all.retain(|flight| flight.context != context),
            FnId::cuCtxDestroy_v2 => self.all.retain(|flight| flight.context != words[0]),
            _ => {}
        }
    }
}
