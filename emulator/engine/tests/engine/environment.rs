//! `%envreg`: values from the driver besides parameters, such as a cooperative launch's workspace.

use crate::device::{Args, Device};
use cuprum_engine::exec::LaunchArgs;

const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

#[test]
fn envreg1_is_the_upper_half_of_the_workspace_and_envreg2_the_lower() {
    // As on an H100. The values reveal swapped halves and one half in place of the other.
    let reads: String = (0..32u32)
        .map(|number| format!("mov.u32 %v, %envreg{number}; st.global.u32 [%o+{}], %v; ", 4 * number))
        .collect();
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out) {{ .reg .b32 %v; .reg .b64 %o; ld.param.u64 %o, [out]; {reads} ret; }}"
    );
    let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
    let out = device.buffer(&[u32::MAX; 32]);
    let args = Args::default().buffer(&out);
    let launch = |workspace| {
        let adjust = |launch: &mut LaunchArgs<'_>| launch.grid_workspace = workspace;
        device.launch_with("k", 1, 1, &args, adjust).unwrap_or_else(|fault| panic!("{fault}"));
        out.read::<u32>()
    };
    let mut expected = [0; 32];
    assert_eq!(launch(0), expected);
    (expected[1], expected[2]) = (0x0123_4567, 0x89ab_cdef);
    assert_eq!(launch(0x0123_4567_89ab_cdef), expected);
}
