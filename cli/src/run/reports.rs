//! The software device's reports about a program, and their meaning.

use std::fmt;
use std::fs;
use std::path::Path;

/// Kinds of reports with their words, and whether they make the run a failure.
pub(super) const KINDS: &[(&str, &str, &str, bool)] = &[
    ("fault", "fault of a kernel", "faults of kernels", true),
    ("unordered", "missing order between streams", "missing orders between streams", true),
    ("misuse", "misuse of the API", "misuses of the API", true),
    ("leaks", "context with leaks", "contexts with leaks", true),
    ("held", "process that held something to its end", "processes that held something to their end", false),
    ("settings", "setting that makes no sense", "settings that make no sense", true),
    ("leftout", "count of reports left out", "counts of reports left out", false),
    ("refused", "module or launch refused", "modules or launches refused", false),
    ("late", "launch that hardware may run late", "launches that hardware may run late", false),
    ("unsupported", "function not supported", "functions not supported", false),
];

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reports {
    /// Number of processes that called the driver.
    pub(super) users: usize,
    list: Vec<(String, String)>,
}

impl Reports {
    /// Reads the library's file; empty if it does not exist yet.
    pub(super) fn read(file: &Path) -> Self {
        Self::parse(&fs::read_to_string(file).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let mut reports = Self::default();
        for line in text.lines() {
            match (line.strip_prefix('\t'), line) {
                (Some(line), _) => {
                    if let Some((_, text)) = reports.list.last_mut() {
                        if !text.is_empty() {
                            text.push('\n');
                        }
                        text.push_str(line);
                    }
                }
                (None, "use") => reports.users += 1,
                (None, kind) => reports.list.push((kind.to_owned(), String::new())),
            }
        }
        reports
    }

    pub(super) fn texts<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        self.list.iter().filter(move |report| report.0 == kind).map(|report| &*report.1)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.list.iter().map(|(kind, text)| (&**kind, &**text))
    }

    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// True if the program made an error that it may not have noticed.
    pub(super) fn is_failure(&self) -> bool {
        self.list.iter().any(|(kind, _)| KINDS.iter().any(|known| known.0 == kind && known.3))
    }

    /// True if the program uses the CUDA runtime, which requests undocumented tables.
    pub(super) fn is_of_the_runtime(&self) -> bool {
        // NVRTC and tools also request tables, but do not need them.
        self.texts("unsupported").any(|text| {
            text.starts_with("cuGetExportTable") && text.contains("Programs of the CUDA runtime do not run")
        })
    }
}

/// The count of each kind: "2 faults of kernels, 1 module or launch refused"; "nothing" without
/// reports.
impl fmt::Display for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (kind, one, many, _) in KINDS {
            let count = self.list.iter().filter(|report| report.0 == *kind).count();
            if count > 0 {
                write!(f, "{separator}{count} {}", if count == 1 { one } else { many })?;
                separator = ", ";
            }
        }
        if separator.is_empty() { f.write_str("nothing") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_counted_by_kind() {
        let text = "use\nfault\n\tout of bounds\n\t  block 0\nrefused\n\tmodule\nfault\n\tx\nuse\n";
        let reports = Reports::parse(text);
        assert_eq!((reports.users, reports.count(), reports.is_failure()), (2, 3, true));
        assert_eq!(reports.list[0].1, "out of bounds\n  block 0");
        assert_eq!(reports.to_string(), "2 faults of kernels, 1 module or launch refused");
        assert!(!Reports::parse("refused\n\tm\n").is_failure());
        assert_eq!(Reports::parse("").to_string(), "nothing");
        let table = "unsupported\n\tcuGetExportTable answers CUDA_ERROR_NOT_SUPPORTED: ";
        let runtime = format!("{table}Programs of the CUDA runtime do not run (CuPy)\n");
        assert!(Reports::parse(&runtime).is_of_the_runtime());
        assert!(!Reports::parse(&format!("{table}there are no tables\n")).is_of_the_runtime());
    }
}
