//! Target architectures of a compilation.

use std::fmt;
use std::str::FromStr;

use cuprum::AnyError;
use cuprum::device::ComputeCapability;

use super::error::CompileError;
use super::output::Output;

/// An architecture to compile for, such as 8.0, or 9.0 with the suffix `a`.
///
/// # Example
/// ```
/// use cuprum_compile::Architecture;
///
/// let hopper = Architecture::new(9, 0);
/// assert_eq!((hopper.to_string(), hopper.specific().to_string()), ("90".to_owned(), "90a".to_owned()));
/// assert_eq!("sm_90a".parse(), Ok(hopper.specific()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Architecture {
    capability: ComputeCapability,
    suffix: Option<char>,
}

/// Text that is not an architecture.
///
/// # Example
/// ```
/// use cuprum_compile::Architecture;
///
/// let error = "hopper".parse::<Architecture>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`hopper` is no architecture: it should be as `compute_80`, `sm_90a` or `80`",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchitectureError(String);

impl fmt::Display for ArchitectureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no architecture: it should be as `compute_80`, `sm_90a` or `80`", self.0)
    }
}

impl std::error::Error for ArchitectureError {}

impl From<ArchitectureError> for AnyError {
    fn from(error: ArchitectureError) -> Self {
        Self::other(error)
    }
}

impl Architecture {
    /// The architecture of a compute capability. Its PTX runs on all newer devices.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { capability: ComputeCapability { major, minor }, suffix: None }
    }

    /// Adds all features of this device (`sm_90a`): the code runs on no other.
    #[must_use]
    pub const fn specific(self) -> Self {
        Self { suffix: Some('a'), ..self }
    }

    /// Adds all features of this family (`sm_100f`): the code runs on no other family. CUDA 12.9.
    #[must_use]
    pub const fn family(self) -> Self {
        Self { suffix: Some('f'), ..self }
    }

    /// The compute capability.
    pub const fn capability(self) -> ComputeCapability {
        self.capability
    }

    /// The compiler's name for it and an output: `sm_90` for machine code, otherwise `compute_90`.
    pub(super) fn option(self, output: Output) -> String {
        format!("{}_{self}", if output == Output::Cubin { "sm" } else { "compute" })
    }
}

impl From<ComputeCapability> for Architecture {
    fn from(capability: ComputeCapability) -> Self {
        Self { capability, suffix: None }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.capability.major, self.capability.minor)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl FromStr for Architecture {
    type Err = ArchitectureError;

    fn from_str(text: &str) -> Result<Self, ArchitectureError> {
        let error = || ArchitectureError(text.to_owned());
        let number = text.strip_prefix("compute_").or_else(|| text.strip_prefix("sm_")).unwrap_or(text);
        let (digits, suffix) = match number.strip_suffix(['a', 'f']) {
            Some(digits) => (digits, number.chars().last()),
            None => (number, None),
        };
        if digits.len() < 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(error());
        }
        let (major, minor) = digits.split_at(digits.len() - 1);
        let part = |digits: &str| digits.parse().map_err(|_| error());
        Ok(Self { capability: ComputeCapability { major: part(major)?, minor: part(minor)? }, suffix })
    }
}

/// The compute capabilities of numbers such as 90.
pub(super) fn capabilities(numbers: &[i32]) -> Vec<ComputeCapability> {
    let numbers = numbers.iter().filter_map(|&number| u32::try_from(number).ok());
    numbers.map(|number| ComputeCapability { major: number / 10, minor: number % 10 }).collect()
}

/// Devices whose machine code is incompatible with all other devices, in both directions.
const ALONE: &[ComputeCapability] = &[
    ComputeCapability { major: 5, minor: 3 },
    ComputeCapability { major: 6, minor: 2 },
    ComputeCapability { major: 7, minor: 2 },
    ComputeCapability { major: 8, minor: 7 },
    ComputeCapability { major: 10, minor: 1 },
];

/// The best of a compiler's architectures for a device.
///
/// PTX of older architectures runs; machine code only of the same major and no newer minor version.
pub(super) fn best(
    device: ComputeCapability,
    known: &[ComputeCapability],
    output: Output,
    compiler: &str,
) -> Result<Architecture, CompileError> {
    let runs = |one: &&ComputeCapability| match output {
        Output::Cubin => {
            let related = one.major == device.major && **one <= device;
            **one == device || related && !ALONE.contains(one) && !ALONE.contains(&device)
        }
        _ => **one <= device,
    };
    known.iter().filter(runs).max().map(|one| Architecture::from(*one)).ok_or_else(|| {
        CompileError::NoArchitecture { device, output, known: known.to_vec(), compiler: compiler.to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(numbers: &[u32]) -> Vec<ComputeCapability> {
        numbers.iter().map(|n| ComputeCapability { major: n / 10, minor: n % 10 }).collect()
    }

    fn chosen(device: u32, known: &[u32], output: Output) -> Option<String> {
        let device = capabilities(&[device])[0];
        best(device, &capabilities(known), output, "").ok().map(|one| one.option(output))
    }

    #[test]
    fn text_names_architectures() {
        let read = |text: &str| text.parse::<Architecture>().map(|one| one.to_string());
        for (text, name) in [("compute_80", "80"), ("sm_90a", "90a"), ("103f", "103f"), ("120", "120")] {
            assert_eq!(read(text).as_deref(), Ok(name));
        }
        for text in ["", "8", "sm_", "compute_9x", "sm_90b", "sm_90aa", "sm_99999999999"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(Architecture::new(10, 3).capability(), ComputeCapability { major: 10, minor: 3 });
    }

    #[test]
    fn ptx_is_for_the_newest_that_the_device_runs() {
        let known = [50, 60, 75, 80, 87];
        assert_eq!(chosen(90, &known, Output::Ptx).as_deref(), Some("compute_87"));
        assert_eq!(chosen(80, &known, Output::Ptx).as_deref(), Some("compute_80"));
        assert_eq!(chosen(86, &known, Output::LtoIr).as_deref(), Some("compute_80"));
        assert_eq!(chosen(35, &known, Output::Ptx), None);
    }

    #[test]
    fn machine_code_is_for_the_device_or_an_older_one_of_its_line() {
        let known = [75, 80, 86, 87, 89, 90, 100];
        assert_eq!(chosen(90, &known, Output::Cubin).as_deref(), Some("sm_90"));
        assert_eq!(chosen(103, &known, Output::Cubin).as_deref(), Some("sm_100"));
        assert_eq!(
            chosen(88, &known, Output::Cubin).as_deref(),
            Some("sm_86"),
            "never sm_87, a line of its own"
        );
        assert_eq!(chosen(87, &known, Output::Cubin).as_deref(), Some("sm_87"));
        assert_eq!(chosen(120, &known, Output::Cubin), None);
    }
}
