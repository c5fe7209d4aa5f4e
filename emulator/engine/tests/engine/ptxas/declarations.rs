//! The recorded declarations are correct where NVIDIA's assembler accepts them.

use super::assembler::Assembler;
use crate::declarations;

#[test]
#[ignore = "fetches NVIDIA's assembler"]
fn the_assembler_accepts_the_declarations_recorded_as_correct() {
    let assembler = Assembler::fetch();
    let mut wrong = String::new();
    for (text, is_correct) in declarations::all() {
        let checked = assembler.check(&text, 90, 0);
        if checked.is_ok() != is_correct {
            wrong += &format!("{checked:?}\n{text}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
