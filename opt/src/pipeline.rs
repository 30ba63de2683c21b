//! The passes, in order.

use adl_core::ir::Func;

use crate::dce::dce;

/// What a function goes through before it is differentiated.
pub(crate) fn before_ad(func: Func) -> Func {
    dce(func)
}
