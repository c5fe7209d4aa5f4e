//! Copies of bytes in rows and slices, checked and ready to run.

use core::ops::Range;
use core::ptr;

use cuprum_sys::*;

use crate::served;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::context::CONTEXTS;
use crate::driver::memory::{Bytes, Rows};
use crate::driver::state::{Act, Health, Operation, Turn, note, rest_before, scheduler};

use super::words;

/// One side of a copy: bytes, and the distances between rows and between slices.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) bytes: Bytes,
    pub(super) pitch: u64,
    pub(super) slice: u64,
}

/// Size of a copy: bytes in a row, rows, slices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) width: u64,
    pub(super) height: u64,
    pub(super) depth: u64,
}

impl Extent {
    /// Returns the bytes from the first to the last accessed one.
    pub(super) fn span(self, pitch: u64, slice: u64) -> Option<u64> {
        let rows = pitch.checked_mul(self.height.checked_sub(1)?)?;
        let slices = slice.checked_mul(self.depth.checked_sub(1)?)?;
        rows.checked_add(slices)?.checked_add(self.width)
    }
}

/// Maximum bytes that a copy moves in one step.
const PIECE: u64 = 1 << 20;

/// A copy, checked and ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    pub(super) from: Side,
    pub(super) to: Side,
    pub(super) extent: Extent,
    /// Contexts with whose streams it synchronizes: both of a copy between contexts without stream.
    pub(super) fenced: [usize; 2],
}

impl Copy {
    pub(crate) fn linear(to: Bytes, from: Bytes, len: u64) -> Self {
        let side = |bytes| Side { bytes, pitch: 0, slice: 0 };
        let extent = Extent { width: len, height: 1, depth: 1 };
        Self { from: side(from), to: side(to), extent, fenced: [0; 2] }
    }

    /// Returns a copy of rows of so many bytes between memory of devices, each side with its
    /// address and pitch; `None` if there are none.
    pub(crate) fn rows([to, from]: [(u64, u64); 2], (width, height): (u64, u64)) -> Answer<Option<Self>> {
        if width == 0 || height == 0 {
            return Ok(None);
        }
        let extent = Extent { width, height, depth: 1 };
        let side = |(address, pitch): (u64, u64)| {
            ensure(height == 1 || pitch >= width, INVALID_VALUE)?;
            let span = extent.span(pitch, 0).ok_or(INVALID_VALUE)?;
            Ok(Side { bytes: Bytes::reachable(address, span)?, pitch, slice: 0 })
        };
        Ok(Some(Self { from: side(from)?, to: side(to)?, extent, fenced: [0; 2] }))
    }

    /// Fails if memory of either side was freed meanwhile, because frees do not wait for copies
    /// between devices or for work of other contexts. The contexts of both sides get a sticky
    /// error, as on two H200s.
    fn check_sides(&self) -> Answer {
        let sides = [&self.from.bytes, &self.to.bytes];
        if !sides.into_iter().any(Bytes::is_freed) {
            return Ok(());
        }
        for context in sides.into_iter().filter_map(Bytes::context) {
            if let Some(context) = CONTEXTS.get(context as usize) {
                context.health.poison(CUresult::CUDA_ERROR_LAUNCH_FAILED);
            }
        }
        Err(CUresult::CUDA_ERROR_LAUNCH_FAILED)
    }

    /// Returns the total number of bytes.
    fn len(&self) -> u64 {
        let Extent { width, height, depth } = self.extent;
        width * height * depth
    }

    /// True if one end is page-locked host memory, so that the device copies without the host.
    fn has_locked_end(&self) -> bool {
        self.from.bytes.is_locked() || self.to.bytes.is_locked()
    }

    /// Notes its accesses. The host itself reads pageable memory, unless a graph runs the copy.
    pub(crate) fn note(&self) {
        note(|| {
            let rows = |side: &Side| {
                let Extent { width, height, depth } = self.extent;
                Rows { width, height, depth, pitch: side.pitch, slice: side.slice }
            };
            let read = match &self.from.bytes {
                Bytes::Host(_) | Bytes::Staged(_) => Vec::new(),
                from => from.parts(false, rows(&self.from)),
            };
            let written = self.to.bytes.parts(true, rows(&self.to));
            Act { parts: read.into_iter().chain(written).collect(), ..Act::default() }
        });
    }

    /// Notes that the host reads the source in this call, if it does.
    pub(super) fn note_host_read(&self) {
        let Some(journal) = scheduler().journal() else { return };
        if let Bytes::Host(pointer) = self.from.bytes {
            let span = self.extent.span(self.from.pitch, self.from.slice).unwrap_or(0);
            journal.read_on_host(pointer.addr() as u64, span, served::call());
        }
    }

    /// Copies all but the first `done` bytes in pieces. `before` receives the number of each piece.
    pub(crate) fn copy(&self, done: u64, before: impl Fn(u64)) -> Answer {
        let mut at = done;
        for piece in 0.. {
            let end = self.len().min(at + PIECE);
            if at >= end {
                break;
            }
            before(piece);
            self.copy_part(at..end)?;
            at = end;
        }
        Ok(())
    }

    /// Copies a range of the bytes, counted row by row.
    fn copy_part(&self, part: Range<u64>) -> Answer {
        let Extent { width, height, .. } = self.extent;
        let _writer = self.to.bytes.writer();
        let mut at = part.start;
        while at < part.end {
            let (row, inside) = (at / width, at % width);
            let (y, z) = (row % height, row / height);
            let from = z * self.from.slice + y * self.from.pitch + inside;
            let to = z * self.to.slice + y * self.to.pitch + inside;
            let count = (width - inside).min(part.end - at);
            copy_row(&self.from.bytes, from, &self.to.bytes, to, count)?;
            at += count;
        }
        Ok(())
    }

    /// Returns the C structure of the copy for graphs. Its addresses already include the offsets.
    pub(crate) fn describe(&self) -> CUDA_MEMCPY3D {
        let kind = |bytes: &Bytes| match bytes {
            Bytes::Device { .. } => CUmemorytype::CU_MEMORYTYPE_DEVICE,
            Bytes::Host(_) | Bytes::Staged(_) => CUmemorytype::CU_MEMORYTYPE_HOST,
        };
        let host = |bytes: &Bytes| ptr::without_provenance_mut(bytes.address() as usize);
        let rows = |side: &Side| match side.pitch {
            0 => self.extent.height as usize,
            pitch => (side.slice / pitch) as usize,
        };
        CUDA_MEMCPY3D {
            srcMemoryType: kind(&self.from.bytes),
            srcHost: host(&self.from.bytes),
            srcDevice: self.from.bytes.address(),
            srcPitch: self.from.pitch as usize,
            srcHeight: rows(&self.from),
            dstMemoryType: kind(&self.to.bytes),
            dstHost: host(&self.to.bytes),
            dstDevice: self.to.bytes.address(),
            dstPitch: self.to.pitch as usize,
            dstHeight: rows(&self.to),
            WidthInBytes: self.extent.width as usize,
            Height: self.extent.height as usize,
            Depth: self.extent.depth as usize,
            ..CUDA_MEMCPY3D::zeroed()
        }
    }

    /// Copies pageable source memory on the host and copies from there, like the driver: the client
    /// may change that memory as soon as the call returns.
    pub(super) fn stage(mut self) -> Answer<Self> {
        if let Bytes::Host(_) = self.from.bytes {
            let Extent { width, height, depth } = self.extent;
            let bytes = usize::try_from(width * height * depth).map_err(|_| INVALID_VALUE)?;
            let mut staged = vec![0u8; bytes];
            let to = Side { bytes: Bytes::Host(staged.as_mut_ptr()), pitch: width, slice: width * height };
            let away = Self { from: self.from.clone(), to, ..self.clone() };
            away.copy(0, |_| ())?;
            self.from = Side { bytes: Bytes::Staged(staged.into()), ..away.to };
        }
        Ok(self)
    }
}

fn copy_row(from: &Bytes, mut source: u64, to: &Bytes, target: u64, len: u64) -> Answer {
    let (mut failed, is_shared) = (Ok(()), !from.is_pageable());
    to.pieces(target, len, |mut pointer, mut count| {
        while count > 0 && failed.is_ok() {
            let Some((read, available)) = from.at(source) else {
                failed = Err(INVALID_VALUE);
                return;
            };
            let step = count.min(usize::try_from(available).unwrap_or(usize::MAX));
            let word = |at, bytes| {
                let at = read.wrapping_add(at);
                if is_shared {
                    // SAFETY: `bytes` of `step` bytes of the source, whose regions are alive.
                    unsafe { words::read_shared(at, bytes) }
                } else {
                    // SAFETY: `bytes` of the `step` bytes of the source, valid and unchanged by the
                    // contract of the issuing call.
                    unsafe { words::read_plain(at, bytes) }
                }
            };
            // SAFETY: `step` bytes of the piece, valid like the source.
            unsafe { words::write(pointer, step, word) };
            pointer = pointer.wrapping_add(step);
            source += step as u64;
            count -= step;
        }
    })?;
    failed
}

impl Operation for Copy {
    fn run(&self, turn: Turn<'_>) -> Answer {
        self.note();
        self.check_sides()?;
        self.copy(turn.done, |piece| rest_before(piece, turn.health))
    }

    fn fenced(&self) -> [usize; 2] {
        self.fenced
    }

    fn is_between_devices(&self) -> bool {
        let devices = self.from.bytes.device_of().zip(self.to.bytes.device_of());
        devices.is_some_and(|(from, to)| from != to)
    }

    fn is_unstoppable(&self) -> bool {
        self.has_locked_end()
    }

    fn divisible(&self) -> Option<u64> {
        Some(self.len())
    }

    fn run_part(&self, part: Range<u64>) -> Answer {
        self.note();
        self.check_sides()?;
        self.copy_part(part)
    }

    fn end_after_fault(&self, health: &Health) {
        // The context already has a sticky error.
        let _ = self.copy(0, |piece| rest_before(piece, health));
    }
}
