//! Rows of bars on their lanes, so that simultaneous bars do not hide each other.

use crate::read::Recording;
use crate::work::{Piece, Work};

/// The maximum number of rows of a lane. Bars that do not fit share the last.
const MOST_ROWS: usize = 8;

/// Rows for bars, which are requested in the order of their beginnings.
#[derive(Default)]
pub(crate) struct Rows(Vec<u64>);

impl Rows {
    /// The row of the next bar.
    pub(crate) fn row(&mut self, start: u64, end: u64) -> usize {
        let free = self.0.iter().position(|&busy| busy <= start);
        let row = free.unwrap_or(self.0.len()).min(MOST_ROWS - 1);
        if row == self.0.len() {
            self.0.push(0);
        }
        self.0[row] = self.0[row].max(end);
        row
    }
}

/// The time in which the device has worked on a piece, as far as it is known: the measured time;
/// otherwise from its call until a wait showed that it was over; without a wait, until its call
/// returned.
pub(crate) fn span(recording: &Recording, piece: &Piece) -> (u64, u64) {
    let call = &recording.calls[piece.call];
    if let Some(measured) = piece.measured {
        return measured;
    }
    (call.start, piece.over.unwrap_or(call.end).max(call.end))
}

/// The pieces of a stream by their places, in the order of their bars.
pub(crate) fn pieces_of(recording: &Recording, work: &Work, stream: usize) -> Vec<usize> {
    let mut pieces: Vec<usize> =
        (0..work.pieces.len()).filter(|&piece| work.pieces[piece].stream == stream).collect();
    pieces.sort_by_key(|&piece| span(recording, &work.pieces[piece]).0);
    pieces
}

/// Certainty of the time of a piece of work.
pub(crate) const fn certainty(piece: &Piece) -> Certainty {
    match (piece.captured, piece.measured, piece.over) {
        (true, ..) => Certainty::Captured,
        (_, Some(_), _) => Certainty::Measured,
        (_, _, Some(_)) => Certainty::Within,
        (_, _, None) => Certainty::Unknown,
    }
}

/// Kinds of certainty of the time of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    Within,
    Unknown,
    Captured,
    Measured,
}

impl Certainty {
    pub(crate) const ALL: [Self; 4] = [Self::Within, Self::Unknown, Self::Captured, Self::Measured];

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Within => {
                "the device did it somewhere between being queued and being known to be over; when is not measured"
            }
            Self::Unknown => "nobody waited for it: it is not known when the device did it",
            Self::Captured => "captured into a graph, not done here",
            Self::Measured => "measured on the device with events, which count a few microseconds as its own",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_at_the_same_time_have_rows_of_their_own() {
        let mut rows = Rows::default();
        let given = [(0, 10), (2, 5), (5, 8), (10, 12)].map(|(start, end)| rows.row(start, end));
        assert_eq!(given, [0, 1, 1, 0]);
        let mut rows = Rows::default();
        let last = (0..20).map(|start| rows.row(start, 100)).last();
        assert_eq!(last, Some(MOST_ROWS - 1));
    }
}
