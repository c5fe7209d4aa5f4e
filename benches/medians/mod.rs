//! The medians of all operations on one device, as a table of text.

use std::fmt;
use std::time::Duration;

/// Path of an operation to the driver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Function pointers taken once.
    Pointer,
    /// The function table, read in each call.
    Table,
    /// The safe layer.
    Wrapper,
}

impl Variant {
    pub(crate) const ALL: [Self; 3] = [Self::Pointer, Self::Table, Self::Wrapper];
}

/// Timings of one operation: for each turn, nanoseconds per iteration of each variant, and the
/// number of iterations.
#[derive(Default)]
pub(crate) struct Samples(Vec<([f64; 3], u64)>);

impl Samples {
    /// The order of the next turn. It rotates, since the first after a wait finds another state of
    /// the driver.
    pub(crate) fn order(&self) -> [Variant; 3] {
        let mut order = Variant::ALL;
        order.rotate_left(self.0.len() % Variant::ALL.len());
        order
    }

    pub(crate) fn add(&mut self, times: [(Variant, Duration); 3], iterations: u64) {
        let mut turn = [0.0; 3];
        for (variant, elapsed) in times {
            turn[variant as usize] = elapsed.as_secs_f64() * 1e9 / iterations as f64;
        }
        self.0.push((turn, iterations));
    }

    /// The median over iterations of `value` of the turns. The few iterations of the warm-up weigh
    /// little.
    fn median(&self, value: impl Fn(&[f64; 3]) -> f64) -> Option<f64> {
        let mut samples: Vec<_> = self.0.iter().map(|(turn, iterations)| (value(turn), iterations)).collect();
        samples.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let half = samples.iter().map(|(_, iterations)| *iterations).sum::<u64>() / 2;
        let mut seen = 0;
        samples.into_iter().find_map(|(value, iterations)| {
            seen += iterations;
            (seen > half).then_some(value)
        })
    }
}

struct Row {
    operation: &'static str,
    /// The medians of the variants, then the median of the ratio of wrapper and pointer.
    medians: [f64; 4],
}

/// One device's rows.
pub(crate) struct Table {
    device: &'static str,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) const fn new(device: &'static str) -> Self {
        Self { device, rows: Vec::new() }
    }

    /// Adds a row for an operation; none, if a filter on the command line left it out.
    pub(crate) fn enter(&mut self, operation: &'static str, samples: &Samples) {
        let ratio = |[pointer, _, wrapper]: &[f64; 3]| wrapper / pointer;
        let of = |variant: Variant| samples.median(|turn| turn[variant as usize]);
        let [pointer, table, wrapper] = Variant::ALL.map(of);
        if let (Some(pointer), Some(table), Some(wrapper), Some(ratio)) =
            (pointer, table, wrapper, samples.median(ratio))
        {
            self.rows.push(Row { operation, medians: [pointer, table, wrapper, ratio] });
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = format!("{} (median ns)", self.device);
        writeln!(f, "| {device:<37} |   pointer |     table |   wrapper | wrapper - pointer | ratio |")?;
        writeln!(f, "|{:-<39}|----------:|----------:|----------:|------------------:|------:|", "")?;
        for Row { operation, medians: [pointer, table, wrapper, ratio] } in &self.rows {
            let added = wrapper - pointer;
            write!(f, "| {operation:<37} | {pointer:>9.1} | {table:>9.1} | {wrapper:>9.1} ")?;
            writeln!(f, "| {added:>17.1} | {ratio:>5.3} |")?;
        }
        Ok(())
    }
}
