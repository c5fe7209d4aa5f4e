//! The header of a module: its version of PTX, its target, and the features that both bring.

use super::symbols::Features;
use super::{LoadOptions, PtxError, PtxErrorKind};
use crate::ptx;

/// Returns the number of the target's architecture, and true if it is specific to it.
pub(super) fn target_number(module: &ptx::Module<'_>) -> Option<(u32, bool)> {
    let number = module.target.first()?.trim_start_matches("sm_").trim_start_matches("compute_");
    let specific = number.ends_with(['a', 'f']);
    Some((number.trim_end_matches(['a', 'f']).parse().unwrap_or(0), specific))
}

/// Refuses a module that is not for this device.
pub(super) fn check_header(module: &ptx::Module<'_>, options: &LoadOptions) -> Result<(), Box<PtxError>> {
    let at = module.version_position;
    if module.version > options.newest_ptx {
        let ((major, minor), (known_major, known_minor)) = (module.version, options.newest_ptx);
        return Err(PtxError::at(
            at,
            PtxErrorKind::Version,
            format!(
                "PTX version {major}.{minor} is newer than {known_major}.{known_minor}, the newest that this driver \
                 reads; compile with an older toolkit"
            ),
        ));
    }
    if module.address_size != 64 {
        return Err(PtxError::at(at, PtxErrorKind::Unsupported, "only `.address_size 64` is supported"));
    }
    let (Some(target), Some((number, specific))) = (module.target.first(), target_number(module)) else {
        return Err(PtxError::at(at, PtxErrorKind::Syntax, "expected `.target`, the module has none"));
    };
    let is_known = |option: &str| {
        let architecture = option.strip_prefix("sm_").or_else(|| option.strip_prefix("compute_"));
        architecture.is_some() || ["texmode_unified", "texmode_independent", "debug"].contains(&option)
    };
    if let Some(unknown) = module.target.iter().find(|option| !is_known(option)) {
        let text = format!("`{unknown}` is no architecture or option of `.target` that this device has");
        return Err(PtxError::at(at, PtxErrorKind::Target, text));
    }
    let version = module.version;
    if let Some(least) = least_version(number).filter(|least| version < *least) {
        let text = format!(
            "PTX version {}.{} does not know `{target}`, which needs {}.{}",
            version.0, version.1, least.0, least.1
        );
        return Err(PtxError::at(at, PtxErrorKind::Target, text));
    }
    let mine = options.compute_capability;
    let fits = if specific { number == mine } else { number <= mine };
    if number < 10 || !fits {
        return Err(PtxError::at(
            at,
            PtxErrorKind::Target,
            format!(
                "the module is for `{target}`, this device has compute capability {}.{}",
                mine / 10,
                mine % 10
            ),
        ));
    }
    Ok(())
}

fn least_version(target: u32) -> Option<(u32, u32)> {
    Some(match target {
        // Current drivers accept nothing older.
        10..=13 => (1, 4),
        20 | 21 => (2, 0),
        30 | 35 => (3, 0),
        32 | 50 => (4, 0),
        37 => (4, 1),
        52 => (4, 1),
        53 => (4, 2),
        60..=62 => (5, 0),
        70 => (6, 0),
        72 => (6, 1),
        75 => (6, 3),
        80 => (7, 0),
        86 => (7, 1),
        87 => (7, 4),
        89 | 90 => (7, 8),
        100 | 101 => (8, 6),
        120 => (8, 7),
        103 | 121 => (8, 8),
        88 | 110 => (9, 0),
        _ => return None,
    })
}

pub(super) fn features(module: &ptx::Module<'_>) -> Features {
    let (number, own) = target_number(module).unwrap_or_default();
    Features {
        number,
        since_sm_100: number >= 100,
        own: own && number >= 90,
        of_sm_90a: own && number == 90,
        collectives_without_sync: number < 70 || module.version < (6, 4),
    }
}
