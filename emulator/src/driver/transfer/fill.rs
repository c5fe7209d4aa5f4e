//! Fills of memory.

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, calls};
use crate::driver::memory::{Bytes, Rows};
use crate::driver::state::{Act, Operation, Turn, note};

use super::words;

/// A fill, checked and ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Fill {
    bytes: Bytes,
    /// The value, repeated to the widest element.
    pattern: [u8; 4],
    element: u32,
    row: u64,
    rows: u64,
    pitch: u64,
}

/// An element of a fill: 1, 2 or 4 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    pattern: [u8; 4],
    size: u64,
}

impl Element {
    pub(crate) fn new(value: u32, size: u64) -> Answer<Self> {
        let [a, b, c, d] = value.to_le_bytes();
        let pattern = match size {
            1 => [a; 4],
            2 => [a, b, a, b],
            4 => [a, b, c, d],
            _ => return Err(INVALID_VALUE),
        };
        Ok(Self { pattern, size })
    }
}

impl Fill {
    /// Returns a fill of `rows` rows of `width` elements each; `None` if there are none.
    pub(crate) fn new(
        address: u64,
        pitch: u64,
        element: Element,
        width: u64,
        rows: u64,
    ) -> Answer<Option<Self>> {
        if width == 0 || rows == 0 {
            return Ok(None);
        }
        let aligned = address % element.size == 0 && (rows == 1 || pitch % element.size == 0);
        let row = width.checked_mul(element.size).ok_or(INVALID_VALUE)?;
        ensure(aligned && (rows == 1 || pitch >= row), INVALID_VALUE)?;
        let before = pitch.checked_mul(rows - 1).ok_or(INVALID_VALUE)?;
        let span = before.checked_add(row).ok_or(INVALID_VALUE)?;
        Ok(Some(Self {
            bytes: Bytes::reachable(address, span)?,
            pattern: element.pattern,
            element: element.size as u32,
            row,
            rows,
            pitch,
        }))
    }

    pub(crate) fn describe(&self) -> CUDA_MEMSET_NODE_PARAMS {
        CUDA_MEMSET_NODE_PARAMS {
            dst: self.bytes.address(),
            pitch: self.pitch as usize,
            value: u32::from_le_bytes(self.pattern) & (u32::MAX >> (32 - 8 * self.element)),
            elementSize: self.element,
            width: (self.row / u64::from(self.element)) as usize,
            height: self.rows as usize,
        }
    }

    pub(crate) fn fill(&self) -> Answer {
        note(|| {
            let Self { row: width, rows: height, pitch, .. } = *self;
            let rows = Rows { width, height, depth: 1, pitch, slice: 0 };
            Act { parts: self.bytes.parts(true, rows), ..Act::default() }
        });
        let _writer = self.bytes.writer();
        for row in 0..self.rows {
            self.bytes.pieces(row * self.pitch, self.row, |pointer, count| {
                let pattern = u64::from(u32::from_le_bytes(self.pattern));
                // Regions are aligned, so each piece, and each wider word, begins with an element.
                let word = |_, _| pattern << 32 | pattern;
                // SAFETY: the piece has `count` bytes, kept alive by its region.
                unsafe { words::write(pointer, count, word) };
            })?;
        }
        Ok(())
    }
}

impl Operation for Fill {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        self.fill()
    }
}

/// Issues a fill. The host waits only in synchronous calls, for memory that it can see.
fn fill(
    call: &Call,
    stream: Option<CUstream>,
    address: u64,
    pitch: usize,
    element: (u32, u64),
    (width, rows): (usize, usize),
) -> Answer {
    let target = call.stream(stream.unwrap_or(CUstream::null()))?;
    let element = Element::new(element.0, element.1)?;
    let Some(fill) = Fill::new(address, pitch as u64, element, width as u64, rows as u64)? else {
        return Ok(());
    };
    if stream.is_some() {
        return target.push(fill).map(drop);
    }
    if fill.bytes.is_of_device() {
        return target.push_unawaited(fill);
    }
    target.push_and_wait(fill)
}

/// Defines functions for a type of value: for one and several rows, waiting and stream-ordered.
macro_rules! fills {
    ($( $value:ty: $row:ident, $row_async:ident, $rows:ident, $rows_async:ident; )*) => {
        calls! {
            $(
                fn $row(call, dstDevice: u64, value: $value, N: usize) {
                    let element = (value.into(), size_of::<$value>() as u64);
                    fill(call, None, dstDevice, 0, element, (N, 1))
                }

                fn $row_async(call, dstDevice: u64, value: $value, N: usize, hStream: CUstream) {
                    let element = (value.into(), size_of::<$value>() as u64);
                    fill(call, Some(hStream), dstDevice, 0, element, (N, 1))
                }

                fn $rows(
                    call,
                    dstDevice: u64,
                    dstPitch: usize,
                    value: $value,
                    Width: usize,
                    Height: usize,
                ) {
                    let element = (value.into(), size_of::<$value>() as u64);
                    fill(call, None, dstDevice, dstPitch, element, (Width, Height))
                }

                fn $rows_async(
                    call,
                    dstDevice: u64,
                    dstPitch: usize,
                    value: $value,
                    Width: usize,
                    Height: usize,
                    hStream: CUstream,
                ) {
                    let element = (value.into(), size_of::<$value>() as u64);
                    fill(call, Some(hStream), dstDevice, dstPitch, element, (Width, Height))
                }
            )*
        }
    };
}

fills! {
    u8: cuMemsetD8_v2, cuMemsetD8Async, cuMemsetD2D8_v2, cuMemsetD2D8Async;
    u16: cuMemsetD16_v2, cuMemsetD16Async, cuMemsetD2D16_v2, cuMemsetD2D16Async;
    u32: cuMemsetD32_v2, cuMemsetD32Async, cuMemsetD2D32_v2, cuMemsetD2D32Async;
}
