//! The total order of values that hold cells, and what the instances of a program say of `==`, `<` and `show`.

use adl_core::ir::{Atom, Block, Expr, Func, FuncId, Lit, Method, Var};
use adl_core::prim;
use adl_core::ty::{BOOL, INT, STR, Ty};

use super::shape::{Shape, Val};
use super::{Result, Spec};

/// What a function of cells gives; it is made once for a kind of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfCells {
    /// -1, 0 or 1: where the first stands in the total order.
    Rank,
    Less,
    LessOrEqual,
    Text,
    /// What an instance says; a value may hold others of its type.
    Own(Method),
}

impl OfCells {
    fn name(self) -> &'static str {
        match self {
            OfCells::Rank => "rank",
            OfCells::Less => "less",
            OfCells::LessOrEqual => "less_or_equal",
            OfCells::Text => "show",
            OfCells::Own(_) => "instance",
        }
    }

    /// What a function gives that is not written yet: a call of itself needs to know the type only.
    fn default(self) -> Atom {
        match self {
            OfCells::Rank => Atom::int(0),
            OfCells::Text | OfCells::Own(Method::Show) => Atom::Lit(Lit::Str("".into())),
            OfCells::Less | OfCells::LessOrEqual | OfCells::Own(_) => Atom::Lit(Lit::Bool(false)),
        }
    }

    fn result(self) -> Ty {
        match self {
            OfCells::Rank => INT,
            OfCells::Text | OfCells::Own(Method::Show) => STR,
            OfCells::Less | OfCells::LessOrEqual | OfCells::Own(_) => BOOL,
        }
    }
}

impl Spec<'_> {
    /// What an instance says of values of a type: `None` where their parts decide.
    pub(super) fn by_instance(&mut self, method: Method, args: &[Val]) -> Result<Option<Atom>> {
        let any = |m: &(Method, FuncId)| m.0 == method;
        if !self.s.source.types.iter().any(|t| t.methods.iter().any(any)) {
            return Ok(None);
        }
        let shape = self.content(&args[0].shape)?;
        let (Shape::Struct(id, _) | Shape::Enum(id, _)) = &shape else { return Ok(None) };
        if self.instance_method(*id, method).is_none() {
            return Ok(None);
        }
        if matches!(args[0].shape, Shape::Rec(..)) {
            return Ok(Some(self.of_cells(OfCells::Own(method), args)?));
        }
        Ok(Some(self.own_operation(method, &shape, args)?))
    }

    /// A call of the operation of the instance that a type has.
    fn own_operation(&mut self, method: Method, content: &Shape, args: &[Val]) -> Result<Atom> {
        let (Shape::Struct(id, _) | Shape::Enum(id, _)) = content else { panic!("a type with an instance") };
        let func = self.instance_method(*id, method).expect("it has one");
        let f = self.operation(func, content)?;
        let arg = match args {
            [one] => one.clone(),
            several => Val {
                shape: Shape::Tuple(several.iter().map(|a| a.shape.clone()).collect()),
                leaves: several.iter().flat_map(|a| a.leaves.clone()).collect(),
            },
        };
        Ok(self.apply(&f, arg)?.leaves.swap_remove(0))
    }

    /// A call of a function of cells of this kind.
    pub(super) fn of_cells(&mut self, what: OfCells, args: &[Val]) -> Result<Atom> {
        let mut sizes = vec![];
        args[0].shape.sizes(&mut sizes);
        let func = self.cell_function(what, &args[0].shape, args.len())?;
        let leaves = args.iter().map(|a| a.leaves[0].clone());
        let args = sizes.into_iter().chain(leaves).collect();
        Ok(self.bind(what.result(), Expr::Call { func, tys: vec![], args, checkpoint: false }))
    }

    fn cell_function(&mut self, what: OfCells, shape: &Shape, n_args: usize) -> Result<FuncId> {
        let Shape::Rec(k, sizes) = shape else { panic!("a cell") };
        let sizes: Vec<Var> = sizes.iter().map(|_| Var::named("n", INT)).collect();
        let cell = Shape::Rec(*k, sizes.iter().map(Atom::from).collect());
        let ty = cell.leaf_tys().swap_remove(0);
        let known = self.s.of_cells.iter().find(|(w, t, _)| *w == what && *t == ty);
        if let Some((.., func)) = known {
            return Ok(*func);
        }
        let cells: Vec<Var> = (0..n_args).map(|_| Var::named("a", ty.clone())).collect();
        let params: Vec<Var> = sizes.iter().chain(&cells).cloned().collect();
        let span = self.span;
        let name = format!("{}.{}", what.name(), self.s.target.funcs.len());
        let body = Block { stmts: vec![], results: vec![what.default()] };
        let func = self.s.push(Func { name, tparams: vec![], params: params.clone(), body, span });
        self.s.of_cells.push((what, ty, func));
        let mut sub = Spec::new(self.s, &params, std::collections::HashMap::new(), span);
        sub.open();
        let whole: Vec<Val> =
            cells.iter().map(|v| Val { shape: cell.clone(), leaves: vec![v.into()] }).collect();
        let mut inner = vec![];
        if !matches!(what, OfCells::Own(_)) {
            for val in &whole {
                inner.push(sub.unboxed(val)?);
            }
        }
        let result = match what {
            OfCells::Own(method) => {
                let content = sub.content(&cell)?;
                sub.own_operation(method, &content, &whole)?
            }
            OfCells::Rank => sub.rank(&inner[0], &inner[1])?,
            OfCells::Less => sub.less(Method::Lt, &inner[0], &inner[1])?,
            OfCells::LessOrEqual => sub.less(Method::Le, &inner[0], &inner[1])?,
            OfCells::Text => sub.text_of_parts(&inner[0])?,
        };
        let body = sub.close(vec![result]);
        self.s.target.funcs[func.0 as usize].body = body;
        Ok(func)
    }

    /// `<`, `<=` or the total order of cells.
    pub(super) fn less_cells(&mut self, method: Method, a: &Val, b: &Val) -> Result<Atom> {
        let args = [a.clone(), b.clone()];
        match method {
            Method::Before => {
                let rank = self.of_cells(OfCells::Rank, &args)?;
                Ok(self.prim(&prim::LT, &[rank, Atom::int(0)]))
            }
            Method::Le => self.of_cells(OfCells::LessOrEqual, &args),
            _ => self.of_cells(OfCells::Less, &args),
        }
    }

    /// -1, 0 or 1: whether `a` stands before `b`, is the same, or stands after it. Each cell is looked at once,
    /// whatever the depth.
    pub(super) fn rank(&mut self, a: &Val, b: &Val) -> Result<Atom> {
        match &a.shape {
            Shape::Tuple(_) | Shape::Struct(..) if self.by_own_order(&a.shape)?.is_none() => {
                self.rank_of_parts(&a.parts(), &b.parts())
            }
            Shape::Enum(..) if a.leaves[0].ty() != INT && self.by_own_order(&a.shape)?.is_none() => self
                .by_constructors(a, b, &|s, (j, x), (k, y)| {
                    if j == k { s.rank(x, y) } else { Ok(Atom::int(if j < k { -1 } else { 1 })) }
                }),
            Shape::Rec(..) if self.by_own_order(&a.shape)?.is_none() => {
                self.of_cells(OfCells::Rank, &[a.clone(), b.clone()])
            }
            Shape::Packed(_) => {
                let (a, b) = (self.unpacked(a), self.unpacked(b));
                self.rank(&a, &b)
            }
            _ => {
                let before = self.less(Method::Before, a, b)?;
                self.pick(
                    before,
                    |_| Ok(Atom::int(-1)),
                    |s| {
                        let after = s.less(Method::Before, b, a)?;
                        s.pick(after, |_| Ok(Atom::int(1)), |_| Ok(Atom::int(0)))
                    },
                )
            }
        }
    }

    /// The order that an instance gives values of the shape.
    fn by_own_order(&mut self, shape: &Shape) -> Result<Option<FuncId>> {
        let content = self.content(shape)?;
        let (Shape::Struct(id, _) | Shape::Enum(id, _)) = &content else { return Ok(None) };
        Ok(self.instance_method(*id, Method::Lt))
    }

    /// The first part that differs decides, and no later one is looked at.
    fn rank_of_parts(&mut self, xs: &[Val], ys: &[Val]) -> Result<Atom> {
        let ([x, xs @ ..], [y, ys @ ..]) = (xs, ys) else { return Ok(Atom::int(0)) };
        let first = self.rank(x, y)?;
        if xs.is_empty() {
            return Ok(first);
        }
        let same = self.prim(&prim::EQ, &[first.clone(), Atom::int(0)]);
        self.pick(same, |s| s.rank_of_parts(xs, ys), |_| Ok(first.clone()))
    }

    /// `if` between two scalars, each written where it is taken.
    pub(super) fn pick(
        &mut self,
        condition: Atom,
        yes: impl FnOnce(&mut Self) -> Result<Atom>,
        no: impl FnOnce(&mut Self) -> Result<Atom>,
    ) -> Result<Atom> {
        self.open();
        let val = Val::scalar(no(self)?);
        let no = self.suspend(vec![], val);
        self.open();
        let val = Val::scalar(yes(self)?);
        let yes = self.suspend(vec![], val);
        Ok(self.case_of(condition, vec![no, yes])?.leaves.swap_remove(0))
    }
}
