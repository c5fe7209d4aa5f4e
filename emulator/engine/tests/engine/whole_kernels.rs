//! Whole kernels on the engine alone, compared with expected results.

use crate::device::{Args, Device};

fn ptx(name: &str) -> String {
    let path = format!("{}/../../kernels/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn load(name: &str) -> Device {
    Device::load(&ptx(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns numbers that are neither round nor regular.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + 13) % 1009) as f32 / 64.0 - 7.5).collect()
}

#[test]
fn vector_add() {
    let device = load("vector_add");
    let n = 1003;
    let (a, b) = (numbers(n), numbers(2 * n)[n..].to_vec());
    let (x, y, out) = (device.buffer(&a), device.buffer(&b), device.buffer(&vec![0f32; n]));
    let args = Args::default().buffer(&x).buffer(&y).buffer(&out).push(n as u32);
    device.launch("vector_add", 4, 256, &args).unwrap();
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(out.read::<f32>(), expected);
}

#[test]
fn saxpy_in_both_shapes() {
    let device = load("saxpy");
    let n = 1003;
    let x = numbers(n);
    for (kernel, grid) in [("saxpy", 8), ("saxpy_grid_stride", 2)] {
        let (dx, dy) = (device.buffer(&x), device.buffer(&vec![2f32; n]));
        let args = Args::default().push(n as u32).push(1.5f32).buffer(&dx).buffer(&dy);
        device.launch(kernel, grid, 128, &args).unwrap();
        let expected: Vec<f32> = x.iter().map(|x| 1.5f32.mul_add(*x, 2.0)).collect();
        assert_eq!(dy.read::<f32>(), expected, "{kernel}");
    }
}

#[test]
fn reductions() {
    for (module, kernel, block) in
        [("reduce_shared", "reduce_shared", 256), ("reduce_shuffle", "reduce_shuffle", 192)]
    {
        let device = load(module);
        let x = numbers(5000);
        let (input, out) = (device.buffer(&x), device.buffer(&[0f32; 4]));
        let args = Args::default().buffer(&input).buffer(&out).push(5000u32);
        device.launch(kernel, 4, block, &args).unwrap();
        let sum: f64 = out.read::<f32>().iter().map(|x| f64::from(*x)).sum();
        let expected: f64 = x.iter().map(|x| f64::from(*x)).sum();
        assert!((sum - expected).abs() < 0.05, "{kernel}: {sum} for {expected}");
    }
}

#[test]
fn matrix_products() {
    for (module, block) in [("matmul_naive", (32, 8)), ("matmul_naive", (16, 16)), ("matmul_tiled", (16, 16))]
    {
        let device = load(module);
        let (m, n, k) = (37usize, 45usize, 50usize);
        let (a, b) = (numbers(m * k), numbers(k * n));
        let (da, db, dc) = (device.buffer(&a), device.buffer(&b), device.buffer(&vec![0f32; m * n]));
        let args = Args::default().buffer(&da).buffer(&db).buffer(&dc);
        let args = args.push(m as u32).push(n as u32).push(k as u32);
        let grid = ((n as u32).div_ceil(block.0), (m as u32).div_ceil(block.1));
        device.launch(module, grid, block, &args).unwrap();
        let mut expected = vec![0f32; m * n];
        for row in 0..m {
            for column in 0..n {
                for i in 0..k {
                    let sum = &mut expected[row * n + column];
                    *sum = a[row * k + i].mul_add(b[i * n + column], *sum);
                }
            }
        }
        assert_eq!(dc.read::<f32>(), expected, "{module} {block:?}");
    }
}

#[test]
fn every_committed_kernel_loads() {
    let mut modules = 0;
    for folder in ["", "dialect_100/", "corpus/", "clients/"] {
        let path = format!("{}/../../kernels/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                let text = std::fs::read_to_string(&path).unwrap();
                Device::load(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                modules += 1;
            }
        }
    }
    assert!(modules >= 20, "{modules}");
}
