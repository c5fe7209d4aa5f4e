//! Results of a GPU: `tests/data/goldens/textures.txt`, written by `tests/gpu/record_textures.py`,
//! which describes the format.

use super::Resource;
use cuprum_sys::*;

#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) resources: Vec<Resource>,
    pub(crate) samplers: Vec<CUDA_TEXTURE_DESC>,
    pub(crate) views: Vec<CUDA_RESOURCE_VIEW_DESC>,
    pub(crate) codes: Vec<String>,
    pub(crate) coordinates: Vec<Vec<Vec<u32>>>,
    pub(crate) cases: Vec<Case>,
}

/// Indices of the resource, sampler and coordinates of a case, and its result.
pub(crate) struct Case {
    pub(crate) resource: usize,
    pub(crate) sampler: Option<usize>,
    pub(crate) view: Option<usize>,
    pub(crate) code: usize,
    pub(crate) coordinates: usize,
    pub(crate) results: usize,
    pub(crate) answer: Answer,
}

#[derive(PartialEq, Debug)]
pub(crate) enum Answer {
    Words(Vec<u32>),
    Texels(Vec<u8>),
    Failed(u32),
}

fn number(word: &str) -> u32 {
    word.parse().unwrap_or_else(|error| panic!("{word}: {error}"))
}

fn hexadecimal(word: &str) -> u32 {
    u32::from_str_radix(word, 16).unwrap_or_else(|error| panic!("{word}: {error}"))
}

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| hexadecimal(&text[i..i + 2]) as u8).collect()
}

fn resource(words: &[&str]) -> Resource {
    let kind = match words[0] {
        "array" => CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        "mipmap" => CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
        "linear" => CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
        "pitch2D" => CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
        other => panic!("no resource is a {other}"),
    };
    let numbers: Vec<u32> = words[1..8].iter().map(|word| number(word)).collect();
    let shape = CUDA_ARRAY3D_DESCRIPTOR {
        Width: numbers[2] as usize,
        Height: numbers[3] as usize,
        Depth: numbers[4] as usize,
        Format: CUarray_format(numbers[0]),
        NumChannels: numbers[1],
        Flags: numbers[5],
    };
    Resource { kind, shape, levels: numbers[6], texels: bytes(words[8]) }
}

fn sampler(words: &[&str]) -> CUDA_TEXTURE_DESC {
    let float = |index: usize| f32::from_bits(hexadecimal(words[index]));
    CUDA_TEXTURE_DESC {
        addressMode: core::array::from_fn(|axis| CUaddress_mode(number(words[axis]))),
        filterMode: CUfilter_mode(number(words[3])),
        flags: number(words[4]),
        maxAnisotropy: number(words[5]),
        mipmapFilterMode: CUfilter_mode(number(words[6])),
        mipmapLevelBias: float(7),
        minMipmapLevelClamp: float(8),
        maxMipmapLevelClamp: float(9),
        borderColor: core::array::from_fn(|channel| float(10 + channel)),
        ..CUDA_TEXTURE_DESC::zeroed()
    }
}

fn view(words: &[&str]) -> CUDA_RESOURCE_VIEW_DESC {
    let numbers: Vec<u32> = words.iter().map(|word| number(word)).collect();
    CUDA_RESOURCE_VIEW_DESC {
        format: CUresourceViewFormat(numbers[0]),
        width: numbers[1] as usize,
        height: numbers[2] as usize,
        depth: numbers[3] as usize,
        firstMipmapLevel: numbers[4],
        lastMipmapLevel: numbers[5],
        firstLayer: numbers[6],
        lastLayer: numbers[7],
        ..CUDA_RESOURCE_VIEW_DESC::zeroed()
    }
}

fn case(words: &[&str], answer: &str) -> Case {
    let results = number(words[5]) as usize;
    Case {
        resource: number(words[0]) as usize,
        sampler: words[1].parse().ok(),
        view: words[2].parse().ok(),
        code: number(words[3]) as usize,
        coordinates: number(words[4]) as usize,
        results,
        answer: match answer.strip_prefix("failed ") {
            Some(code) => Answer::Failed(number(code)),
            None if results == 0 => Answer::Texels(bytes(answer)),
            None => Answer::Words(answer.split(' ').map(hexadecimal).collect()),
        },
    }
}

impl Recording {
    pub(crate) fn read() -> Recording {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/goldens/textures.txt");
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut recording = Recording::default();
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        while let Some(line) = lines.next() {
            let (kind, rest) = line.split_once(' ').unwrap_or_else(|| panic!("a line of one word: {line}"));
            let words: Vec<&str> = rest.split(' ').collect();
            match kind {
                "resource" => recording.resources.push(resource(&words)),
                "sampler" => recording.samplers.push(sampler(&words)),
                "view" => recording.views.push(view(&words)),
                "code" => recording.codes.push(rest.to_owned()),
                "coordinates" => {
                    let all: Vec<u32> = words[1..].iter().map(|word| hexadecimal(word)).collect();
                    let rows = all.chunks(number(words[0]) as usize).map(<[u32]>::to_vec).collect();
                    recording.coordinates.push(rows);
                }
                "case" => {
                    let answer = lines.next().unwrap_or_else(|| panic!("no answer to {line}"));
                    recording.cases.push(case(&words, answer));
                }
                other => panic!("no record starts with `{other}`"),
            }
        }
        recording
    }
}
