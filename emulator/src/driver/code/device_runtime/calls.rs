//! The functions that the driver answers, with their parameters.

/// A request of a kernel to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// Allocates a parameter buffer of a stated size.
    Buffer,
    /// Allocates the parameter buffer of a launch.
    BufferOfLaunch,
    /// Launches with a buffer and a shape.
    Launch,
    /// Launches with the buffer of a launch.
    LaunchBuffer,
    Copy,
    CopyRows,
    Fill,
    FillRows,
    TakeError,
    PeekAtError,
    Device,
    Devices,
    Version,
    Attribute,
    Limit,
    CreateStream,
    DestroyStream,
    Wait,
    CreateEvent,
    Record,
    DestroyEvent,
    Occupancy,
    /// Remembers an error that our own PTX returns.
    Fail,
}

/// A parameter of such a function, as words of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Param {
    Word,
    Double,
    /// Three words: blocks of a grid, or threads of a block.
    Sides,
    /// The address of a result of 32 bits, which the function stores itself.
    Out,
    /// The address of a result of 64 bits.
    OutDouble,
}

/// A function as device code declares it.
#[derive(Debug)]
pub(super) struct Function {
    /// The name without the prefix that all of them have.
    pub(super) name: &'static str,
    pub(super) call: Call,
    pub(super) params: &'static [Param],
}

use Param::{Double as D, Out as O, OutDouble as P, Sides as S, Word as W};

/// All of them. A kernel calls the driver with the position in this list.
pub(super) const FUNCTIONS: &[Function] = &[
    function("GetParameterBuffer", Call::Buffer, &[D, D]),
    function("GetParameterBufferV2", Call::BufferOfLaunch, &[D, S, S, W]),
    function("LaunchDevice", Call::Launch, &[D, D, S, S, W, D]),
    function("LaunchDevice_ptsz", Call::Launch, &[D, D, S, S, W, D]),
    function("LaunchDeviceV2", Call::LaunchBuffer, &[D, D]),
    function("LaunchDeviceV2_ptsz", Call::LaunchBuffer, &[D, D]),
    function("MemcpyAsync", Call::Copy, &[D, D, D, W, D]),
    function("MemcpyAsync_ptsz", Call::Copy, &[D, D, D, W, D]),
    function("MemsetAsync", Call::Fill, &[D, W, D, D]),
    function("MemsetAsync_ptsz", Call::Fill, &[D, W, D, D]),
    function("Memcpy2DAsync", Call::CopyRows, &[D, D, D, D, D, D, W, D]),
    function("Memcpy2DAsync_ptsz", Call::CopyRows, &[D, D, D, D, D, D, W, D]),
    function("Memset2DAsync", Call::FillRows, &[D, D, W, D, D, D]),
    function("Memset2DAsync_ptsz", Call::FillRows, &[D, D, W, D, D, D]),
    function("GetLastError", Call::TakeError, &[]),
    function("PeekAtLastError", Call::PeekAtError, &[]),
    function("GetDevice", Call::Device, &[O]),
    function("GetDeviceCount", Call::Devices, &[O]),
    function("RuntimeGetVersion", Call::Version, &[O]),
    function("DeviceGetAttribute", Call::Attribute, &[O, W, W]),
    function("DeviceGetLimit", Call::Limit, &[P, W]),
    function("StreamCreateWithFlags", Call::CreateStream, &[P, W]),
    function("StreamDestroy", Call::DestroyStream, &[D]),
    function("StreamWaitEvent", Call::Wait, &[D, D, W]),
    function("StreamWaitEvent_ptsz", Call::Wait, &[D, D, W]),
    function("EventCreateWithFlags", Call::CreateEvent, &[P, W]),
    function("EventRecord", Call::Record, &[D, D]),
    function("EventRecord_ptsz", Call::Record, &[D, D]),
    function("EventRecordWithFlags", Call::Record, &[D, D, W]),
    function("EventRecordWithFlags_ptsz", Call::Record, &[D, D, W]),
    function("EventDestroy", Call::DestroyEvent, &[D]),
    function("OccupancyMaxActiveBlocksPerMultiprocessor", Call::Occupancy, &[O, D, W, D]),
    function("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", Call::Occupancy, &[O, D, W, D, W]),
    function(FAIL, Call::Fail, &[W]),
];

/// Our own function for errors, which the runtime API does not have.
pub(super) const FAIL: &str = "CuprumFail";

const fn function(name: &'static str, call: Call, params: &'static [Param]) -> Function {
    Function { name, call, params }
}

impl Call {
    /// True if the function returns an address instead of an error.
    pub(super) fn returns_address(self) -> bool {
        matches!(self, Call::Buffer | Call::BufferOfLaunch)
    }
}

/// The low bits of an answer, which hold the error; the value is above them.
pub(super) const ERROR_BITS: u32 = 16;
