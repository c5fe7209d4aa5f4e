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
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pointer => "pointer",
            Self::Table => "table",
            Self::Wrapper => "wrapper",
        }
    }
}

/// Timing of one variant: nanoseconds per iteration, and number of iterations.
#[derive(Default)]
pub(crate) struct Samples(Vec<(f64, u64)>);

impl Samples {
    pub(crate) fn add(&mut self, elapsed: Duration, iterations: u64) {
        self.0.push((elapsed.as_secs_f64() * 1e9 / iterations as f64, iterations));
    }

    /// The median over iterations, in nanoseconds. The few of the warm-up weigh little in it.
    fn median(&self) -> Option<f64> {
        let mut samples = self.0.clone();
        samples.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let half = samples.iter().map(|(_, iterations)| iterations).sum::<u64>() / 2;
        let mut seen = 0;
        samples.into_iter().find_map(|(nanoseconds, iterations)| {
            seen += iterations;
            (seen > half).then_some(nanoseconds)
        })
    }
}

struct Row {
    operation: &'static str,
    pointer: Option<f64>,
    table: Option<f64>,
    wrapper: Option<f64>,
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

    /// Enters what was timed; nothing, if a filter on the command line left the operation out.
    pub(crate) fn enter(&mut self, operation: &'static str, variant: Variant, samples: &Samples) {
        if self.rows.last().is_none_or(|row| row.operation != operation) {
            self.rows.push(Row { operation, pointer: None, table: None, wrapper: None });
        }
        let Some(row) = self.rows.last_mut() else { return };
        let place = match variant {
            Variant::Pointer => &mut row.pointer,
            Variant::Table => &mut row.table,
            Variant::Wrapper => &mut row.wrapper,
        };
        *place = samples.median();
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
        writeln!(
            f,
            "| {:<24} |   pointer |     table |   wrapper | wrapper - pointer |",
            format!("{} (median ns)", self.device)
        )?;
        writeln!(f, "|{:-<26}|----------:|----------:|----------:|------------------:|", "")?;
        for Row { operation, pointer, table, wrapper } in &self.rows {
            let added = wrapper.zip(*pointer).map(|(wrapper, pointer)| wrapper - pointer);
            let (pointer, table, wrapper) = (number(*pointer), number(*table), number(*wrapper));
            let added = number(added);
            writeln!(f, "| {operation:<24} | {pointer:>9} | {table:>9} | {wrapper:>9} | {added:>17} |")?;
        }
        Ok(())
    }
}
