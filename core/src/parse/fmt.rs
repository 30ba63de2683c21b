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
                    Fmt::Names(p.list(")", Self::label)?)
                }
                "sum" => {
                    p.word("(")?;
                    Fmt::Sum(p.list(")", |p| {
                        let name = p.label()?;
                        p.word("(")?;
                        Ok((name, p.list(")", Self::fmt)?))
                    })?)
                }
                "after" => Fmt::After(p.int()?, Box::new(p.fmt()?)),
                "pack" => Fmt::Pack(Box::new(p.fmt()?)),
                "hidden" => Fmt::Hidden(p.int()?, p.text()?),
                "cell" => Fmt::Cell(p.int()?),
                "where" => {
                    p.word("(")?;
                    let fmt = Box::new(p.fmt()?);
                    let mut cells = vec![];
                    while p.is(",") {
                        cells.push(p.fmt()?);
                    }
                    p.word(")")?;
                    Fmt::Where(fmt, cells)
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

    /// The name of a constructor; in quotes where it is no word.
    fn label(&mut self) -> Result<String> {
        if self.peek().starts_with('"') { self.text() } else { Ok(self.next()?.to_string()) }
    }
}
