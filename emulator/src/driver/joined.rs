//! PTX of several inputs as one text.
//!
//! The first header is kept, the other headers are dropped. What one input declares and another defines is then in one
//! module.

use cuprum_sys::CUresult;

use super::fatbin::MOST_TEXT;
use super::image::Refused;

/// Several texts, joined.
#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    inputs: Vec<Input>,
    has_device_runtime: bool,
}

/// Where an input is in the joined text.
#[derive(Debug)]
struct Input {
    name: String,
    /// Lines of the text before it.
    before: usize,
    /// Lines of its header that were dropped.
    dropped: usize,
}

impl Joined {
    /// Adds a module, under the name that the client gives it.
    pub(super) fn add(&mut self, name: &str, ptx: &str) -> Result<(), Refused> {
        let part = if self.text.is_empty() { ptx } else { without_header(ptx) };
        let bytes = self.text.len() as u64 + part.len() as u64;
        if bytes > MOST_TEXT {
            let log =
                format!("the inputs are {bytes} bytes of PTX; the software device links up to {MOST_TEXT}");
            return Err(Refused::new(CUresult::CUDA_ERROR_OUT_OF_MEMORY, log));
        }
        let (before, dropped) = (lines(&self.text), lines(&ptx[..ptx.len() - part.len()]));
        self.inputs.push(Input { name: name.to_owned(), before, dropped });
        self.text += part;
        self.text.push('\n');
        Ok(())
    }

    /// The input that a line of the text, from 1, comes from, and the number of the line in that.
    pub(super) fn origin(&self, line: u32) -> Option<(&str, u32)> {
        let line = line as usize;
        let input = self.inputs.iter().rev().find(|input| input.before < line)?;
        let line = u32::try_from(line - input.before + input.dropped).ok()?;
        Some((&input.name, line))
    }

    /// Adds what the library of the device runtime defines and the software device has, once.
    pub(super) fn add_device_runtime(&mut self) {
        self.has_device_runtime = true;
    }

    /// The whole text.
    pub(super) fn text(&self) -> String {
        let runtime = if self.has_device_runtime && !self.text.is_empty() { DEVICE_RUNTIME } else { "" };
        format!("{}{runtime}", self.text)
    }
}

/// The ends of lines in a text.
fn lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

/// PTX from behind its last header directive on.
fn without_header(ptx: &str) -> &str {
    let headers = [".version", ".target", ".address_size"];
    let ends = headers.iter().filter_map(|header| {
        let start = ptx.find(header)?;
        let line = ptx[start..].find('\n')?;
        Some(start + line)
    });
    ptx.get(ends.max().unwrap_or(0)..).unwrap_or("")
}

/// Whether this is the library of the device runtime, by the name of the object in the archive. That is longer than the
/// 16 bytes of a header, so it is in the table of long names, a member called `//`.
pub(super) fn is_device_runtime(archive: &[u8]) -> bool {
    const MAGIC: &[u8] = b"!<arch>\n";
    const MEMBER: &[u8] = b"cuda_device_runtime.o/";
    const HEADER: usize = 60;
    const SIZE: core::ops::Range<usize> = 48..58;
    let Some(mut rest) = archive.strip_prefix(MAGIC) else { return false };
    while let Some(header) = rest.get(..HEADER) {
        let size =
            std::str::from_utf8(&header[SIZE]).ok().and_then(|size| size.trim_end().parse::<usize>().ok());
        if header.starts_with(b"// ") {
            return rest[HEADER..].starts_with(MEMBER);
        }
        let Some(next) = size.and_then(|size| size.checked_next_multiple_of(2)?.checked_add(HEADER)) else {
            return false;
        };
        rest = rest.get(next..).unwrap_or_default();
    }
    false
}

/// Groups of all threads of a grid, as device code before CUDA 11.2 calls them. The handle is the address of the grid's
/// workspace, in whose second word blocks meet: each adds one, the first block so much that the highest bit flips when
/// all have come.
const DEVICE_RUNTIME: &str = "
.visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u32 %r0, [scope];
    setp.eq.u32 %p, %r0, 1;
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    mov.b64 %rd0, {%r2, %r1};
    selp.b64 %rd1, %rd0, 0, %p;
    st.param.b64 [result], %rd1;
    ret;
}
.visible .func (.param .b32 result) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [handle];
    setp.eq.u64 %p0, %rd0, 0;
    @%p0 bra INVALID;
    barrier.sync 0;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %tid.z;
    or.b32 %r0, %r0, %r1;
    or.b32 %r0, %r0, %r2;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra MET;
    mov.u32 %r3, %nctaid.x;
    mov.u32 %r4, %nctaid.y;
    mov.u32 %r5, %nctaid.z;
    mul.lo.u32 %r3, %r3, %r4;
    mul.lo.u32 %r3, %r3, %r5;
    sub.u32 %r3, 0x80000001, %r3;
    mov.u32 %r6, %ctaid.x;
    mov.u32 %r7, %ctaid.y;
    mov.u32 %r8, %ctaid.z;
    or.b32 %r6, %r6, %r7;
    or.b32 %r6, %r6, %r8;
    setp.eq.u32 %p1, %r6, 0;
    selp.b32 %r9, %r3, 1, %p1;
    atom.add.release.gpu.u32 %r10, [%rd0+4], %r9;
WAIT:
    ld.acquire.gpu.u32 %r11, [%rd0+4];
    xor.b32 %r11, %r11, %r10;
    setp.ge.s32 %p2, %r11, 0;
    @%p2 bra WAIT;
MET:
    barrier.sync 0;
    st.param.b32 [result], 0;
    ret;
INVALID:
    st.param.b32 [result], 1;
    ret;
}
.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [handle];
    ld.param.u32 %r0, [flags];
    {
        .param .b64 first;
        .param .b32 second;
        .param .b32 answer;
        st.param.b64 [first], %rd0;
        st.param.b32 [second], %r0;
        call.uni (answer), cudaCGSynchronizeGrid, (first, second);
        ld.param.b32 %r1, [answer];
    }
    st.param.b32 [result], %r1;
    ret;
}
.visible .func (.param .b32 result) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [threads];
    ld.param.u64 %rd1, [grids];
    ld.param.u64 %rd2, [handle];
    setp.eq.u64 %p, %rd2, 0;
    @%p bra INVALID;
    mov.u32 %r0, %ntid.x;
    mov.u32 %r1, %ntid.y;
    mov.u32 %r2, %ntid.z;
    mov.u32 %r3, %nctaid.x;
    mov.u32 %r4, %nctaid.y;
    mov.u32 %r5, %nctaid.z;
    mul.lo.u32 %r0, %r0, %r1;
    mul.lo.u32 %r0, %r0, %r2;
    mul.lo.u32 %r0, %r0, %r3;
    mul.lo.u32 %r0, %r0, %r4;
    mul.lo.u32 %r0, %r0, %r5;
    st.u32 [%rd0], %r0;
    st.u32 [%rd1], 1;
    st.param.b32 [result], 0;
    ret;
INVALID:
    st.param.b32 [result], 1;
    ret;
}
.visible .func (.param .b32 result) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [thread];
    ld.param.u64 %rd1, [grid];
    ld.param.u64 %rd2, [handle];
    setp.eq.u64 %p, %rd2, 0;
    @%p bra INVALID;
    mov.u32 %r0, %ctaid.z;
    mov.u32 %r1, %nctaid.y;
    mov.u32 %r2, %ctaid.y;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mov.u32 %r1, %nctaid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mov.u32 %r1, %ntid.z;
    mov.u32 %r2, %tid.z;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mov.u32 %r1, %ntid.y;
    mov.u32 %r2, %tid.y;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    st.u32 [%rd0], %r0;
    st.u32 [%rd1], 0;
    st.param.b32 [result], 0;
    ret;
INVALID:
    st.param.b32 [result], 1;
    ret;
}
";
