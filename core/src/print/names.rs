//! Names in Core text: functions, types and top-level variables, each told apart from all others.

use std::collections::{HashMap, HashSet};

use crate::ir::{ItemKind, Program, Var};
use crate::walk::{self, FreeVars, Visit as _};

/// Words that begin a type of their own, which a declared type does not take.
const TYPE_WORDS: &[&str] =
    &["F64", "F32", "Int", "Bool", "Str", "Key", "Acc", "T", "Index", "Fin", "exists", "ix", "size"];

/// What the functions, types and top-level variables of a program are called in its text.
#[derive(Default)]
pub(super) struct Names {
    pub(super) funcs: Vec<String>,
    pub(super) types: Vec<String>,
    /// Top-level variables; the types of later ones may mention earlier ones.
    pub(super) globals: Vec<Var>,
    pub(super) numbers: HashMap<Var, usize>,
}

impl Names {
    pub(super) fn of(p: &Program) -> Names {
        let funcs: Vec<&str> = p.funcs.iter().map(|f| f.name.as_str()).collect();
        let types: Vec<&str> = p.types.iter().map(|t| t.name.as_str()).collect();
        let mut names =
            Names { funcs: distinct(&funcs, &[]), types: distinct(&types, TYPE_WORDS), ..Names::default() };
        for item in &p.items {
            match &item.kind {
                ItemKind::Let(vars) => vars.iter().for_each(|v| names.global(v)),
                ItemKind::Param(_, v) => names.global(v),
                ItemKind::Show | ItemKind::Test(_) => {}
            }
        }
        for func in &p.funcs {
            let mut free = FreeVars::default();
            func.params.iter().for_each(|v| free.bind(v));
            free.block(&func.body);
            free.vars.iter().for_each(|v| names.global(v));
        }
        for item in &p.items {
            walk::free_vars(&item.body).iter().for_each(|v| names.global(v));
        }
        names
    }

    fn global(&mut self, v: &Var) {
        if self.numbers.contains_key(v) {
            return;
        }
        walk::ty_vars(v.ty()).iter().for_each(|size| self.global(size));
        self.numbers.insert(v.clone(), self.globals.len());
        self.globals.push(v.clone());
    }
}

/// The names; one that occurs twice, is reserved or is not a word has its number behind a `#`.
fn distinct(names: &[&str], reserved: &[&str]) -> Vec<String> {
    let mut seen = HashSet::new();
    let twice: HashSet<&str> = names.iter().copied().filter(|n| !seen.insert(*n)).collect();
    let name = |(k, n): (usize, &&str)| {
        if !is_word(n) {
            format!("_#{k}")
        } else if twice.contains(n) || reserved.contains(n) {
            format!("{n}#{k}")
        } else {
            (*n).to_string()
        }
    };
    names.iter().enumerate().map(name).collect()
}

/// Is it one word of Core text?
pub(super) fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.'".contains(c))
}

/// The name of a type parameter without the number that tells it apart.
pub(crate) fn plain_ty_var(name: &str) -> Option<&str> {
    let (plain, number) = name.rsplit_once('\'')?;
    number.parse::<usize>().is_ok().then_some(plain)
}

/// A name without the number that `distinct` gave it.
pub(crate) fn plain(name: &str) -> &str {
    name.split_once('#').map_or(name, |(name, _)| name)
}
