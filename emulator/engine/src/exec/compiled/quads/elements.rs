//! The elements of a quad's accesses: consecutive bytes of each lane in memory, and vectors of one
//! element of all lanes in registers.

use super::focus::Focus;
use super::places::Spread;
use super::sizes::QUAD;
use crate::exec::compiled::backend::{I32, I64, Kind, Val, int_type};
use crate::exec::compiled::memory;
use crate::exec::compiled::vectors::vector_of;
use crate::exec::compiled::writer::Writer;
use crate::program::memory::Access;
use crate::semantics::{Register, Width};

/// The size of a vector.
const ROW: u32 = 16;

/// The way in which elements move as vectors.
enum Form {
    /// One element of a word.
    Word,
    /// One element of two words.
    Pair,
    /// One element of this many bytes, fewer than a word.
    Part(u32),
    /// Elements that fill words.
    Words,
    /// Two elements of two words.
    Pairs,
    /// Each lane for itself.
    Apart,
}

impl Form {
    fn of(access: &Access, spread: &Spread) -> Form {
        let wide = access.width == Width::Double;
        let next = matches!(spread, Spread::Next(_));
        match (access.bytes, access.registers.len()) {
            _ if memory::is_strong(access) => Form::Apart,
            (4, 1) if next && !wide => Form::Word,
            (8, 1) if next => Form::Pair,
            (8, 2) => Form::Pairs,
            (bytes @ (1 | 2), 1) if next && !wide => Form::Part(bytes),
            (1 | 2 | 4, 2..) if !wide && access.total_bytes() % 4 == 0 => Form::Words,
            _ => Form::Apart,
        }
    }
}

impl Writer<'_, '_> {
    /// Loads at these positions. Returns the vectors of all registers: of each, all quads, two for
    /// each quad if it is wide.
    pub(super) fn load_spread(&mut self, access: &Access, spread: &Spread) -> Vec<Val> {
        let quads: Vec<Vec<Val>> =
            (0..self.quad_count()).map(|quad| self.load_lanes(access, spread, quad * QUAD)).collect();
        let halves = if access.width == Width::Double { 2 } else { 1 };
        let of_register = |index: usize| quads.iter().flat_map(move |quad| &quad[index * halves..][..halves]);
        (0..access.registers.len()).flat_map(of_register).copied().collect()
    }

    /// The same for the quad that begins with a lane.
    fn load_lanes(&mut self, access: &Access, spread: &Spread, first: usize) -> Vec<Val> {
        let own: Vec<_> = access.registers.iter().map(|register| self.own_type(*register)).collect();
        let (at, start) = spread.of(first, access.total_bytes());
        match Form::of(access, spread) {
            Form::Word => vec![self.e.load(vector_of(own[0]), Kind::User, at, start)],
            Form::Pair => [0, ROW]
                .map(|offset| self.e.load(vector_of(own[0]), Kind::User, at, start + offset as i32))
                .to_vec(),
            Form::Part(bytes) => {
                let packed = self.e.load(int_type(4 * bytes), Kind::User, at, start);
                let value = self.e.unpack(packed, bytes, access.signed);
                vec![self.convert(value, own[0])]
            }
            Form::Words => {
                let words = self.load_words(access, spread, first);
                let element = |(index, own)| {
                    let value = self.element(&words, access, index);
                    self.convert(value, own)
                };
                own.into_iter().enumerate().map(element).collect()
            }
            Form::Pairs => {
                let rows = lanes_from(first).map(|lane| {
                    let (at, offset) = spread.of(lane, ROW);
                    self.e.load(vector_of(I64), Kind::User, at, offset)
                });
                let [low, high] = [[rows[0], rows[1]], [rows[2], rows[3]]].map(|rows| self.e.crossed(rows));
                let values = [[low[0], high[0]], [low[1], high[1]]].into_iter().zip(own);
                values.flat_map(|(halves, own)| halves.map(|half| self.convert(half, own))).collect()
            }
            Form::Apart => self.load_apart(access, spread, first),
        }
    }

    fn load_apart(&mut self, access: &Access, spread: &Spread, first: usize) -> Vec<Val> {
        let mut values = Vec::new();
        for (index, register) in access.registers.iter().enumerate() {
            let lanes = lanes_from(first).map(|lane| {
                let value = memory::load_element(self, access, index, spread.of(lane, access.total_bytes()));
                self.convert(value, self.own_type(*register))
            });
            if access.width == Width::Double {
                values.extend([self.e.join(&lanes[..2]), self.e.join(&lanes[2..])]);
            } else {
                values.push(self.e.join(&lanes));
            }
        }
        values
    }

    /// Returns a vector for each word of a lane's access.
    fn load_words(&mut self, access: &Access, spread: &Spread, first: usize) -> Vec<Val> {
        let total = access.total_bytes();
        let load = |w: &mut Self, ty, lane, offset: u32| {
            let (at, start) = spread.of(lane, total);
            w.e.load(ty, Kind::User, at, start + offset as i32)
        };
        let next = matches!(spread, Spread::Next(_));
        match total {
            4 if next => vec![load(self, vector_of(I32), first, 0)],
            4 => {
                let lanes = lanes_from(first).map(|lane| load(self, I32, lane, 0));
                vec![self.e.join(&lanes)]
            }
            8 => {
                let halves = [first, first + 2].map(|lane| {
                    if next {
                        return load(self, vector_of(I64), lane, 0);
                    }
                    let lanes = [lane, lane + 1].map(|lane| load(self, I64, lane, 0));
                    self.e.join(&lanes)
                });
                vec![self.e.join_words(halves), self.e.join_upper(halves)]
            }
            _ => {
                let mut words = Vec::new();
                for offset in (0..total).step_by(ROW as usize) {
                    let rows = lanes_from(first).map(|lane| load(self, vector_of(I32), lane, offset));
                    words.extend(self.e.transposed(rows));
                }
                words
            }
        }
    }

    /// Returns an element of each lane from the words of all.
    fn element(&mut self, words: &[Val], access: &Access, index: usize) -> Val {
        let (at, bits) = (index as u32 * access.bytes, access.bytes * 8);
        self.e.field(words[at as usize / 4], (at % 4 * 8, bits), access.signed)
    }

    /// Stores at these positions.
    pub(super) fn store_spread(&mut self, access: &Access, spread: &Spread) {
        (0..self.quad_count()).for_each(|quad| self.store_lanes(access, spread, quad));
    }

    /// The same for a quad.
    fn store_lanes(&mut self, access: &Access, spread: &Spread, quad: usize) {
        let (whole, halves) = (Focus::Whole(quad), [2 * quad, 2 * quad + 1]);
        let (at, start) = spread.of(quad * QUAD, access.total_bytes());
        match Form::of(access, spread) {
            Form::Word => {
                let value = self.stored(access.registers[0], whole);
                self.e.store(Kind::User, value, at, start);
            }
            Form::Pair => {
                for (half, offset) in halves.into_iter().zip([0, ROW as i32]) {
                    let value = self.stored(access.registers[0], Focus::Half(half));
                    self.e.store(Kind::User, value, at, start + offset);
                }
            }
            Form::Part(bytes) => {
                let value = self.stored(access.registers[0], whole);
                let packed = self.e.pack(value, bytes);
                self.e.store(Kind::User, packed, at, start);
            }
            Form::Words => self.store_words(access, spread, quad),
            Form::Pairs => {
                for half in halves {
                    let registers = [access.registers[0], access.registers[1]];
                    let values = registers.map(|register| self.stored(register, Focus::Half(half)));
                    for (row, lane) in self.e.crossed(values).into_iter().zip([2 * half, 2 * half + 1]) {
                        let (at, offset) = spread.of(lane, ROW);
                        self.e.store(Kind::User, row, at, offset);
                    }
                }
            }
            Form::Apart => {
                for lane in lanes_from(quad * QUAD) {
                    let place = spread.of(lane, access.total_bytes());
                    self.with_focus(Focus::Lane(lane), |w| memory::store_all(w, access, place));
                }
            }
        }
    }

    /// Returns the vector of a register in a focus.
    fn stored(&mut self, register: Register, focus: Focus) -> Val {
        let value = self.with_focus(focus, |w| w.get(register, w.own_type(register)));
        if self.e.is_vector(value) { value } else { self.e.splat(value) }
    }

    fn store_words(&mut self, access: &Access, spread: &Spread, quad: usize) {
        let (total, first) = (access.total_bytes(), quad * QUAD);
        let words = self.words(access, quad);
        let store = |w: &mut Self, value, lane, offset: u32| {
            let (at, start) = spread.of(lane, total);
            w.e.store(Kind::User, value, at, start + offset as i32);
        };
        let next = matches!(spread, Spread::Next(_));
        match words[..] {
            [word] if next => store(self, word, first, 0),
            [word] => {
                for lane in lanes_from(first) {
                    let value = self.e.lane(word, lane % QUAD);
                    store(self, value, lane, 0);
                }
            }
            [low, high] => {
                for (half, value) in self.e.interleaved([low, high]).into_iter().enumerate() {
                    if next {
                        store(self, value, first + 2 * half, 0);
                        continue;
                    }
                    let value = self.e.bitcast(vector_of(I64), value);
                    for lane in [0, 1] {
                        let own = self.e.lane(value, lane);
                        store(self, own, first + 2 * half + lane, 0);
                    }
                }
            }
            _ => {
                let mut rows = Vec::new();
                for words in words.chunks_exact(4) {
                    rows.push(self.e.transposed([words[0], words[1], words[2], words[3]]));
                }
                // Lane after lane, because the next may store to the same place.
                for lane in lanes_from(first) {
                    for (index, rows) in rows.iter().enumerate() {
                        store(self, rows[lane % QUAD], lane, ROW * index as u32);
                    }
                }
            }
        }
    }

    /// Returns a vector for each word of a lane's access, from the elements in registers.
    fn words(&mut self, access: &Access, quad: usize) -> Vec<Val> {
        let bits = access.bytes * 8;
        let mut words: Vec<Val> = Vec::new();
        for (index, register) in access.registers.iter().enumerate() {
            let value = self.stored(*register, Focus::Whole(quad));
            let value = self.convert(value, I32);
            let start = index as u32 * bits % 32;
            let rest = 32 - bits - start;
            // Bits above the element fall off, or are masked.
            let value = if rest == 0 { value } else { self.e.lowest(value, bits) };
            let amount = self.e.int(I32, start.into());
            let value = if start == 0 { value } else { self.e.ishl(value, amount) };
            match words.last_mut() {
                Some(word) if start != 0 => *word = self.e.bor(*word, value),
                _ => words.push(value),
            }
        }
        words
    }
}

/// Returns the lanes of the quad that begins with a lane.
fn lanes_from(first: usize) -> [usize; QUAD] {
    std::array::from_fn(|lane| first + lane)
}
