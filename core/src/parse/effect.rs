//! Effects in Core text.

use super::{Parser, Result};
use crate::ir::Effect;

impl Parser<'_> {
    /// The effect that the word `t` begins, if it is one.
    pub(super) fn effect(&mut self, t: &str) -> Result<Option<Effect>> {
        Ok(Some(match t {
            "error" => Effect::Error(self.one_in_parens()?),
            "assert" => {
                let (cond, msg) = self.two_in_parens()?;
                Effect::Assert { cond, msg }
            }
            "check_size" => {
                let (left, right) = self.two_in_parens()?;
                Effect::CheckSize { left, right, what: self.text()?.into() }
            }
            "check_non_negative" => Effect::CheckNonNegative(self.one_in_parens()?),
            "trace" => Effect::Trace(self.one_in_parens()?),
            "print" => Effect::Print(self.one_in_parens()?),
            "load_npy" => {
                let path = self.one_in_parens()?;
                let rank = self.int()?;
                let name = self.next()?;
                let Some(elem) = Self::scalar(name) else { return self.fail("expected a scalar type") };
                Effect::LoadNpy { path, rank, elem }
            }
            _ => return Ok(None),
        }))
    }
}
