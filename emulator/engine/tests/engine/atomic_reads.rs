//! Plain reads of memory that others change atomically: races that are reported on request.

use crate::device::{Args, Device};
use cuprum_engine::report::{FaultKind, Hazard};

/// A sum by compare-and-swap, as in the programming guide: the first read is plain.
const SWAPS: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry sums(.param .u64 sum)
{
.reg .pred %p;
.reg .b64 %a, %old, %assumed, %new;
.reg .f64 %x;
ld.param.u64 %a, [sum];
ld.global.u64 %old, [%a];
AGAIN:
mov.u64 %assumed, %old;
mov.b64 %x, %assumed;
add.f64 %x, %x, 0d3FF0000000000000;
mov.b64 %new, %x;
atom.global.cas.b64 %old, [%a], %assumed, %new;
setp.ne.u64 %p, %old, %assumed;
@%p bra AGAIN;
ret;
}
.visible .entry mixed(.param .u64 word)
{
.reg .pred %p;
.reg .b32 %t, %v;
.reg .b64 %a;
ld.param.u64 %a, [word];
mov.u32 %t, %tid.x;
setp.eq.u32 %p, %t, 0;
@%p bra OTHER;
FIRST;
ret;
OTHER:
SECOND;
ret;
}
";

#[test]
fn a_plain_read_beside_an_atomic_is_a_class_of_its_own() {
    let mut device = Device::load(&SWAPS.replace("FIRST", "ret").replace("SECOND", "ret")).unwrap();
    device.options.check_races = true;
    let sum = device.buffer(&[0f64]);
    let args = Args::default().buffer(&sum);
    device.launch("sums", 2, 64, &args).unwrap();
    assert_eq!(sum.read::<f64>(), [128.0]);
    device.options.check_atomic_reads = true;
    let fault = device.launch("sums", 2, 64, &args).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Race(Hazard::ReadBesideAtomic), "{fault}");

    let (read, write, swap) =
        ("ld.global.u32 %v, [%a]", "st.global.u32 [%a], %t", "atom.global.exch.b32 %v, [%a], %t");
    let (reduce, volatile) = ("red.global.add.u32 [%a], 1", "st.volatile.global.u32 [%a], 7");
    // Findings by default, and with the option. The first branch in the text runs first.
    let cases = [
        (read, swap, None, Some(Hazard::ReadBesideAtomic)),
        (swap, read, None, Some(Hazard::ReadBesideAtomic)),
        (reduce, read, None, Some(Hazard::ReadBesideAtomic)),
        (write, swap, Some(Hazard::WriteAfterWrite), Some(Hazard::WriteAfterWrite)),
        (reduce, write, Some(Hazard::WriteAfterWrite), Some(Hazard::WriteAfterWrite)),
        (volatile, read, Some(Hazard::ReadAfterWrite), Some(Hazard::ReadAfterWrite)),
        (write, read, Some(Hazard::ReadAfterWrite), Some(Hazard::ReadAfterWrite)),
        (swap, reduce, None, None),
    ];
    for (first, second, usual, all) in cases {
        let mut device = Device::load(&SWAPS.replace("FIRST", first).replace("SECOND", second)).unwrap();
        device.options.check_races = true;
        for (atomic_reads, expected) in [(false, usual), (true, all)] {
            device.options.check_atomic_reads = atomic_reads;
            // Two threads, so that only these two accesses can race.
            let args = Args::default().buffer(&device.buffer(&[0u32]));
            let found = device.launch("mixed", 1, 2, &args).err().map(|fault| fault.kind);
            assert_eq!(found, expected.map(FaultKind::Race), "{first}; {second}; {atomic_reads}");
        }
    }
}
