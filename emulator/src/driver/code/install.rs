//! The functions of this room.

use super::{
    cluster_calls, function, kernel_calls, launch_calls, legacy_launch, library_calls, link, module_calls,
    occupancy,
};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    cluster_calls::install(builder);
    function::install(builder);
    kernel_calls::install(builder);
    launch_calls::install(builder);
    legacy_launch::install(builder);
    library_calls::install(builder);
    link::install(builder);
    module_calls::install(builder);
    occupancy::install(builder);
}
