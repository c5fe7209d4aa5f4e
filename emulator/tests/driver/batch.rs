//! Batches of copies, and copies with attributes.

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn in_order() -> CUmemcpyAttributes {
    CUmemcpyAttributes { srcAccessOrder: CUmemcpySrcAccessOrder(1), ..CUmemcpyAttributes::zeroed() }
}

#[test]
fn a_batch_of_copies_names_the_one_that_fails() {
    let _context = TestContext::new();
    let stream = stream(0);
    let buffer = alloc(32);
    write(buffer, &[1u32, 2, 3, 4, 0, 0, 0, 0]);
    let (mut to, mut from) = ([buffer + 16, buffer + 28], [buffer + 8, buffer]);
    let (mut sizes, mut failed) = ([8, 4], 9);
    let mut attributes = in_order();
    let mut batch = |to: &mut [u64; 2], from: &mut [u64; 2], sizes: &mut [usize; 2], failed: &mut usize| {
        code!(cuMemcpyBatchAsync(
            to.as_mut_ptr(),
            from.as_mut_ptr(),
            sizes.as_mut_ptr(),
            2,
            &mut attributes,
            &mut 0,
            1,
            failed,
            stream
        ))
    };
    assert_eq!(batch(&mut to, &mut from, &mut sizes, &mut failed), CUresult::CUDA_SUCCESS);
    assert_eq!(read::<u32>(buffer, 8), [1, 2, 3, 4, 3, 4, 0, 1]);
    assert_eq!(batch(&mut to, &mut from, &mut [8, 8], &mut failed), INVALID_VALUE);
    assert_eq!(failed, 1);
}

/// Boxes of memory, as rows and layers with gaps; operands without a pitch have none.
#[test]
fn a_batch_of_boxes_is_copied() {
    let _context = TestContext::new();
    let stream = stream(1);
    // Two layers of two rows of 4 bytes.
    let source = alloc(16);
    write(source, &(0..16u8).collect::<Vec<_>>());
    let target = alloc(16);
    ok!(cuMemsetD8_v2(target, 0xff, 16));
    // The stream does not wait for the default stream.
    ok!(cuCtxSynchronize());
    let place = |address, row, layer| {
        let mut operand = CUmemcpy3DOperand::zeroed();
        operand.type_ = CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER;
        operand.op.ptr = CUmemcpy3DOperand_op_ptr {
            ptr: address,
            rowLength: row,
            layerHeight: layer,
            ..CUmemcpy3DOperand_op_ptr::zeroed()
        };
        operand
    };
    let mut copy = CUDA_MEMCPY3D_BATCH_OP::zeroed();
    (copy.src, copy.dst) = (place(source, 4, 2), place(target, 0, 0));
    copy.extent = CUextent3D { width: 2, height: 2, depth: 2 };
    copy.srcAccessOrder = CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    ok!(cuMemcpy3DBatchAsync_v2(1, &mut copy, 0, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u8>(target, 9), [0, 1, 4, 5, 8, 9, 12, 13, 0xff]);
    // The second one exceeds its memory: its index is returned, and the first was copied.
    let mut copies = [copy; 2];
    copies[0].dst = place(target + 8, 0, 0);
    copies[1].dst = place(target + 12, 0, 0);
    let mut failed = 0;
    let answer = code!(cuMemcpy3DBatchAsync(2, copies.as_mut_ptr(), &mut failed, 0, stream));
    assert_eq!((answer, failed), (CUresult::CUDA_ERROR_INVALID_VALUE, 1));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u8>(target + 8, 8), [0, 1, 4, 5, 8, 9, 12, 13]);
    copies[0].dst = place(target, 0, 0);
    ok!(cuMemcpy3DWithAttributesAsync(&mut copies[0], 0, stream));
    let mut attributes = in_order();
    ok!(cuMemcpyWithAttributesAsync(target, source + 1, 3, &mut attributes, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u8>(target, 4), [1, 2, 3, 5]);
}
