//! Whether patterns match every value; if not, a value that none matches (Maranget, "Warnings for pattern
//! matching", 2007).

use adl_diag::Span;
use adl_syntax::ast::Lit;

use crate::{
    checker::Checker,
    data::{Body, CtorRef},
    errors,
    tree::{TArm, Tp, TpKind},
    types::{Con, Ty},
};

/// What stands at the head of a value: the alternatives of its type.
#[derive(Clone, Debug, PartialEq)]
enum Head {
    Tuple,
    Struct(String, Vec<String>),
    Ctor(CtorRef, String),
    Lit(Lit),
}

/// A pattern as the algorithm sees it.
#[derive(Clone, Debug)]
enum Row {
    Any,
    Head(Head, Vec<Row>),
}

/// More columns than this are not looked at: the patterns are taken to be exhaustive.
const MAX_STEPS: u32 = 200_000;

impl Checker {
    /// A value of the type that none of the patterns matches, as the user would write it.
    pub(crate) fn missing_example(&mut self, pats: &[&Tp], ty: &Ty) -> Option<String> {
        let rows: Vec<Vec<Row>> = pats.iter().map(|p| vec![self.row(p)]).collect();
        let mut steps = MAX_STEPS;
        let missing = self.missing(&rows, &[self.arena.head(ty)], &mut steps)?;
        missing.first().map(show)
    }

    /// Reports values that no arm handles, and arms that are never reached.
    pub(crate) fn check_arms(&mut self, ty: &Ty, arms: &[TArm], span: Span) {
        if self.mentions_error(ty) || arms.iter().any(|a| is_wrong(&a.pat)) {
            return;
        }
        let mut before: Vec<&Tp> = vec![];
        for arm in arms {
            if !before.is_empty() && self.missing_example(&before, ty).is_none() {
                self.report(errors::unreachable_arm(arm.pat.span));
                return;
            }
            if arm.guard.is_none() {
                before.push(&arm.pat);
            }
        }
        if let Some(example) = self.missing_example(&before, ty) {
            self.report(errors::not_exhaustive(span, &example));
        }
    }

    fn row(&self, p: &Tp) -> Row {
        match &p.kind {
            TpKind::Wild | TpKind::Var(_) => Row::Any,
            TpKind::Lit(lit) => Row::Head(Head::Lit(lit.clone()), vec![]),
            TpKind::Tuple(ps) => Row::Head(Head::Tuple, ps.iter().map(|p| self.row(p)).collect()),
            TpKind::Ctor(ctor, ps) => {
                let all = self.arena.alternatives(&p.ty);
                let name = all.get(ctor.tag as usize).map_or(String::new(), |(name, _)| name.to_string());
                Row::Head(Head::Ctor(*ctor, name), ps.iter().map(|p| self.row(p)).collect())
            }
            TpKind::Struct(id, fields) => {
                let decl = self.arena.decl(*id);
                let Body::Struct(all) = &decl.body else { return Row::Any };
                let mut parts = vec![Row::Any; all.len()];
                for (k, p) in fields {
                    parts[*k] = self.row(p);
                }
                let names = all.iter().map(|(n, _)| n.to_string()).collect();
                Row::Head(Head::Struct(decl.name.to_string(), names), parts)
            }
        }
    }

    /// The alternatives of a type with the types of their parts; `None` where they cannot be listed.
    fn alternatives(&self, ty: &Ty) -> Option<Vec<(Head, Vec<Ty>)>> {
        let head = self.arena.head(ty);
        let Ty::Con(con, args) = &head else { return None };
        match con {
            Con::Bool => Some([true, false].into_iter().map(|b| (Head::Lit(Lit::Bool(b)), vec![])).collect()),
            Con::Tuple => Some(vec![(Head::Tuple, args.to_vec())]),
            Con::Data(_) | Con::Tangent => {
                let data = self.arena.declared(&head)?;
                Some(match self.arena.fields(&head) {
                    Some(fields) => {
                        let names = fields.iter().map(|(n, _)| n.to_string()).collect();
                        let head = Head::Struct(self.arena.decl(data).name.to_string(), names);
                        vec![(head, fields.into_iter().map(|(_, t)| t).collect())]
                    }
                    None => (0..)
                        .zip(self.arena.alternatives(&head))
                        .map(|(tag, (name, payload))| {
                            (Head::Ctor(CtorRef { data, tag }, name.to_string()), payload)
                        })
                        .collect(),
                })
            }
            Con::Float | Con::F32 | Con::Int | Con::Str | Con::Key | Con::Table | Con::Fun | Con::Lin => None,
        }
    }

    /// A row of values that no row matches.
    fn missing(&self, rows: &[Vec<Row>], types: &[Ty], steps: &mut u32) -> Option<Vec<Row>> {
        if *steps == 0 {
            return None;
        }
        *steps -= 1;
        let Some((first, rest)) = types.split_first() else {
            return if rows.is_empty() { Some(vec![]) } else { None };
        };
        if rows.is_empty() {
            return Some(vec![Row::Any; types.len()]);
        }
        let used: Vec<&Head> =
            rows.iter().filter_map(|r| if let Row::Head(h, _) = &r[0] { Some(h) } else { None }).collect();
        let alternatives = self.alternatives(first);
        if let Some(alternatives) = alternatives.filter(|_| !used.is_empty()) {
            for (head, parts) in alternatives {
                let special = specialise(rows, &head, parts.len());
                let inner: Vec<Ty> = parts.iter().chain(rest).cloned().collect();
                if let Some(mut found) = self.missing(&special, &inner, steps) {
                    let tail = found.split_off(parts.len());
                    return Some([vec![Row::Head(head, found)], tail].concat());
                }
            }
            return None;
        }
        // Literals of a type that cannot be listed, or no pattern that looks at this column.
        let default: Vec<Vec<Row>> =
            rows.iter().filter(|r| matches!(r[0], Row::Any)).map(|r| r[1..].to_vec()).collect();
        if let Some(tail) = self.missing(&default, rest, steps) {
            return Some([vec![Row::Any], tail].concat());
        }
        used.into_iter().find_map(|head| {
            let special = specialise(rows, head, 0);
            let tail = self.missing(&special, rest, steps)?;
            Some([vec![Row::Head(head.clone(), vec![])], tail].concat())
        })
    }
}

/// Whether part of the pattern was wrong, and already reported.
fn is_wrong(p: &Tp) -> bool {
    let inner = match &p.kind {
        TpKind::Wild | TpKind::Var(_) | TpKind::Lit(_) => false,
        TpKind::Tuple(ps) | TpKind::Ctor(_, ps) => ps.iter().any(is_wrong),
        TpKind::Struct(_, fields) => fields.iter().any(|(_, p)| is_wrong(p)),
    };
    inner || matches!(p.ty, Ty::Error)
}

/// The rows that match this head, their parts spread out.
fn specialise(rows: &[Vec<Row>], head: &Head, parts: usize) -> Vec<Vec<Row>> {
    rows.iter()
        .filter_map(|row| match &row[0] {
            Row::Any => Some([vec![Row::Any; parts], row[1..].to_vec()].concat()),
            Row::Head(h, inner) if h == head && inner.len() == parts => {
                Some([inner.clone(), row[1..].to_vec()].concat())
            }
            Row::Head(..) => None,
        })
        .collect()
}

fn show(row: &Row) -> String {
    let list = |rows: &[Row]| rows.iter().map(show).collect::<Vec<_>>().join(", ");
    match row {
        Row::Any => "_".into(),
        Row::Head(Head::Tuple, parts) => format!("({})", list(parts)),
        Row::Head(Head::Ctor(_, name), parts) if parts.is_empty() => name.clone(),
        Row::Head(Head::Ctor(_, name), parts) => format!("{name}({})", list(parts)),
        Row::Head(Head::Struct(name, fields), parts) => {
            let inits: Vec<String> =
                fields.iter().zip(parts).map(|(f, p)| format!("{f} = {}", show(p))).collect();
            format!("{name} {{ {} }}", inits.join(", "))
        }
        Row::Head(Head::Lit(lit), _) => match lit {
            Lit::Bool(b) => b.to_string(),
            Lit::Int(k) => k.to_string(),
            Lit::Float(x) => format!("{x:?}"),
            Lit::Str(s) => format!("{s:?}"),
        },
    }
}
