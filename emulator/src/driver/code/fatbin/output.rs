//! Output of the decompressors, which ends at a limit.

/// Appends bytes. Returns `None` if the output would exceed `limit`, or if memory is exhausted.
pub(super) fn append(output: &mut Vec<u8>, bytes: &[u8], limit: usize) -> Option<()> {
    grow(output, bytes.len(), limit)?;
    output.extend_from_slice(bytes);
    Some(())
}

/// Appends `len` bytes from `distance` before the end, which may overlap the appended bytes.
/// Returns `None` if they do not exist or the output would exceed `limit`.
pub(super) fn repeat(output: &mut Vec<u8>, distance: usize, len: usize, limit: usize) -> Option<()> {
    let start = output.len().checked_sub(distance).filter(|_| distance > 0)?;
    grow(output, len, limit)?;
    for index in start..start + len {
        output.push(output[index]);
    }
    Some(())
}

/// Makes room for `len` more bytes.
fn grow(output: &mut Vec<u8>, len: usize, limit: usize) -> Option<()> {
    output.len().checked_add(len).filter(|&end| end <= limit)?;
    output.try_reserve(len).ok()
}
