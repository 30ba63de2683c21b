//! What stands at the top of Core text: declarations of types, cells and variables, and items.

use adl_diag::Span;

use super::{ParseError, Parser, Result};
use crate::ir::{FuncId, Item, ItemKind, Program, TypeBody, TypeDecl};
use crate::print::plain;
use crate::rule::{Rule, RuleKind};
use crate::ty::TypeId;

impl<'a> Parser<'a> {
    /// Finds the names of all functions and types, which may be used before they are declared.
    pub(super) fn announce(&mut self) -> Result<()> {
        let number = |k: usize| u32::try_from(k).unwrap_or(u32::MAX);
        let mut depth = 0_usize;
        let mut k = 0;
        while let Some(token) = self.tokens.get(k) {
            k += 1;
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                // What follows these is a name, whatever it looks like.
                "=" | "param" if depth == 0 => k += 1,
                word @ ("fn" | "struct" | "enum") if depth == 0 => {
                    let Some(name) = self.tokens.get(k) else { break };
                    k += 1;
                    let (funcs, types) = (number(self.funcs.len()), number(self.types.len()));
                    let twice = if word == "fn" {
                        self.funcs.insert(name.text, FuncId(funcs)).is_some()
                    } else {
                        self.types.insert(name.text, TypeId(types)).is_some()
                    };
                    if twice {
                        return Err(ParseError {
                            message: format!("`{}` is declared twice", name.text),
                            at: name.at,
                        });
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// One declaration, function or item.
    pub(super) fn top(&mut self, out: &mut Program) -> Result<()> {
        self.vars.clear();
        self.ty_vars.clear();
        let t = self.next()?;
        match t {
            "fn" => {
                self.in_order(self.funcs.get(self.peek()).map(|id| id.0), out.funcs.len())?;
                out.funcs.push(self.func()?);
            }
            "struct" | "enum" => {
                self.in_order(self.types.get(self.peek()).map(|id| id.0), out.types.len())?;
                out.types.push(self.type_decl(t)?);
            }
            "var" => {
                if !self.peek().starts_with('@') {
                    return self.fail("expected a top-level variable");
                }
                self.binder()?;
            }
            "let" => {
                let vars = if self.peek() == "{" { vec![] } else { self.some(Self::used)? };
                self.item(ItemKind::Let(vars), out)?;
            }
            "rule" => {
                let of = self.func_name()?;
                self.word("=")?;
                let func = self.func_name()?;
                let kind = match self.next()? {
                    "forward" => RuleKind::Forward,
                    "reverse" => RuleKind::Reverse,
                    "reverse_only" => RuleKind::ReverseOnly,
                    _ => return self.fail("expected the kind of a rule"),
                };
                out.rules.push(Rule { of, func, kind });
            }
            "show" => self.item(ItemKind::Show, out)?,
            "test" => {
                let name = self.text()?;
                self.item(ItemKind::Test(name), out)?;
            }
            "param" => {
                let name = self.next()?.to_string();
                let var = self.used()?;
                self.item(ItemKind::Param(name, var), out)?;
            }
            _ => {
                if t.strip_prefix("box#") != Some(out.boxes.len().to_string().as_str()) {
                    self.at -= 1;
                    return self.fail("expected a declaration, a function or an item");
                }
                self.word("(")?;
                let tys = self.list(")", Self::ty)?;
                out.boxes.push(tys);
            }
        }
        Ok(())
    }

    /// Has what is declared here the number that was announced?
    fn in_order(&self, announced: Option<u32>, number: usize) -> Result<()> {
        match announced {
            Some(k) if k as usize == number => Ok(()),
            Some(_) | None => self.fail("a declaration does not stand where one can"),
        }
    }

    fn item(&mut self, kind: ItemKind, out: &mut Program) -> Result<()> {
        out.items.push(Item { kind, body: self.block()?, span: Span::default() });
        Ok(())
    }

    /// After `struct` or `enum`.
    fn type_decl(&mut self, word: &str) -> Result<TypeDecl> {
        let name = plain(self.next()?).to_string();
        let tparams = self.ty_params()?;
        self.word("{")?;
        let body = if word == "struct" {
            TypeBody::Struct(self.list("}", |p| Ok((p.next()?.to_string(), p.typed_suffix()?)))?)
        } else {
            TypeBody::Enum(self.list("}", |p| {
                let name = p.next()?.to_string();
                p.word("(")?;
                Ok((name, p.list(")", Self::ty)?))
            })?)
        };
        let mut methods = vec![];
        if self.is("with") {
            methods = self.some(|p| {
                let method = p.method()?;
                p.word("=")?;
                Ok((method, p.func_name()?))
            })?;
        }
        Ok(TypeDecl { name, tparams, body, methods })
    }

    pub(super) fn func_name(&mut self) -> Result<FuncId> {
        let name = self.next()?;
        match self.funcs.get(name) {
            Some(id) => Ok(*id),
            None => self.fail(format!("there is no function `{name}`")),
        }
    }
}
