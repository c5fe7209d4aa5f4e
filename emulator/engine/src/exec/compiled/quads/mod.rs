//! Machine code for four lanes at once, a quad, or for eight, an octet, in the vectors of the
//! processor.
//!
//! It runs lanes of a warp with consecutive numbers as long as they take the same way. A register
//! that is regular in them, because all have the same or each has a number more than the one
//! before, is computed for the first; any other is a vector for each four lanes, or two if it is
//! wide. Where the lanes part, the code for single lanes goes on with each of them, up to the place
//! where they join or to their next stops.
//!
//! | file | contents |
//! |---|---|
//! | `arms`, `dominators` | short pieces of code in which lanes take different ways |
//! | `masks` | these pieces as machine code, with masks |
//! | `sizes`, `slots` | the number of lanes that run together, and the positions of their vectors |
//! | `shapes` | the registers that are regular in the lanes of a quad |
//! | `premises`, `regular` | conditions under which results are regular, and their tests |
//! | `parts` | the vectors in which an operation is computed |
//! | `focus` | the values of registers in these vectors |
//! | `alike` | costly operations whose operands are the same in all lanes |
//! | `crossings`, `collective` | shuffles and votes of whole warps, and their machine code |
//! | `joins` | the places where lanes that parted go on together |
//! | `control` | branches, arms and operations |
//! | `rows` | registers at entries and stops |
//! | `parting` | the change to single lanes, and back |
//! | `stems` | wide registers as multiples of narrow ones |
//! | `memory`, `masked` | loads, stores and atomic operations, of all lanes and of some |
//! | `places` | the memory that they access |
//! | `elements` | the elements of accesses, in memory and in vectors |

mod alike;
mod arms;
mod collective;
mod control;
mod crossings;
mod dominators;
mod elements;
mod focus;
mod joins;
mod masked;
mod masks;
mod memory;
mod parting;
mod parts;
mod places;
mod premises;
mod regular;
mod rows;
mod shapes;
mod sizes;
mod slots;
mod stems;

pub(super) use arms::{Arms, Masks, Search};
pub(super) use crossings::Crossings;
pub(super) use focus::{Focus, Quads};
pub(super) use joins::find as find_joins;
pub(super) use shapes::{Shape, Shapes, fit, may_part};
pub(super) use sizes::{MOST_LANES, MOST_QUADS, OCTET, QUAD};
