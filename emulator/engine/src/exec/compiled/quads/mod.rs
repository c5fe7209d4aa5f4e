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
//! | `arms` | short pieces of code that lanes skip |
//! | `sizes`, `slots` | the number of lanes that run together, and the positions of their vectors |
//! | `shapes` | the registers that are regular in the lanes of a quad |
//! | `premises`, `regular` | conditions under which results are regular, and their tests |
//! | `parts` | the vectors in which an operation is computed |
//! | `focus` | the values of registers in these vectors |
//! | `joins` | the places where lanes that parted go on together |
//! | `control` | branches, arms and operations |
//! | `rows` | registers at entries and stops |
//! | `parting` | the change to single lanes, and back |
//! | `stems` | wide registers as multiples of narrow ones |
//! | `memory`, `masked` | loads, stores and atomic operations, of all lanes and of some |
//! | `places` | the memory that they access |
//! | `elements` | the elements of accesses, in memory and in vectors |

mod arms;
mod control;
mod elements;
mod focus;
mod joins;
mod masked;
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

pub(super) use arms::Arms;
pub(super) use focus::{Focus, Quads};
pub(super) use joins::find as find_joins;
pub(super) use shapes::{Shape, Shapes, fit, may_part};
pub(super) use sizes::{MOST_LANES, MOST_QUADS, QUAD};
