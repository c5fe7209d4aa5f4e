//! Versions of PTX, and the CUDA version that each came with.

use crate::Version;

/// Versions of PTX as major times ten plus minor, with the first CUDA version of each.
const RELEASES: &[(u32, Version)] = &[
    (10, Version::new(1, 0)),
    (11, Version::new(1, 1)),
    (12, Version::new(2, 0)),
    (13, Version::new(2, 1)),
    (14, Version::new(2, 2)),
    (20, Version::new(3, 0)),
    (21, Version::new(3, 1)),
    (22, Version::new(3, 2)),
    (23, Version::new(4, 0)),
    (30, Version::new(4, 1)),
    (31, Version::new(5, 0)),
    (32, Version::new(5, 5)),
    (40, Version::new(6, 0)),
    (41, Version::new(6, 5)),
    (42, Version::new(7, 0)),
    (43, Version::new(7, 5)),
    (50, Version::new(8, 0)),
    (60, Version::new(9, 0)),
    (61, Version::new(9, 1)),
    (62, Version::new(9, 2)),
    (63, Version::new(10, 0)),
    (64, Version::new(10, 1)),
    (65, Version::new(10, 2)),
    (70, Version::new(11, 0)),
    (71, Version::new(11, 1)),
    (72, Version::new(11, 2)),
    (73, Version::new(11, 3)),
    (74, Version::new(11, 4)),
    (75, Version::new(11, 5)),
    (76, Version::new(11, 6)),
    (77, Version::new(11, 7)),
    (78, Version::new(11, 8)),
    (80, Version::new(12, 0)),
    (81, Version::new(12, 1)),
    (82, Version::new(12, 2)),
    (83, Version::new(12, 3)),
    (84, Version::new(12, 4)),
    (85, Version::new(12, 5)),
    (86, Version::new(12, 7)),
    (87, Version::new(12, 8)),
    (88, Version::new(12, 9)),
    (90, Version::new(13, 0)),
    (91, Version::new(13, 1)),
    (92, Version::new(13, 2)),
    (93, Version::new(13, 3)),
    (94, Version::new(13, 4)),
    (95, Version::new(13, 5)),
];

/// The CUDA version that a version of PTX came with, as in `.version 8.4`; `None` for one that is
/// not known here.
///
/// ```
/// use cuprum_sys::Version;
/// assert_eq!(cuprum_sys::toolkit_of_ptx("8.4"), Some(Version::new(12, 4)));
/// ```
#[must_use]
pub fn toolkit_of_ptx(version: &str) -> Option<Version> {
    let (major, minor) = version.trim().split_once('.')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    let number = major.checked_mul(10)?.checked_add(minor).filter(|_| minor < 10)?;
    RELEASES.iter().find(|release| release.0 == number).map(|release| release.1)
}

/// The newest version of PTX that a driver of a CUDA version reads, major and minor, as far as it
/// is known here; `None` for a driver before CUDA 1.0.
///
/// ```
/// use cuprum_sys::Version;
/// assert_eq!(cuprum_sys::newest_ptx(Version::new(12, 6)), Some((8, 5)));
/// ```
#[must_use]
pub fn newest_ptx(driver: Version) -> Option<(u32, u32)> {
    let (number, _) = RELEASES.iter().rev().find(|release| release.1 <= driver)?;
    Some((number / 10, number % 10))
}
