//! Print formats in Core text.

use super::{Parser, Result};
use crate::ir::Fmt;

impl Parser<'_> {
    pub(super) fn fmt(&mut self) -> Result<Fmt> {
        self.deeper(|p| {
            let t = p.next()?;
            Ok(match t {
                "_" => Fmt::Leaf,
                "raw" => Fmt::Raw,
                "[" => {
                    let elem = p.fmt()?;
                    p.word("]")?;
                    Fmt::Table(Box::new(elem))
                }
                "(" => Fmt::Tuple(p.list(")", Self::fmt)?),
                "names" => {
                    p.word("(")?;
                    Fmt::Names(p.list(")", |p| Ok(p.next()?.to_string()))?)
                }
                "sum" => {
                    p.word("(")?;
                    Fmt::Sum(p.list(")", |p| {
                        let name = p.next()?.to_string();
                        p.word("(")?;
                        Ok((name, p.list(")", Self::fmt)?))
                    })?)
                }
                "hidden" => {
                    let n = p.next()?;
                    let n = n.parse().or_else(|_| p.fail("a number of leaves"))?;
                    let text = p.next()?;
                    Fmt::Hidden(n, p.unquote(text)?)
                }
                "cell" => {
                    let k = p.next()?;
                    Fmt::Cell(k.parse().or_else(|_| p.fail("the number of a format"))?)
                }
                "where" => {
                    p.word("(")?;
                    let fmt = p.fmt()?;
                    p.word(";")?;
                    Fmt::Where(Box::new(fmt), p.list(")", Self::fmt)?)
                }
                _ if t.starts_with('"') => Fmt::Text(p.unquote(t)?),
                name => {
                    p.word("{")?;
                    let fields = p.list("}", |p| {
                        let field = p.next()?.to_string();
                        p.word(":")?;
                        Ok((field, p.fmt()?))
                    })?;
                    Fmt::Struct(name.to_string(), fields)
                }
            })
        })
    }
}
