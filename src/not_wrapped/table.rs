//! All groups in one table.

use super::group::NotWrapped;

pub(super) const FILES: [&[NotWrapped]; 5] = [
    super::loader::GROUPS,
    super::superseded::GROUPS,
    super::deprecated::GROUPS,
    super::unneeded::GROUPS,
    super::out_of_scope::GROUPS,
];

/// Every function of the table that no method calls.
pub const NOT_WRAPPED: &[NotWrapped] = &joined::<{ count() }>();

pub(super) const fn count() -> usize {
    let (mut count, mut file) = (0, 0);
    while file < FILES.len() {
        count += FILES[file].len();
        file += 1;
    }
    count
}

pub(super) const fn joined<const COUNT: usize>() -> [NotWrapped; COUNT] {
    let mut all = [FILES[0][0]; COUNT];
    let (mut next, mut file) = (0, 0);
    while file < FILES.len() {
        let mut group = 0;
        while group < FILES[file].len() {
            all[next] = FILES[file][group];
            (next, group) = (next + 1, group + 1);
        }
        file += 1;
    }
    all
}
