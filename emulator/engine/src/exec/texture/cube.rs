//! Converts directions to positions on the faces of a cube.

/// Converts a vector to the axes of a face: its first and second axis, and the outward direction.
fn seen_from(face: u32, [x, y, z]: [f32; 3]) -> [f32; 3] {
    match face {
        0 => [-z, -y, x],
        1 => [z, -y, -x],
        2 => [x, z, y],
        3 => [x, -z, -y],
        4 => [x, -y, z],
        _ => [-x, -y, -z],
    }
}

/// Returns the face to which a direction points.
fn toward([x, y, z]: [f32; 3]) -> u32 {
    let [ax, ay, az] = [x, y, z].map(f32::abs);
    let (axis, side) = if az >= ax && az >= ay {
        (2, z)
    } else if ay >= ax {
        (1, y)
    } else {
        (0, x)
    };
    2 * axis + u32::from(side.is_sign_negative())
}

/// Returns the position on a face, from 0 to 1, that a direction passes through.
fn place(face: u32, direction: [f32; 3]) -> [f32; 2] {
    let [along, across, depth] = seen_from(face, direction);
    // The zero vector maps to the middle of a face.
    [along, across].map(|side| if depth == 0.0 { 0.5 } else { (side / depth + 1.0) / 2.0 })
}

/// Returns the face to which a direction points, and the position on it.
pub(super) fn face(direction: [f32; 3]) -> (u32, [f32; 2]) {
    let face = toward(direction);
    (face, place(face, direction))
}

/// Returns the movement of the position on the face when the direction changes.
pub(super) fn moved(direction: [f32; 3], change: [f32; 3]) -> [f32; 3] {
    let (face, from) = face(direction);
    let to = place(face, core::array::from_fn(|axis| direction[axis] + change[axis]));
    [to[0] - from[0], to[1] - from[1], 0.0]
}

/// Returns the texel at a position of a face, or on the neighboring face if it is beyond the edge.
/// Beyond a corner there is no texel; it takes one of the texels at the corner.
pub(super) fn across(face: u32, place: [i64; 2], size: u32) -> (u32, [u32; 2]) {
    let inside = |index: i64| (0..i64::from(size)).contains(&index);
    if place.into_iter().all(inside) {
        return (face, place.map(|index| index as u32));
    }
    // The middle of the texel, from -1 to 1 on the face.
    let [s, t] = place.map(|index| (2.0 * index as f32 + 1.0) / size as f32 - 1.0);
    let direction = match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    let (face, place) = self::face(direction);
    (face, place.map(|side| ((side * size as f32) as u32).min(size.saturating_sub(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_across_an_edge_are_neighbors_back() {
        for size in [1, 2, 4, 7, 64] {
            let last = i64::from(size) - 1;
            for start in 0..6 {
                for along in 0..=last {
                    for (place, inner) in [
                        ([-1, along], [0, along]),
                        ([last + 1, along], [last, along]),
                        ([along, -1], [along, 0]),
                        ([along, last + 1], [along, last]),
                    ] {
                        let (other, [x, y]) = across(start, place, size);
                        assert_ne!(other, start);
                        let [x, y] = [x, y].map(i64::from);
                        let back = [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]];
                        let home = (start, inner.map(|index| index as u32));
                        assert!(
                            back.into_iter().any(|place| across(other, place, size) == home),
                            "size {size}, face {start}, {place:?} -> face {other}, {x} {y}"
                        );
                    }
                }
            }
        }
    }
}
