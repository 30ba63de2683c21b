//! Text of a value: a template for its structure, and its leaves.

use std::sync::Arc;

use adl_core::ir::{Atom, Expr, Fmt, FuncId, Lit, Method, TypeBody, Var};
use adl_core::prim;
use adl_core::ty::{BoxTy, INT, Ix, STR, Scalar, Ty, TyArg, TypeId, UNKNOWN_SIZE};

use super::order::OfCells;
use super::packed::is_pack;
use super::recursive::cell_in;
use super::shape::{Shape, Val};
use super::{Result, Spec};

/// How a function prints.
const FUNCTION: &str = "<function>";

impl Spec<'_> {
    /// Text of a value printed at top level: a String prints raw.
    pub(crate) fn show_top(&mut self, val: &Val) -> Result<Atom> {
        if val.shape == Shape::Scalar(Scalar::Str) { Ok(val.leaves[0].clone()) } else { self.show(val) }
    }

    /// Text of a value, as `show` gives it.
    pub(crate) fn show(&mut self, val: &Val) -> Result<Atom> {
        if self.has_own_text(&val.shape, &mut vec![])? {
            return self.own_text(val);
        }
        let (mut args, mut cells) = (vec![], Cells::default());
        let mut fmt = self.fmt(&val.shape, &mut val.leaves.iter(), &mut vec![], &mut args, &mut cells)?;
        // What a cell holds may hold cells of other kinds.
        while let Some(rec) = cells.shapes.get(cells.fmts.len()).cloned() {
            let content = self.content(&rec)?;
            let mut content = self.leaf_fmt(&content, &mut cells);
            // In a cell of tangents the pack is a tangent too.
            if let Some((cell, _)) = cell_in(&rec)
                && let (is_struct, true) = self.s.is_struct_in_pack(cell.id)
                && 0 < cell.order
            {
                let zero = if is_struct { "zero" } else { "Zero" };
                let whole = (String::new(), vec![Fmt::Pack(Box::new(content))]);
                content = Fmt::Sum(vec![(zero.into(), vec![]), whole]);
            }
            cells.fmts.push(content);
        }
        if !cells.fmts.is_empty() {
            fmt = Fmt::Where(Box::new(fmt), cells.fmts);
        }
        Ok(self.bind(STR, Expr::Show { fmt: Arc::new(fmt), args }))
    }

    /// Whether a value holds one of a type whose instance says how it prints.
    fn has_own_text(&mut self, shape: &Shape, seen: &mut Vec<Ty>) -> Result<bool> {
        let own = |m: &(Method, FuncId)| m.0 == Method::Show;
        if !self.s.source.types.iter().any(|t| t.methods.iter().any(own)) {
            return Ok(false);
        }
        let content = self.content(shape)?;
        if let Shape::Rec(..) = shape {
            let cell = shape.leaf_tys().swap_remove(0);
            if seen.contains(&cell) {
                return Ok(false);
            }
            seen.push(cell);
        }
        let parts: Vec<Shape> = match content {
            Shape::Struct(id, _) | Shape::Enum(id, _) if self.instance_method(id, Method::Show).is_some() => {
                return Ok(true);
            }
            Shape::Struct(_, parts) | Shape::Tuple(parts) => parts,
            Shape::Enum(_, alts) => alts.into_iter().flatten().collect(),
            Shape::Table(_, elem) => vec![*elem],
            Shape::Packed(p) => vec![p.shape],
            Shape::Scalar(_)
            | Shape::Index(_)
            | Shape::Tangent(..)
            | Shape::Fun(_)
            | Shape::Arrow(_)
            | Shape::Acc(_)
            | Shape::Rec(..)
            | Shape::Raw(_) => return Ok(false),
        };
        for part in &parts {
            if self.has_own_text(part, seen)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Text of a value that holds one whose instance says how it prints: it is called where such a value is.
    fn own_text(&mut self, val: &Val) -> Result<Atom> {
        if let Some(text) = self.by_instance(Method::Show, std::slice::from_ref(val))? {
            return Ok(text);
        }
        match &val.shape {
            Shape::Rec(..) => self.of_cells(OfCells::Text, std::slice::from_ref(val)),
            Shape::Packed(p) => {
                let inside = self.unpacked(val);
                match &p.shape {
                    Shape::Tuple(parts) if is_pack(parts, &p.links) => {
                        self.show(&inside.parts().pop().expect("a pack has an item"))
                    }
                    _ => self.show(&inside),
                }
            }
            _ => self.text_of_parts(val),
        }
    }

    /// The same for what is no cell, without what an instance says of the whole.
    pub(super) fn text_of_parts(&mut self, val: &Val) -> Result<Atom> {
        match &val.shape {
            Shape::Tuple(_) => {
                let (fmts, args) = self.texts(&val.parts())?;
                Ok(self.bind(STR, Expr::Show { fmt: Arc::new(Fmt::Tuple(fmts)), args }))
            }
            Shape::Struct(id, _) => {
                let (fmts, args) = self.texts(&self.items_of_packs(*id, 0, val.parts()))?;
                let name = self.s.source.types[id.0 as usize].name.clone();
                let fmt = Fmt::Struct(name, self.field_names(*id).into_iter().zip(fmts).collect());
                Ok(self.bind(STR, Expr::Show { fmt: Arc::new(fmt), args }))
            }
            Shape::Table(..) => {
                let texts =
                    self.map_tables(std::slice::from_ref(val), |s, x| Ok(Val::scalar(s.show(&x[0])?)))?;
                let fmt = Arc::new(Fmt::Table(Box::new(Fmt::Raw)));
                Ok(self.bind(STR, Expr::Show { fmt, args: texts.leaves }))
            }
            Shape::Enum(id, alts) => {
                let mut arms = vec![];
                for (k, alt) in alts.iter().enumerate() {
                    let vars: Vec<Var> = alt.iter().flat_map(Shape::leaf_tys).map(Var::new).collect();
                    self.open_with(&vars);
                    let whole = Val {
                        shape: Shape::Tuple(alt.clone()),
                        leaves: vars.iter().map(Atom::from).collect(),
                    };
                    let (fmts, args) = self.texts(&self.items_of_packs(*id, k, whole.parts()))?;
                    let mut text = Atom::Lit(Lit::Str(self.field_names(*id).swap_remove(k).as_str().into()));
                    if !fmts.is_empty() {
                        let parts = self.bind(STR, Expr::Show { fmt: Arc::new(Fmt::Tuple(fmts)), args });
                        text = self.prim(&prim::STR_CAT, &[text, parts]);
                    }
                    arms.push(self.suspend(vars, Val::scalar(text)));
                }
                Ok(self.case_of(val.leaves[0].clone(), arms)?.leaves.swap_remove(0))
            }
            _ => self.show(val),
        }
    }

    /// The texts of values that stand beside each other.
    fn texts(&mut self, parts: &[Val]) -> Result<(Vec<Fmt>, Vec<Atom>)> {
        let texts: Result<Vec<Atom>> = parts.iter().map(|p| self.show(p)).collect();
        Ok((parts.iter().map(|_| Fmt::Raw).collect(), texts?))
    }

    /// Of the parts of a struct, or of constructor `tag` of an enum, that are packs, the items.
    fn items_of_packs(&self, id: TypeId, tag: usize, parts: Vec<Val>) -> Vec<Val> {
        let tys = self.part_tys(id, tag);
        let item = |(part, ty): (Val, &&Ty)| match &part.shape {
            Shape::Tuple(_) if is_pack_ty(ty) => part.parts().pop().expect("a pack has an item"),
            _ => part,
        };
        parts.into_iter().zip(&tys).map(item).collect()
    }

    /// The types of the fields of a struct, or of what constructor `tag` of an enum holds.
    fn part_tys(&self, id: TypeId, tag: usize) -> Vec<&Ty> {
        match &self.s.source.types[id.0 as usize].body {
            TypeBody::Struct(fields) => fields.iter().map(|(_, t)| t).collect(),
            TypeBody::Enum(cs) => cs[tag].1.iter().collect(),
        }
    }

    /// The format of a value with these leaves, inside tables of the sizes `dims`; `args` takes what it prints.
    fn fmt(
        &mut self,
        shape: &Shape,
        leaves: &mut std::slice::Iter<Atom>,
        dims: &mut Vec<Atom>,
        args: &mut Vec<Atom>,
        cells: &mut Cells,
    ) -> Result<Fmt> {
        match shape {
            Shape::Scalar(_)
            | Shape::Index(_)
            | Shape::Raw(_)
            | Shape::Enum(..)
            | Shape::Tangent(..)
            | Shape::Rec(..)
            | Shape::Packed(_) => {
                args.extend(leaves.next().cloned());
                Ok(self.leaf_fmt(shape, cells))
            }
            Shape::Tuple(ss) => {
                let parts: Result<Vec<Fmt>> =
                    ss.iter().map(|s| self.fmt(s, leaves, dims, args, cells)).collect();
                Ok(Fmt::Tuple(parts?))
            }
            Shape::Struct(id, ss) => {
                let name = self.s.source.types[id.0 as usize].name.clone();
                let fields: Result<Vec<Fmt>> =
                    ss.iter().map(|s| self.fmt(s, leaves, dims, args, cells)).collect();
                let fields = self.with_packs(*id, 0, fields?);
                Ok(Fmt::Struct(name, self.field_names(*id).into_iter().zip(fields).collect()))
            }
            Shape::Table(ix, elem) => {
                let (depth, before) = (dims.len(), args.len());
                dims.push(ix.size());
                let inner = self.fmt(elem, leaves, dims, args, cells)?;
                // Elements that print without leaves do not say how many there are: a table of numbers does.
                let out = if args.len() == before {
                    args.push(self.zeros(dims));
                    Fmt::Table(Box::new(Fmt::Names(vec![text_of(&inner)])))
                } else {
                    Fmt::Table(Box::new(inner))
                };
                dims.truncate(depth);
                Ok(out)
            }
            Shape::Fun(_) | Shape::Arrow(_) => {
                leaves.by_ref().take(shape.n_leaves()).for_each(drop);
                Ok(Fmt::Text(FUNCTION.into()))
            }
            Shape::Acc(_) => panic!("an accumulator is no value"),
        }
    }

    /// A table of zeros of these sizes.
    fn zeros(&mut self, dims: &[Atom]) -> Atom {
        let [n, rest @ ..] = dims else { return Atom::int(0) };
        let i = Var::named("i", INT);
        self.open_with(std::slice::from_ref(&i));
        let inner = self.zeros(rest);
        let ty = Ty::table(n.clone(), inner.ty());
        let body = self.close(vec![inner]);
        self.bind(ty, Expr::For { ix: Ix::Fin(n.clone()), var: i, body })
    }

    /// The format of what prints from one leaf or none, or of a payload: it takes leaves as they come.
    fn leaf_fmt(&self, shape: &Shape, cells: &mut Cells) -> Fmt {
        match shape {
            Shape::Scalar(_) | Shape::Index(_) | Shape::Raw(_) => Fmt::Leaf,
            Shape::Tuple(ss) => Fmt::Tuple(ss.iter().map(|s| self.leaf_fmt(s, cells)).collect()),
            Shape::Struct(id, ss) => {
                let name = self.s.source.types[id.0 as usize].name.clone();
                let fields = ss.iter().map(|s| self.leaf_fmt(s, cells)).collect();
                let fields = self.with_packs(*id, 0, fields);
                Fmt::Struct(name, self.field_names(*id).into_iter().zip(fields).collect())
            }
            Shape::Enum(id, alts) => {
                let names = self.field_names(*id);
                if alts.iter().all(Vec::is_empty) {
                    return Fmt::Names(names);
                }
                let Fmt::Sum(alts) = self.sum(names, alts, cells) else { panic!("the format of a sum") };
                let alts = alts.into_iter().enumerate();
                Fmt::Sum(alts.map(|(k, (name, parts))| (name, self.with_packs(*id, k, parts))).collect())
            }
            Shape::Tangent(_, alts) if let Some((cell, _)) = cell_in(shape) => {
                let (is_struct, _) = self.s.is_struct_in_pack(cell.id);
                let zero = if is_struct { "zero" } else { "Zero" };
                self.sum(vec![zero.into(), String::new()], alts, cells)
            }
            Shape::Tangent(id, alts) => {
                let mut names = vec!["Zero".to_string()];
                if (id.0 as usize) < self.s.source.types.len() {
                    names.extend(self.field_names(*id));
                }
                self.sum(names, alts, cells)
            }
            Shape::Table(_, elem) => Fmt::Table(Box::new(self.leaf_fmt(elem, cells))),
            // What a function captured does not print.
            Shape::Fun(_) | Shape::Arrow(_) => match u32::try_from(shape.n_leaves()).expect("few captures") {
                0 => Fmt::Text(FUNCTION.into()),
                n => Fmt::Hidden(n, FUNCTION.into()),
            },
            Shape::Acc(_) => panic!("an accumulator is no value"),
            Shape::Rec(k, _) => Fmt::Cell(cells.number(*k, shape)),
            Shape::Packed(p) => Fmt::Pack(Box::new(self.packed_fmt(&p.shape, &p.links, cells))),
        }
    }

    /// The formats of the parts of a struct, or of constructor `tag` of an enum: of packs only the item prints.
    fn with_packs(&self, id: TypeId, tag: usize, fmts: Vec<Fmt>) -> Vec<Fmt> {
        let tys = self.part_tys(id, tag);
        let item = |fmts: &mut Vec<Fmt>| {
            let item = fmts.pop().expect("a pack has an item");
            Fmt::After(u32::try_from(fmts.len()).expect("few sizes"), Box::new(item))
        };
        let part = |(fmt, ty): (Fmt, &&Ty)| match fmt {
            Fmt::Tuple(mut parts) if is_pack_ty(ty) => item(&mut parts),
            Fmt::Pack(inner) if is_pack_ty(ty) => match *inner {
                Fmt::Tuple(mut parts) => Fmt::Pack(Box::new(item(&mut parts))),
                other => Fmt::Pack(Box::new(other)),
            },
            fmt => fmt,
        };
        fmts.into_iter().zip(&tys).map(part).collect()
    }

    /// The format of what is in a pack. Of a pack of the surface only the item prints.
    fn packed_fmt(&self, shape: &Shape, links: &[Option<usize>], cells: &mut Cells) -> Fmt {
        let (Shape::Tuple(parts) | Shape::Struct(_, parts)) = shape else {
            return self.leaf_fmt(shape, cells);
        };
        let mut at = 0;
        let mut fmts: Vec<Fmt> = vec![];
        for part in parts {
            let own = &links[at..at + part.n_leaves()];
            at += own.len();
            fmts.push(self.packed_fmt(part, own, cells));
        }
        match shape {
            Shape::Struct(id, _) => {
                let name = self.s.source.types[id.0 as usize].name.clone();
                Fmt::Struct(name, self.field_names(*id).into_iter().zip(fmts).collect())
            }
            _ if is_pack(parts, links) => fmts.pop().expect("its item"),
            _ => Fmt::Tuple(fmts),
        }
    }

    fn sum(&self, names: Vec<String>, alts: &[Vec<Shape>], cells: &mut Cells) -> Fmt {
        let alts = alts.iter().map(|alt| alt.iter().map(|s| self.leaf_fmt(s, cells)).collect());
        Fmt::Sum(names.into_iter().zip(alts).collect())
    }
}

/// The text of a format that takes no leaves.
fn text_of(fmt: &Fmt) -> String {
    adl_core::show::show(fmt, &[])
}

/// Is it the type of a pack of the surface: sizes, and an item with sizes that only its value knows?
fn is_pack_ty(ty: &Ty) -> bool {
    fn has_unknown(ty: &Ty) -> bool {
        let ix = |ix: &Ix| matches!(ix, Ix::Poly(p) if p.0.iter().any(|m| m.coef < UNKNOWN_SIZE / 2));
        match ty {
            Ty::Table(set, elem) => ix(set) || has_unknown(elem),
            Ty::Tuple(ts) => ts.iter().any(has_unknown),
            Ty::Index(set) => ix(set),
            Ty::Named(_, args) => args.iter().any(|a| match a {
                TyArg::Ty(t) => has_unknown(t),
                TyArg::Ix(set) => ix(set),
                TyArg::Size(_) => false,
            }),
            _ => false,
        }
    }
    match ty {
        Ty::Tuple(ts) => ts.split_last().is_some_and(|(item, sizes)| {
            !sizes.is_empty() && sizes.iter().all(|t| *t == INT) && has_unknown(item)
        }),
        _ => false,
    }
}

/// The kinds of cells met in a value, and how each is shown.
#[derive(Default)]
struct Cells {
    kinds: Vec<BoxTy>,
    shapes: Vec<Shape>,
    fmts: Vec<Fmt>,
}

impl Cells {
    fn number(&mut self, kind: BoxTy, shape: &Shape) -> u32 {
        let k = self.kinds.iter().position(|k| *k == kind).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.shapes.push(shape.clone());
            self.kinds.len() - 1
        });
        u32::try_from(k).expect("few kinds of cells")
    }
}
