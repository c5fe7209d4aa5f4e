//! A case of a kernel: arguments, and the expected results.

/// Expected contents of a buffer after the launch.
#[derive(Debug, Clone)]
pub enum Expected {
    /// Exactly these bytes.
    Exact(Vec<u8>),
    /// f32 elements, each within its own absolute tolerance of the value.
    Near(Vec<Bounded>),
}

/// A value and the tolerance of a result.
#[derive(Debug, Clone, Copy)]
pub struct Bounded {
    /// The result in f64.
    pub value: f64,
    /// The largest difference that rounding and reordering can explain.
    pub tolerance: f64,
}

/// One kernel argument, in the order of the kernel's parameters.
#[derive(Debug, Clone)]
pub enum Argument {
    /// Passed by value: the bytes of the parameter.
    Value(Vec<u8>),
    /// A device buffer with this content, only read by the kernel.
    Input(Vec<u8>),
    /// A device buffer that holds the bytes before the launch and the expectation after it.
    Output {
        /// Content before the launch.
        before: Vec<u8>,
        /// Content after it.
        after: Expected,
    },
}

/// One launch with its inputs and its expected output.
#[derive(Debug, Clone)]
pub struct Case {
    /// Unique, and the name of its record among the goldens.
    pub name: &'static str,
    /// The module: committed PTX for compute_75.
    pub ptx: &'static str,
    /// The same source in the PTX dialect of compute_100, where there is a copy.
    pub ptx_dialect_100: Option<&'static str>,
    /// Name of the entry.
    pub kernel: &'static str,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// Module globals to write before the launch.
    pub globals: Vec<(&'static str, Vec<u8>)>,
    /// The arguments.
    pub arguments: Vec<Argument>,
}

impl Case {
    /// The outputs' expectations, in the order of the parameters.
    pub fn expected(&self) -> impl Iterator<Item = &Expected> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Output { after, .. } => Some(after),
            Argument::Value(_) | Argument::Input(_) => None,
        })
    }

    /// FNV-1a over all inputs of the launch, to show that a golden was recorded for the same
    /// inputs.
    pub fn input_hash(&self) -> u64 {
        let globals = self.globals.iter().map(|(_, bytes)| bytes);
        let arguments = self.arguments.iter().map(|argument| match argument {
            Argument::Value(bytes) | Argument::Input(bytes) => bytes,
            Argument::Output { before, .. } => before,
        });
        globals.chain(arguments).flatten().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

impl Expected {
    /// Size of the buffer.
    pub fn byte_len(&self) -> usize {
        match self {
            Self::Exact(bytes) => bytes.len(),
            Self::Near(values) => values.len() * size_of::<f32>(),
        }
    }

    /// Compares a buffer's content; the error names the first element that is off.
    pub fn check(&self, actual: &[u8]) -> Result<(), String> {
        if actual.len() != self.byte_len() {
            return Err(format!("{} bytes instead of {}", actual.len(), self.byte_len()));
        }
        match self {
            Self::Exact(bytes) => match bytes.iter().zip(actual).position(|(want, got)| want != got) {
                None => Ok(()),
                Some(at) => {
                    let word = at / 4 * 4..(at / 4 * 4 + 4).min(bytes.len());
                    Err(format!(
                        "byte {at}: {:02x?} instead of {:02x?} in the word around it",
                        &actual[word.clone()],
                        &bytes[word]
                    ))
                }
            },
            Self::Near(values) => {
                for (index, (wanted, got)) in values.iter().zip(actual.chunks_exact(4)).enumerate() {
                    let got = f64::from(f32::from_le_bytes([got[0], got[1], got[2], got[3]]));
                    let Bounded { value, tolerance } = *wanted;
                    // A NaN is not near.
                    let near = (got - value).abs() <= tolerance;
                    if !near {
                        return Err(format!("element {index}: {got} instead of {value} ± {tolerance}"));
                    }
                }
                Ok(())
            }
        }
    }
}
