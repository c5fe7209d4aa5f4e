//! The constants of the format: predefined distributions, and the meaning of length codes.

pub(super) struct Distribution {
    pub(super) accuracy: u32,
    pub(super) most_accuracy: u32,
    pub(super) probabilities: &'static [i16],
}

/// Literal lengths, offsets, match lengths.
pub(super) const DEFAULTS: [Distribution; 3] = [
    Distribution {
        accuracy: 6,
        most_accuracy: 9,
        probabilities: &[
            4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
            -1, -1, -1, -1,
        ],
    },
    Distribution {
        accuracy: 5,
        most_accuracy: 8,
        probabilities: &[
            1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
        ],
    },
    Distribution {
        accuracy: 6,
        most_accuracy: 9,
        probabilities: &[
            1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
        ],
    },
];

/// The codes that have extra bits: first value and number of extra bits.
pub(super) const LENGTH_CODES: [(usize, u32); 20] = [
    (16, 1),
    (18, 1),
    (20, 1),
    (22, 1),
    (24, 2),
    (28, 2),
    (32, 3),
    (40, 3),
    (48, 4),
    (64, 6),
    (128, 7),
    (256, 8),
    (512, 9),
    (1024, 10),
    (2048, 11),
    (4096, 12),
    (8192, 13),
    (16384, 14),
    (32768, 15),
    (65536, 16),
];
pub(super) const MATCH_CODES: [(usize, u32); 21] = [
    (35, 1),
    (37, 1),
    (39, 1),
    (41, 1),
    (43, 2),
    (47, 2),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 5),
    (131, 7),
    (259, 8),
    (515, 9),
    (1027, 10),
    (2051, 11),
    (4099, 12),
    (8195, 13),
    (16387, 14),
    (32771, 15),
    (65539, 16),
];

/// Returns the first value of a code and its extra bits. A low code is its own value, plus `least`.
pub(super) fn code(codes: &[(usize, u32)], least: usize, symbol: u8) -> Option<(usize, u32)> {
    let symbol = usize::from(symbol) + least;
    let plain = codes.first()?.0;
    match symbol.checked_sub(plain) {
        None => Some((symbol, 0)),
        Some(index) => codes.get(index).copied(),
    }
}
