//! A client that does work at random, with a model of its tensors.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Waker};

use cuprum::region::Read;
use cuprum_test_server::{Client, Tensor, Value, Work};

use crate::executors;

/// Numbers of a tensor, in rows of 16.
pub(crate) const LEN: usize = 256;
const ROW: usize = 16;
/// Queues of a client: it records one of them.
pub(crate) const QUEUES: usize = 2;

/// Numbers at random, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }
}

/// Effect of a replay: each of these lines, of y, a and x.
type Lines = Vec<(Tensor, f32, Tensor)>;

/// A client, and the expected contents of its tensors. A tensor whose contents are unknown because
/// a call failed is forgotten.
pub(crate) struct Model {
    client: Client,
    dice: Dice,
    /// The client's first queue, and the next number.
    first: usize,
    next: Tensor,
    tensors: HashMap<Tensor, Vec<f32>>,
    replays: HashMap<u64, Lines>,
    weights: (Tensor, Vec<f32>),
    /// True if work may be refused.
    bears_failures: bool,
    /// Values that were compared, and pieces of work that were refused.
    pub(crate) compared: usize,
    pub(crate) refused: usize,
    /// Reads that are not waited for before the server has ended.
    pub(crate) late: Vec<(Read, Vec<f32>)>,
}

fn saxpy(y: &mut [f32], a: f32, x: &[f32]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = a.mul_add(*x, *y));
}

pub(crate) fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

impl Model {
    pub(crate) fn new(
        client: Client,
        number: usize,
        weights: (Tensor, Vec<f32>),
        seed: u64,
        bears_failures: bool,
    ) -> Self {
        Self {
            client,
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + number as u64 + 1),
            first: number * QUEUES,
            next: (number as u64 + 1) << 32,
            tensors: HashMap::new(),
            replays: HashMap::new(),
            weights,
            bears_failures,
            compared: 0,
            refused: 0,
            late: Vec::new(),
        }
    }

    fn queue(&mut self) -> usize {
        self.first + self.dice.roll(QUEUES)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// True if the work was queued. Otherwise it may have been queued all the same.
    fn work(&mut self, queue: usize, work: Work) -> bool {
        let text = format!("{work:?}");
        let done = self.client.work(queue, work);
        assert!(done.is_ok() || self.bears_failures, "{text}: {}", done.unwrap_err());
        self.refused += usize::from(done.is_err());
        done.is_ok()
    }

    fn any(&mut self) -> Tensor {
        while self.tensors.len() < 4 {
            self.create();
        }
        let mut tensors: Vec<Tensor> = self.tensors.keys().copied().collect();
        tensors.sort_unstable();
        tensors[self.dice.roll(tensors.len())]
    }

    fn create(&mut self) {
        let (queue, tensor) = (self.queue(), self.number());
        let start = self.dice.roll(1000) as f32;
        let values: Vec<f32> = (0..LEN).map(|at| start + at as f32).collect();
        if self.work(queue, Work::Create(tensor, bytes_of(&values))) {
            self.tensors.insert(tensor, values);
        }
    }

    fn launch(&mut self, queue: usize, y: Tensor, a: f32, x: Tensor) -> bool {
        let values = [Value::Number(LEN as u32), Value::Float(a), Value::Tensor(x), Value::Tensor(y)];
        let kernel = ["saxpy", "saxpy_grid_stride"][self.dice.roll(2)];
        let done = self.work(queue, Work::Launch(kernel, LEN, values.to_vec()));
        if self.dice.roll(8) == 0 {
            self.work(queue, Work::Evict(kernel));
        }
        done
    }

    /// The values of a tensor, or the weights.
    fn values(&self, tensor: Tensor) -> &Vec<f32> {
        if tensor == self.weights.0 { &self.weights.1 } else { &self.tensors[&tensor] }
    }

    /// Changes a tensor in the model if that was done, and forgets it otherwise.
    fn change(&mut self, tensor: Tensor, done: bool, change: impl FnOnce(&mut Vec<f32>)) {
        if !done {
            self.tensors.remove(&tensor);
        } else if let Some(values) = self.tensors.get_mut(&tensor) {
            change(values);
        }
    }

    fn compute(&mut self) {
        let (queue, y) = (self.queue(), self.any());
        let x = if self.dice.roll(3) == 0 { self.weights.0 } else { self.any() };
        if x != y {
            let (done, source) = (self.launch(queue, y, 0.5, x), self.values(x).clone());
            self.change(y, done, |y| saxpy(y, 0.5, &source));
        }
    }

    fn copy(&mut self) {
        let (queue, to, from) = (self.queue(), self.any(), self.any());
        if to == from {
            return;
        }
        let source = self.tensors[&from].clone();
        if self.dice.roll(2) == 0 {
            let done = self.work(queue, Work::Copy(to, from));
            return self.change(to, done, |to| to.clone_from(&source));
        }
        let pitch = ROW * size_of::<f32>();
        let done = self.work(queue, Work::CopyRows(to, from, [pitch; 2], (16, LEN / ROW)));
        self.change(to, done, |to| {
            // Four columns of all rows.
            for row in (0..LEN).step_by(ROW) {
                to[row..row + 4].copy_from_slice(&source[row..row + 4]);
            }
        });
    }

    fn fill(&mut self) {
        let (queue, tensor, value) = (self.queue(), self.any(), self.dice.roll(100) as f32);
        let done = self.work(queue, Work::Fill(tensor, value.to_bits()));
        self.change(tensor, done, |values| values.fill(value));
    }

    /// Begins to read a tensor, and does one of five things with the read.
    fn read(&mut self) {
        let (queue, tensor) = (self.queue(), self.any());
        let read = self.client.read(queue, tensor);
        assert!(read.is_ok() || self.bears_failures, "{:?}", read.unwrap_err());
        let Ok(mut read) = read else { return self.refused += 1 };
        let expected = self.tensors[&tensor].clone();
        let pinned = match self.dice.roll(5) {
            0 => return drop(read),
            1 => {
                let mut task = Context::from_waker(Waker::noop());
                let polled = std::future::Future::poll(Pin::new(&mut read), &mut task);
                return drop((read, polled));
            }
            2 if self.late.len() < 4 => return self.late.push((read, expected)),
            3 => read.wait(),
            _ => executors::block_on(read),
        };
        assert!(pinned.is_ok() || self.bears_failures, "{:?}", pinned.unwrap_err());
        let Ok(pinned) = pinned else { return self.refused += 1 };
        assert_eq!(pinned.elements::<f32>().unwrap(), expected);
        self.compared += LEN;
    }

    /// Records some lines, with a temporary that is dropped before the end.
    fn record(&mut self) {
        let (queue, number) = (self.first, self.number());
        let tensors: Vec<Tensor> = (0..1 + self.dice.roll(3)).map(|_| self.any()).collect();
        if !self.work(queue, Work::Begin) {
            return;
        }
        let (mut lines, mut done) = (Vec::new(), true);
        for &y in &tensors {
            done &= self.launch(queue, y, 0.25, self.weights.0);
            lines.push((y, 0.25, self.weights.0));
        }
        let (temporary, y) = (self.number(), tensors[0]);
        done = done
            && self.work(queue, Work::Empty(temporary, LEN * size_of::<f32>()))
            && self.work(queue, Work::Copy(temporary, self.weights.0))
            && self.launch(queue, y, 2.0, temporary)
            && self.work(queue, Work::Free(temporary));
        lines.push((y, 2.0, self.weights.0));
        if self.work(queue, Work::End(number)) && done {
            self.replays.insert(number, lines);
        }
    }

    fn replay(&mut self) {
        let mut numbers: Vec<u64> = self.replays.keys().copied().collect();
        numbers.sort_unstable();
        let Some(&number) = numbers.get(self.dice.roll(numbers.len().max(1))) else { return };
        let queue = self.queue();
        let done = self.work(queue, Work::Replay(number));
        for (y, a, x) in self.replays[&number].clone() {
            let source = self.values(x).clone();
            // One that was freed is kept by the graph alone.
            self.change(y, done, |y| saxpy(y, a, &source));
        }
        if self.dice.roll(4) == 0 {
            self.work(queue, Work::Forget(number));
            self.replays.remove(&number);
        }
    }

    /// Does so many pieces of work.
    pub(crate) fn run(&mut self, commands: usize) {
        for _ in 0..commands {
            match self.dice.roll(16) {
                0..=1 => self.create(),
                2..=5 => self.compute(),
                6..=7 => self.copy(),
                8 => self.fill(),
                9..=11 => self.read(),
                12 => self.record(),
                13..=14 => self.replay(),
                _ => {
                    let (queue, tensor) = (self.queue(), self.any());
                    self.work(queue, Work::Free(tensor));
                    self.tensors.remove(&tensor);
                }
            }
        }
    }
}
