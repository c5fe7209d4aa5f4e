use cuprum::{Buffer, In, InOut, LaunchConfig, Stream};

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(unsigned n, float alpha, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}"#;

fn main() -> cuprum::Result<()> {
    cuprum::open(0)?.enter(|cx| {
        let module = cuprum_compile::compile(cx, SOURCE)?.share();
        let saxpy = module.kernel::<(u32, f32, In<f32>, InOut<f32>)>("saxpy")?;
        let x = Buffer::from_slice(cx, &[1.0f32; 1000])?;
        let mut y = Buffer::from_slice(cx, &[2.0f32; 1000])?;
        let stream = Stream::default_in(cx);
        let config = LaunchConfig::for_elements(1000, 256);
        // SAFETY: saxpy touches n elements of each; the copy below comes after it on the same
        // stream.
        unsafe { saxpy.launch(cx, &stream, config, (1000, 3.0, &x, &mut y)) }?;
        println!("{}", y.to_vec(cx)?.iter().sum::<f32>());
        Ok(())
    })
}
