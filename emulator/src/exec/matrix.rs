//! Matrix products of a warp.
//!
//! The lanes of a warp hold a matrix together. For `mma` the place of each element is documented; for `wmma` it is
//! nobody's business, and here element `e` in row-major order is the `e / 32`-th of lane `e % 32`. Products are summed
//! in double precision and rounded once, where hardware rounds in an order of its own.

use super::block::{Block, Stop};
use super::memory::Request;
use super::rows::Rows;
use super::semantics::half::{Bf16, F16, Half};
use super::semantics::{LANES, Width, float, lanes_of};
use crate::program::Register;
use crate::program::instruction::{Layout, Matrix, MatrixMove, MatrixProduct, Part};
use crate::program::types::Type;
use crate::report::FaultKind;

impl MatrixProduct {
    fn extent(&self, part: Part) -> [u32; 2] {
        extent(self.shape, part)
    }

    fn ty(&self, part: Part) -> Type {
        self.types[part as usize]
    }

    /// How many registers of each lane hold a part.
    pub(crate) fn registers(&self, part: Part) -> u32 {
        let [rows, columns] = self.extent(part);
        let per_register = if self.ty(part).bytes() == 8 { 1 } else { 4 / self.ty(part).bytes() };
        match (self.layout, part, self.ty(part)) {
            // `wmma` has as many registers for a half precision factor of any shape; elements repeat in them.
            (Layout::Opaque, Part::A | Part::B, Type::F16) => 8,
            _ => rows * columns / LANES as u32 / per_register,
        }
    }

    /// The row and column that the `element`-th value of a lane has.
    fn position(&self, part: Part, lane: u32, element: u32) -> [u32; 2] {
        let [_, columns] = self.extent(part);
        if self.layout == Layout::Opaque {
            return opaque_position(columns, lane, element);
        }
        let (group, member) = (lane / 4, lane % 4);
        let bytes = self.ty(part).bytes();
        let packed = (4 / bytes).max(1);
        let (register, inner) = (element / packed, element % packed);
        match part {
            Part::A => [group + 8 * (register % 2), member * packed + inner + register / 2 * 4 * packed],
            Part::B => [member * packed + inner + register * 4 * packed, group],
            // Two neighbours in each pair of registers, or in one register where they are packed.
            Part::C | Part::D => [group + 8 * (element / 2), member * 2 + element % 2],
        }
    }
}

fn extent([m, n, k]: [u32; 3], part: Part) -> [u32; 2] {
    match part {
        Part::A => [m, k],
        Part::B => [k, n],
        Part::C | Part::D => [m, n],
    }
}

fn opaque_position(columns: u32, lane: u32, element: u32) -> [u32; 2] {
    let index = element * LANES as u32 + lane;
    [index / columns, index % columns]
}

/// The bits of the `element`-th value that a lane holds in these registers.
fn element(rows: &Rows, registers: &[Register], ty: Type, lane: usize, element: u32) -> u64 {
    let bytes = ty.bytes();
    if bytes == 8 {
        return rows.get_wide(registers[element as usize], Width::Double, lane);
    }
    let packed = 4 / bytes;
    let word = rows.get(registers[(element / packed) as usize], lane);
    let mask = u32::MAX >> (32 - 8 * bytes);
    u64::from(word >> (8 * bytes * (element % packed)) & mask)
}

fn set_element(rows: &mut Rows, registers: &[Register], ty: Type, lane: usize, element: u32, bits: u64) {
    let bytes = ty.bytes();
    if bytes == 8 {
        return rows.set_wide(registers[element as usize], Width::Double, lane, bits);
    }
    let packed = 4 / bytes;
    let register = registers[(element / packed) as usize];
    let shift = 8 * bytes * (element % packed);
    let mask = (u32::MAX >> (32 - 8 * bytes)) << shift;
    let old = rows.get(register, lane);
    rows.set(register, lane, (old & !mask) | ((bits as u32) << shift & mask));
}

/// A value as a number; exact for every type but `tf32`, which drops the bits that do not count.
fn number(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F16 => F16::from_bits(bits as u16).to_f32().into(),
        Type::Bf16 => Bf16::from_bits(bits as u16).to_f32().into(),
        Type::F32 => f32::from_bits(bits as u32).into(),
        Type::F64 => f64::from_bits(bits),
        Type::U8 => f64::from(bits as u8),
        Type::S8 => f64::from(bits as i8),
        _ => f64::from(bits as i32),
    }
}

/// The low bits of a `tf32` factor do not count.
fn factor(ty: Type, bits: u64) -> f64 {
    number(ty, if ty == Type::F32 { bits & !0x1fff } else { bits })
}

fn rounded(ty: Type, x: f64, saturate: bool) -> u64 {
    match ty {
        Type::F16 => <F16 as Half>::round::<{ float::NEAREST }>(x).bits().into(),
        Type::F32 => float::canonical(x as f32).to_bits().into(),
        Type::F64 => x.to_bits(),
        // Whole sums of up to 32 bytes' products fit into double precision; beyond 32 bits they wrap or saturate.
        _ if saturate => u64::from(x as i32 as u32),
        _ => u64::from(x as i64 as u32),
    }
}

impl Block<'_, '_> {
    pub(super) fn matrix(&mut self, warp: usize, pc: u32, matrix: &Matrix, active: u32) -> Result<(), Stop> {
        if active != u32::MAX {
            return Err(self.fault(FaultKind::WrongMembers, warp, pc, active));
        }
        match matrix {
            Matrix::Product(product) => {
                multiply(&mut self.warps[warp].rows, product);
                Ok(())
            }
            Matrix::LoadRows { registers, address, space, transposed, cache } => {
                for (number, register) in registers.iter().enumerate() {
                    let mut tile = [[0u16; 8]; 8];
                    for (row, values) in tile.iter_mut().enumerate() {
                        let lane = 8 * number + row;
                        let address = self.lane_address(warp, address, lane);
                        let place = self.place(warp, pc, lane, Request::read(*space, address, 16, *cache))?;
                        // SAFETY: `place` checked 16 aligned bytes.
                        *values = unsafe { place.host.cast::<[u16; 8]>().read_unaligned() };
                    }
                    for lane in 0..LANES {
                        let (row, column) = (lane / 4, lane % 4 * 2);
                        let pair = match transposed {
                            false => [tile[row][column], tile[row][column + 1]],
                            true => [tile[column][row], tile[column + 1][row]],
                        };
                        let word = u32::from(pair[1]) << 16 | u32::from(pair[0]);
                        self.warps[warp].rows.set(*register, lane, word);
                    }
                }
                Ok(())
            }
            Matrix::Move(fragment) => self.move_fragment(warp, pc, fragment),
        }
    }

    fn move_fragment(&mut self, warp: usize, pc: u32, fragment: &MatrixMove) -> Result<(), Stop> {
        let [height, width] = extent(fragment.shape, fragment.part);
        let bytes = fragment.ty.bytes();
        let elements = height * width / LANES as u32;
        for lane in lanes_of(u32::MAX) {
            let base = self.lane_address(warp, &fragment.address, lane);
            let stride = match fragment.stride {
                Some(stride) => self.warps[warp].rows.get(stride, lane),
                None if fragment.by_column => height,
                None => width,
            };
            let held = fragment.registers.len() as u32 * (4 / bytes).max(1);
            for number in 0..held {
                // Beyond the elements there are, they repeat.
                let [row, column] = opaque_position(width, lane as u32, number % elements);
                let (major, minor) = if fragment.by_column { (column, row) } else { (row, column) };
                let offset = (u64::from(major) * u64::from(stride) + u64::from(minor)) * u64::from(bytes);
                let address = base.wrapping_add(offset);
                let rows = &mut self.warps[warp].rows;
                if fragment.store {
                    let bits = element(rows, &fragment.registers, fragment.ty, lane, number);
                    let request = Request::write(fragment.space, address, bytes, fragment.cache);
                    let place = self.place(warp, pc, lane, request)?;
                    // SAFETY: `place` checked the bytes; no element has more than 8.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            bits.to_le_bytes().as_ptr(),
                            place.host,
                            bytes as usize,
                        );
                    }
                } else {
                    let place = self.place(
                        warp,
                        pc,
                        lane,
                        Request::read(fragment.space, address, bytes, fragment.cache),
                    )?;
                    let mut raw = [0u8; 8];
                    // SAFETY: as above.
                    unsafe { std::ptr::copy_nonoverlapping(place.host, raw.as_mut_ptr(), bytes as usize) };
                    let bits = u64::from_le_bytes(raw);
                    let rows = &mut self.warps[warp].rows;
                    set_element(rows, &fragment.registers, fragment.ty, lane, number, bits);
                }
            }
        }
        Ok(())
    }
}

fn multiply(rows: &mut Rows, product: &MatrixProduct) {
    let [m, n, k] = product.shape.map(|extent| extent as usize);
    let gather = |rows: &Rows, part: Part, registers: &[Register], value: fn(Type, u64) -> f64| {
        let [height, width] = product.extent(part);
        let ty = product.ty(part);
        let mut matrix = vec![0f64; (height * width) as usize];
        for lane in 0..LANES {
            for number in 0..height * width / LANES as u32 {
                let [row, column] = product.position(part, lane as u32, number);
                matrix[(row * width + column) as usize] =
                    value(ty, element(rows, registers, ty, lane, number));
            }
        }
        matrix
    };
    let a = gather(rows, Part::A, &product.a, factor);
    let b = gather(rows, Part::B, &product.b, factor);
    let c = gather(rows, Part::C, &product.c, number);
    let ty = product.ty(Part::D);
    for lane in 0..LANES {
        for number in 0..(m * n / LANES) as u32 {
            let [row, column] = product.position(Part::D, lane as u32, number).map(|at| at as usize);
            let terms = (0..k).map(|i| a[row * k + i] * b[i * n + column]);
            let sum = match ty {
                Type::F64 => {
                    (0..k).fold(c[row * n + column], |sum, i| a[row * k + i].mul_add(b[i * n + column], sum))
                }
                _ => c[row * n + column] + terms.sum::<f64>(),
            };
            let bits = rounded(ty, sum, product.saturate);
            set_element(rows, &product.d, ty, lane, number, bits);
        }
    }
}
