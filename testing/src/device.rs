//! A minimal device for tests of the engine alone: memory, a loaded program, launches.

use cuprum_engine::exec::touched::{Manner, Touched};
use cuprum_engine::exec::{ExecOptions, Execution, Hooks, LaunchArgs, LaunchStats, launch};
use cuprum_engine::memory::{Memory, Region, RegionKind, Request};
use cuprum_engine::report::Fault;
use cuprum_ptx::program::{
    FUNCTION_STRIDE, GlobalSpace, Kernel, LoadOptions, Program, PtxError, RelocationTarget,
};
use std::sync::{Arc, Mutex};

use crate::kernels::{Argument, Case};

/// A type whose values can be stored in device memory.
pub trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for i8 {}
impl Plain for u16 {}
impl Plain for i16 {}
impl Plain for u32 {}
impl Plain for i32 {}
impl Plain for u64 {}
impl Plain for i64 {}
impl Plain for f32 {}
impl Plain for f64 {}

fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain numbers have no padding, and any byte may be read.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), std::mem::size_of_val(values)) }
}

pub struct Device {
    pub memory: Memory,
    pub program: Program,
    pub globals: Vec<u64>,
    pub options: ExecOptions,
    pub output: Mutex<String>,
    /// True if launches record the bytes that they access.
    pub notes: bool,
    /// The bytes that the last launch accessed.
    pub noted: Mutex<Noted>,
    /// If there is a list, launches continue after the finding of a check, and add its report.
    pub findings: Option<Mutex<Vec<String>>>,
}

/// Bits of accessed bytes: allocation, kind of access, number of the page, words.
pub type Noted = Vec<(u64, Manner, u64, Vec<u64>)>;

pub struct Buffer {
    region: Region,
}

impl Buffer {
    pub fn address(&self) -> u64 {
        self.region.base
    }

    pub fn read<T: Plain>(&self) -> Vec<T> {
        let count = self.region.len as usize / size_of::<T>();
        let first = self.region.host.cast::<T>();
        // SAFETY: the region owns that many values, no kernel runs, and reads may be unaligned.
        (0..count).map(|i| unsafe { first.wrapping_add(i).read_unaligned() }).collect()
    }

    pub fn write<T: Plain>(&self, values: &[T]) {
        let bytes = bytes_of(values);
        assert!(bytes.len() as u64 <= self.region.len);
        // SAFETY: the region is at least as long as the values, and no kernel runs.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.region.host, bytes.len()) };
    }
}

/// Consecutive kernel arguments with their natural alignment.
#[derive(Default, Clone)]
pub struct Args(Vec<u8>);

impl Args {
    pub fn push<T: Plain>(mut self, value: T) -> Self {
        self.0.resize(self.0.len().next_multiple_of(size_of::<T>()), 0);
        self.0.extend_from_slice(bytes_of(&[value]));
        self
    }

    pub fn bytes_at(mut self, offset: usize, bytes: &[u8]) -> Self {
        let end = self.0.len().max(offset + bytes.len());
        self.0.resize(end, 0);
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub fn buffer(self, buffer: &Buffer) -> Self {
        self.push(buffer.address())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

struct Output<'a>(&'a Device, Option<Touched>);

impl Hooks for Output<'_> {
    fn print(&self, text: &str) {
        self.0.output.lock().unwrap().push_str(text);
    }
    fn malloc(&self, _: u64) -> u64 {
        0
    }
    fn free(&self, _: u64) -> bool {
        false
    }
    fn touched(&self) -> Option<&Touched> {
        self.1.as_ref()
    }
    fn goes_on(&self, finding: &Fault) -> bool {
        let findings = self.0.findings.as_ref();
        findings.is_some_and(|findings| {
            findings.lock().unwrap().push(finding.to_string());
            true
        })
    }
}

impl Device {
    pub fn load(ptx: &str) -> Result<Device, PtxError> {
        Self::load_with(ptx, false)
    }

    /// Loads a program on memory that records its written bytes.
    pub fn load_tracked(ptx: &str) -> Result<Device, PtxError> {
        Self::load_with(ptx, true)
    }

    /// Loads a program whose launches record the bytes that they access.
    pub fn load_noting(ptx: &str) -> Result<Device, PtxError> {
        Self::load(ptx).map(|device| Device { notes: true, ..device })
    }

    /// Returns the bytes that the last launch accessed.
    pub fn take_noted(&self) -> Noted {
        std::mem::take(&mut *self.noted.lock().unwrap())
    }

    /// Loads a program on a device of this compute capability, which accepts code only for it.
    pub fn load_for(ptx: &str, compute_capability: u32) -> Result<Device, PtxError> {
        Self::load_program(
            Program::load(ptx, &LoadOptions { compute_capability, ..LoadOptions::default() })?,
            false,
        )
    }

    /// With `track_init`, buffers record their written bytes.
    fn load_with(ptx: &str, track_init: bool) -> Result<Device, PtxError> {
        Self::load_program(
            Program::load(ptx, &LoadOptions { compute_capability: 120, ..LoadOptions::default() })?,
            track_init,
        )
    }

    fn load_program(program: Program, track_init: bool) -> Result<Device, PtxError> {
        let memory = Memory::new(1, 1 << 30, track_init);
        let windows = memory.snapshot().windows();
        let mut regions = Vec::new();
        for global in program.globals() {
            let mut request = Request::device(global.size.max(1), 1, 0);
            request.kind = RegionKind::Global;
            request.writable = global.space == GlobalSpace::Global;
            request.label = Some(Arc::from(global.name.as_str()));
            let region = memory.alloc(&request).unwrap();
            // SAFETY: the region has at least as many bytes as the initial value.
            unsafe { std::ptr::copy_nonoverlapping(global.init.as_ptr(), region.host, global.init.len()) };
            regions.push(region);
        }
        let globals: Vec<u64> = regions.iter().map(|region| region.base).collect();
        for (global, region) in program.globals().iter().zip(&regions) {
            for relocation in &global.relocations {
                let address = match relocation.target {
                    RelocationTarget::Global(index) => globals[index],
                    RelocationTarget::Function(index) => windows.code + FUNCTION_STRIDE * index as u64,
                };
                let value = address.wrapping_add_signed(relocation.addend).to_le_bytes();
                // SAFETY: the relocation is inside the initial value.
                let at = unsafe { region.host.add(relocation.offset as usize) };
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), at, relocation.bytes as usize) };
            }
        }
        let (mut options, output, noted) = (ExecOptions::default(), Mutex::default(), Mutex::default());
        match std::env::var("CUPRUM_EMULATOR_EXECUTION").as_deref() {
            Ok("compiled") => options.mode = Execution::Compiled,
            Ok("quads") => options.mode = Execution::Quads,
            Ok("octets") => options.mode = Execution::Octets,
            Ok("warps") => options.mode = Execution::Warps,
            Ok("vector") => options.mode = Execution::Vector,
            _ => {}
        }
        Ok(Device { memory, program, globals, options, output, notes: false, noted, findings: None })
    }

    /// Loads a program of the folder `kernels`, and returns its text.
    pub fn load_file(name: &str) -> (Device, String) {
        Self::load_file_with(name, false)
    }

    /// Like `load_file`, with memory that records its written bytes.
    pub fn load_file_tracked(name: &str) -> (Device, String) {
        Self::load_file_with(name, true)
    }

    fn load_file_with(name: &str, track_init: bool) -> (Device, String) {
        // Searches in the engine's crate and in the folders above it.
        let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let mut paths = folders.map(|folder| folder.join("kernels").join(format!("{name}.ptx")));
        let path = paths.find(|path| path.is_file()).unwrap_or_else(|| panic!("kernels/{name}.ptx"));
        let text = std::fs::read_to_string(path).unwrap();
        (Device::load_with(&text, track_init).unwrap_or_else(|error| panic!("{name}: {error}")), text)
    }

    pub fn buffer<T: Plain>(&self, values: &[T]) -> Buffer {
        self.partly_written(values, std::mem::size_of_val(values))
    }

    /// Creates a buffer of `bytes` bytes that begins with these values; the rest is uninitialized.
    pub fn partly_written<T: Plain>(&self, values: &[T], bytes: usize) -> Buffer {
        let region = self.memory.alloc(&Request::device(bytes as u64, 1, 0)).unwrap();
        let values = bytes_of(values);
        assert!(values.len() <= bytes);
        // SAFETY: the region is at least as long as the values.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), region.host, values.len()) };
        if let Some(written) = &region.init {
            written.set(0, values.len() as u64);
        }
        Buffer { region }
    }

    pub fn global(&self, index: usize) -> Buffer {
        Buffer { region: self.memory.snapshot().find(self.globals[index]).unwrap().clone() }
    }

    /// Returns the arguments of a case, and its buffers.
    pub fn arguments(&self, case: &Case) -> (Args, Vec<Buffer>) {
        let (mut args, mut buffers) = (Args::default(), Vec::new());
        for (argument, param) in case.arguments.iter().zip(self.kernel(case.kernel).params()) {
            match argument {
                Argument::Value(bytes) => args = args.bytes_at(param.offset as usize, bytes),
                Argument::Input(bytes) | Argument::Output { before: bytes, .. } => {
                    let buffer = self.buffer(bytes);
                    args = args.bytes_at(param.offset as usize, &buffer.address().to_le_bytes());
                    buffers.push(buffer);
                }
            }
        }
        (args, buffers)
    }

    pub fn kernel(&self, name: &str) -> &Arc<Kernel> {
        self.program.kernel(name).unwrap_or_else(|| panic!("no kernel {name}"))
    }

    pub fn launch(
        &self,
        name: &str,
        grid: impl Into<Dim>,
        block: impl Into<Dim>,
        args: &Args,
    ) -> Result<LaunchStats, Box<Fault>> {
        self.launch_with(name, grid, block, args, |_| {})
    }

    pub fn launch_with(
        &self,
        name: &str,
        grid: impl Into<Dim>,
        block: impl Into<Dim>,
        args: &Args,
        adjust: impl FnOnce(&mut LaunchArgs<'_>),
    ) -> Result<LaunchStats, Box<Fault>> {
        let mut launch_args = LaunchArgs {
            kernel: self.kernel(name),
            globals: &self.globals,
            grid: grid.into().0,
            block: block.into().0,
            dynamic_shared: 0,
            params: &args.0,
            cluster: None,
            cooperative: false,
            grid_workspace: 0,
        };
        adjust(&mut launch_args);
        let hooks = Output(self, self.notes.then(Touched::default));
        let result = launch(&launch_args, &self.memory.snapshot(), &self.options, &hooks);
        if let Some(touched) = hooks.1 {
            let mut noted = Vec::new();
            for marks in touched.into_marks() {
                for manner in Manner::ALL {
                    marks.for_each_page(manner, |page, words| {
                        noted.push((marks.allocation.id, manner, page, words));
                    });
                }
            }
            *self.noted.lock().unwrap() = noted;
        }
        result
    }
}

pub struct Dim([u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Self {
        Dim([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim {
    fn from((x, y): (u32, u32)) -> Self {
        Dim([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim([x, y, z])
    }
}
