//! Textures and surfaces have the same bits here as on a real GPU, except as in [`Allowed`].

use crate::textures::recording::{Answer, Case, Recording};
use crate::textures::{self, Resource};
use cuprum_sys::*;
use cuprum_testing::driver_calls::TestContext;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Allowed {
    Exact,
    /// As a number, at most this much.
    Within(f32),
    /// Any difference: hardware's result is not modeled.
    Any,
}

fn allowed(resource: &Resource, sampler: &CUDA_TEXTURE_DESC, code: &str, row: &[u32]) -> Allowed {
    let numbers: Vec<f32> = row.iter().map(|word| f32::from_bits(*word)).collect();
    let linear = sampler.filterMode == CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;
    let has = |flag| sampler.flags & flag != 0;
    if code.starts_with("tex.grad.cube") {
        // The neighbors may be on another face; their distance in this case is not modeled.
        let axis = |at: &[f32]| (0..3).max_by(|a, b| at[*a].abs().total_cmp(&at[*b].abs()));
        let neighbor = |step: usize| -> Vec<f32> { (0..3).map(|i| numbers[i] + numbers[step + i]).collect() };
        if [3, 6].into_iter().any(|step| axis(&neighbor(step)) != axis(&numbers[..3])) {
            return Allowed::Any;
        }
    }
    if code.starts_with("tex.grad") {
        // Texels are numbers of levels. Hardware approximates an ellipse's axes without roots.
        return Allowed::Within(match sampler.mipmapFilterMode {
            CUfilter_mode::CU_TR_FILTER_MODE_POINT => 1.0,
            _ if sampler.maxAnisotropy > 1 => 0.55,
            _ => 0.16,
        });
    }
    if code.starts_with("tex.level") && sampler.maxAnisotropy > 1 {
        return Allowed::Within(2.0 / 256.0);
    }
    if code.contains("cube") && code.starts_with("tex.level") && linear {
        // The division for the position on the face may move it by 1/256 of a texel.
        return Allowed::Within(4.0 / 256.0);
    }
    if code.starts_with("tex.cube") || code.starts_with("tex.level.cube") {
        let sides: Vec<f32> = numbers[..3].iter().map(|side| side.abs()).collect();
        let longest = sides.iter().copied().fold(0.0, f32::max);
        if numbers.iter().any(|number| !number.is_finite()) || longest > 1e30 {
            return Allowed::Any;
        }
        // At the corner of three faces, hardware mixes three texels.
        let shortest = sides.iter().copied().fold(f32::INFINITY, f32::min);
        let corner = shortest > longest * (1.0 - 1.0 / resource.shape.Width as f32);
        if has(CU_TRSF_SEAMLESS_CUBEMAP) && linear && corner {
            return Allowed::Any;
        }
    }
    // After so many repetitions, hardware has lost bits of the fraction.
    let far = numbers.iter().any(|number| (1e4..1e6).contains(&number.abs()));
    if code.starts_with("tex.3d") && linear && has(CU_TRSF_NORMALIZED_COORDINATES) && far {
        return Allowed::Any;
    }
    match resource.shape.Format {
        // Undefined; hardware has fewer than 32 bits for it.
        CUarray_format::CU_AD_FORMAT_SIGNED_INT32 if linear => Allowed::Any,
        CUarray_format::CU_AD_FORMAT_SIGNED_INT8 if linear => Allowed::Within(1.001 / 32767.0),
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8 if linear && has(CU_TRSF_SRGB) => {
            Allowed::Within(1.0 / 256.0)
        }
        _ => Allowed::Exact,
    }
}

fn answer(recording: &Recording, case: &Case, function: CUfunction) -> Result<Answer, CUresult> {
    let memory = recording.resources[case.resource].create()?;
    let object = match case.sampler {
        Some(sampler) => {
            memory.texture(&recording.samplers[sampler], case.view.map(|view| &recording.views[view]))?
        }
        None => memory.surface()?,
    };
    let results = textures::run(function, object, &recording.coordinates[case.coordinates])?;
    Ok(match case.results {
        0 => Answer::Texels(memory.read()),
        count => Answer::Words(results.iter().flat_map(|words| words[..count].to_vec()).collect()),
    })
}

/// Returns a description of a difference. Counts results that may have any value.
fn difference(recording: &Recording, case: &Case, ours: &Answer, unmodeled: &mut usize) -> Option<String> {
    let (Answer::Words(ours), Answer::Words(theirs), Some(sampler)) = (ours, &case.answer, case.sampler)
    else {
        return (*ours != case.answer).then(|| format!("{ours:02x?}, recorded {:02x?}", case.answer));
    };
    let (resource, sampler) = (&recording.resources[case.resource], &recording.samplers[sampler]);
    let code = &recording.codes[case.code];
    let rows = &recording.coordinates[case.coordinates];
    let mut wrong = Vec::new();
    for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let row = &rows[i / case.results];
        let agrees = match allowed(resource, sampler, code, row) {
            Allowed::Exact => ours == theirs,
            Allowed::Within(most) => (f32::from_bits(*ours) - f32::from_bits(*theirs)).abs() <= most,
            Allowed::Any => {
                *unmodeled += usize::from(ours != theirs);
                true
            }
        };
        if !agrees {
            let at: Vec<f32> = row.iter().map(|word| f32::from_bits(*word)).collect();
            let [a, b] = [ours, theirs].map(|word| f32::from_bits(*word));
            wrong.push(format!(
                "component {} at {at:?}: {ours:x} ({a}), recorded {theirs:x} ({b})",
                i % case.results
            ));
        }
    }
    let first = wrong.first()?;
    Some(format!("{resource}\n    {sampler:?}\n    {} of {} differ: {first}", wrong.len(), theirs.len()))
}

#[test]
fn cases_give_what_a_gpu_gave() {
    let recording = Recording::read();
    let _context = TestContext::new();
    let mut names = Vec::new();
    let kernels = recording.codes.iter().enumerate().map(|(number, code)| {
        names.push(format!("sample_{number}"));
        textures::kernel(&names[number], code)
    });
    let module = textures::load(kernels.collect::<Vec<_>>()).expect("every instruction is known");
    let (mut wrong, mut unmodeled, mut results) = (Vec::new(), 0, 0);
    for (number, case) in recording.cases.iter().enumerate() {
        let ours = answer(&recording, case, textures::function(module, &names[case.code]));
        let problem = match (&ours, &case.answer) {
            (_, Answer::Failed(code)) => Some(format!("the recording failed with {code}")),
            (Err(code), _) => Some(format!("{code:?}: {:?}", cuprum_emulator::last_fault())),
            (Ok(ours), _) => difference(&recording, case, ours, &mut unmodeled),
        };
        if let Answer::Words(words) = &case.answer {
            results += words.len();
        }
        wrong.extend(
            problem.map(|problem| format!("case {number}, {}: {problem}", recording.codes[case.code])),
        );
    }
    let count = recording.cases.len();
    assert!(wrong.is_empty(), "{}\n{} of {count} cases are wrong", wrong.join("\n"), wrong.len());
    assert!(count >= 827 && results >= 48_000, "{count} cases, {results} results: the recording is cut off");
    assert!(unmodeled <= 89, "{unmodeled} results are not modeled");
}
