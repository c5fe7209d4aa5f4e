//! Recognizes the library, which is replaced by our own, because it needs parts of NVIDIA's driver.

/// Recognizes the device runtime library by the object's name in the archive. The name exceeds the
/// 16 bytes of a header, so it is in the table of long names, a member called `//`.
pub(in crate::driver::code) fn is_device_runtime(archive: &[u8]) -> bool {
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

/// True for the library's PTX, which programs compiled with `-rdc=true` contain.
pub(in crate::driver::code) fn defines_runtime(ptx: &str) -> bool {
    const FUNCTION: &str = "cudaGetParameterBufferV2";
    ptx.lines().any(|line| line.starts_with(".visible .func") && line.contains(FUNCTION))
}
