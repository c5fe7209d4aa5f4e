//! Header of a committed PTX file, above the compiler's output: the origin of the file.

use std::fmt::Write as _;

use cuprum::sys::Version;

/// The line in a source that names extra compiler options.
const OPTIONS_MARK: &str = "// nvrtc:";
/// The text before the source's hash in a generated file.
const HASH_MARK: &str = "// source hash (FNV-1a, 64 bits): ";

/// Options that the source itself asks for, in its header comment.
pub(crate) fn extra_options(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| line.strip_prefix(OPTIONS_MARK)).flat_map(str::split_whitespace)
}

/// The text of a committed PTX file: provenance, then the compiler's output.
pub(crate) fn with_header(
    source_name: &str,
    source: &str,
    version: Version,
    options: &[String],
    ptx: &str,
) -> String {
    let mut text = String::with_capacity(ptx.len() + 512);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "// Compiled from {source_name} by kernels/regenerate.sh; do not edit.");
    let _ = writeln!(text, "{HASH_MARK}{:016x}", hash(source));
    let _ = writeln!(text, "// compiler: NVRTC {version}; options: {}", options.join(" "));
    text.push_str(ptx.trim_end());
    text.push('\n');
    text
}

/// FNV-1a over the source: enough to notice a PTX file that its source has outrun.
pub(crate) fn hash(source: &str) -> u64 {
    source
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .expect("the folder can be listed")
            .map(|entry| entry.expect("its entries can be read").path())
            .filter(|path| path.extension().is_some_and(|found| found == extension))
            .collect();
        files.sort();
        files
    }

    fn recorded_hash(ptx: &Path) -> u64 {
        let text = fs::read_to_string(ptx).expect("the PTX can be read");
        let line = text.lines().find_map(|line| line.strip_prefix(HASH_MARK));
        let hex = line.unwrap_or_else(|| panic!("{} names no source hash", ptx.display()));
        u64::from_str_radix(hex, 16).expect("the hash is hexadecimal")
    }

    /// Needs no compiler, so it runs everywhere; `regenerate.sh --check` compares the text itself.
    #[test]
    fn committed_ptx_is_that_of_its_source() {
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("kernels/build has a parent");
        for (folder, least) in [(kernels.to_owned(), 10), (kernels.join("corpus"), 1)] {
            let sources = files(&folder, "cu");
            assert!(sources.len() > least, "found only {} sources in {}", sources.len(), folder.display());
            for source in &sources {
                let text = fs::read_to_string(source).expect("the source can be read");
                let ptx = source.with_extension("ptx");
                assert_eq!(recorded_hash(&ptx), hash(&text), "{} is out of date", ptx.display());
            }
            assert_eq!(files(&folder, "ptx").len(), sources.len(), "a PTX file without a source");
        }
        for ptx in files(&kernels.join("dialect_100"), "ptx") {
            let name = ptx.with_extension("cu");
            let source = kernels.join(name.file_name().expect("a file has a name"));
            let text = fs::read_to_string(source).expect("a copy in the newer dialect has a source");
            assert_eq!(recorded_hash(&ptx), hash(&text), "{} is out of date", ptx.display());
        }
    }

    #[test]
    fn committed_ptx_names_no_folder_of_a_machine() {
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("kernels/build has a parent");
        let mut named = 0;
        for ptx in files(kernels, "ptx").into_iter().chain(files(&kernels.join("dialect_100"), "ptx")) {
            let text = fs::read_to_string(&ptx).expect("the PTX can be read");
            for line in text.lines().filter(|line| line.trim_start().starts_with(".file")) {
                assert!(line.contains("\"kernels/"), "{}: {line}", ptx.display());
                named += 1;
            }
        }
        assert!(named >= 3, "{named} source files are named");
    }

    #[test]
    fn hash_is_fnv_1a() {
        // Published test vectors of the 64-bit variant.
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn options_come_from_the_header_comment() {
        let source = "// text\n// nvrtc: -lineinfo --std=c++17\nint x;\n";
        assert_eq!(extra_options(source).collect::<Vec<_>>(), ["-lineinfo", "--std=c++17"]);
    }
}
