//! Data of calls that queue work, in addition to their arguments: contexts, and the contents of
//! structures.

use std::ptr;
use std::sync::OnceLock;

use cuprum_sys::hook::Call;
use cuprum_sys::{
    CUDA_MEMCPY2D_v2, CUDA_MEMCPY3D_PEER_v1, CUDA_MEMCPY3D_v2, CUlaunchConfig, CUmemorytype, FnId,
};

use crate::driver::current_context;
use crate::format::extra;
use crate::segment::Record;

/// Relation of a function to the device's work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    None,
    /// It launches a kernel.
    Launch,
    /// It queues other work, or waits for it.
    Other,
}

/// The roles of all functions.
fn role(function: FnId) -> Role {
    static ROLES: OnceLock<Vec<Role>> = OnceLock::new();
    let roles = ROLES.get_or_init(|| {
        let role = |function: &FnId| {
            let name = function.to_string();
            let starts = |beginnings: &[&str]| beginnings.iter().any(|start| name.starts_with(start));
            match name.as_str() {
                _ if starts(&["cuLaunchHostFunc"]) => Role::Other,
                _ if starts(&["cuLaunch"]) => Role::Launch,
                _ if starts(&["cuMemcpy", "cuMemset", "cuGraphLaunch", "cuCtxSynchronize"]) => Role::Other,
                _ if function.parameters().iter().any(|parameter| parameter.ty().ends_with("CUstream")) => {
                    Role::Other
                }
                _ => Role::None,
            }
        };
        FnId::ALL.iter().map(role).collect()
    });
    roles[function as usize]
}

/// True for functions that launch kernels.
pub(crate) fn is_launch(function: FnId) -> bool {
    role(function) == Role::Launch
}

/// Streams that belong to the context that is current.
const DEFAULT_STREAMS: [u64; 3] = [0, 1, 2];

/// Adds a call's data beyond its arguments. Returns its stream; 0 if it names none.
pub(crate) fn push(record: &mut Record, call: &Call<'_>) -> u64 {
    if role(call.function()) == Role::None {
        return 0;
    }
    let mut stream =
        call.arguments().find(|argument| argument.ty() == "CUstream").map(|stream| stream.word());
    for argument in call.arguments() {
        let Some(place) = place(argument.ty(), argument.word()) else { continue };
        match place {
            Structure::Launch(config) => {
                stream = Some(push_launch(record, &config));
            }
            Structure::Copy(copy) => push_extra(record, extra::COPY, &copy),
        }
    }
    if stream.is_none_or(|stream| DEFAULT_STREAMS.contains(&stream)) {
        push_extra(record, extra::CONTEXT, &[current_context()]);
    }
    stream.unwrap_or(0)
}

/// A structure that an argument points to.
enum Structure {
    Launch(CUlaunchConfig),
    Copy([u64; 3]),
}

fn place(ty: &str, word: u64) -> Option<Structure> {
    if word == 0 {
        return None;
    }
    let place = ptr::with_exposed_provenance::<u8>(word as usize);
    macro_rules! read {
        ($ty:ty) => {{
            // SAFETY: not null, and so by the driver API a structure of this type, which the caller
            // has filled.
            unsafe { place.cast::<$ty>().read_unaligned() }
        }};
    }
    let kinds = |from: CUmemorytype, to: CUmemorytype| [u64::from(from.0), u64::from(to.0)];
    let copy = |[from, to]: [u64; 2], bytes: usize| Structure::Copy([from, to, bytes as u64]);
    Some(match ty {
        "*const CUlaunchConfig" => Structure::Launch(read!(CUlaunchConfig)),
        "*const CUDA_MEMCPY2D" => {
            let about = read!(CUDA_MEMCPY2D_v2);
            copy(
                kinds(about.srcMemoryType, about.dstMemoryType),
                about.WidthInBytes.wrapping_mul(about.Height),
            )
        }
        "*const CUDA_MEMCPY3D" => {
            let about = read!(CUDA_MEMCPY3D_v2);
            let rows = about.Height.wrapping_mul(about.Depth);
            copy(kinds(about.srcMemoryType, about.dstMemoryType), about.WidthInBytes.wrapping_mul(rows))
        }
        "*const CUDA_MEMCPY3D_PEER" => {
            let about = read!(CUDA_MEMCPY3D_PEER_v1);
            let rows = about.Height.wrapping_mul(about.Depth);
            copy(kinds(about.srcMemoryType, about.dstMemoryType), about.WidthInBytes.wrapping_mul(rows))
        }
        _ => return None,
    })
}

/// Adds a launch's geometry, and returns its stream.
fn push_launch(record: &mut Record, config: &CUlaunchConfig) -> u64 {
    let stream = config.hStream.0.addr() as u64;
    let grid = [config.gridDimX, config.gridDimY, config.gridDimZ].map(u64::from);
    let block = [config.blockDimX, config.blockDimY, config.blockDimZ].map(u64::from);
    let ([a, b, c], [d, e, f]) = (grid, block);
    push_extra(record, extra::LAUNCH, &[a, b, c, d, e, f, config.sharedMemBytes.into(), stream]);
    stream
}

fn push_extra(record: &mut Record, tag: u64, words: &[u64]) {
    if record.room() > words.len() {
        record.push(tag | (words.len() as u64 * 8) << 32);
        words.iter().for_each(|&word| record.push(word));
    }
}
