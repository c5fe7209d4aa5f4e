//! Bars on lanes: which row of its lane each has, so that those at the same time do not hide each other.

use crate::work::{Piece, Work};
use crate::read::Recording;

/// The most rows of a lane. What does not fit shares the last.
const MOST_ROWS: usize = 8;

/// Rows for bars, which are asked for in the order of their beginnings.
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

/// The time in which the device has worked on a piece, as far as it is known: from when it was queued until it was known
/// to be over, or, if nobody waited for it, until its call returned.
pub(crate) fn span(recording: &Recording, piece: &Piece) -> (u64, u64) {
    let call = &recording.calls[piece.call];
    (call.start, piece.over.unwrap_or(call.end).max(call.end))
}

/// The pieces of a stream by their places, in the order in which they were queued.
pub(crate) fn pieces_of(recording: &Recording, work: &Work, stream: usize) -> Vec<usize> {
    let mut pieces: Vec<usize> = (0..work.pieces.len()).filter(|&piece| work.pieces[piece].stream == stream).collect();
    pieces.sort_by_key(|&piece| recording.calls[work.pieces[piece].call].start);
    pieces
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
