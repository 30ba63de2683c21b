//! Linearity (invariant C5): is a backward function linear in its cotangents?
//!
//! Every value is *ordinary*, *linear* or *zero*. Sums keep to one kind, products take one linear factor, nothing
//! tests a linear value or puts it through another function, and nothing that is not zero is added to it. This is the
//! algebraic reading: a linear variable may be used more than once, since copies add up by the same rules when they
//! are transposed. So a rule that forgets a factor, adds a constant or multiplies two cotangents is found whatever the
//! numbers say.

use std::collections::{HashMap, HashSet};

use crate::bulk::{Bulk, BulkDiff};
use crate::ir::{Arm, Atom, Block, Effect, Expr, FuncId, Lit, LoopKind, Program, RedOp, Stmt, Var};
use crate::lint::Violation;
use crate::prim::{Inst, Kernel, Prim};
use crate::ty::Ty;

/// How a value depends on the linear parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Not at all.
    Ordinary,
    /// It is zero.
    Zero,
    /// Linearly.
    Linear,
}

type Result<T> = std::result::Result<T, Violation>;

/// The classes of the results of a function, given those of its parameters.
///
/// # Errors
///
/// C5, at the first use that is not linear.
pub fn check(program: &Program, id: FuncId, params: &[Class]) -> Result<Vec<Class>> {
    Linear { program, class: HashMap::new(), known: HashMap::new(), assumed: HashMap::new() }.func(id, params)
}

struct Linear<'a> {
    program: &'a Program,
    class: HashMap<Var, Class>,
    known: HashMap<(FuncId, Vec<Class>), Vec<Class>>,
    /// Functions under way, and what calls of themselves assume: at first that all is zero.
    assumed: HashMap<(FuncId, Vec<Class>), Vec<Class>>,
}

fn wrong<T>(what: impl Into<String>) -> Result<T> {
    Err(Violation { rule: "C5", message: what.into() })
}

/// The class of a sum or of a choice.
fn join(a: Class, b: Class, what: &str) -> Result<Class> {
    match (a, b) {
        (Class::Zero, x) | (x, Class::Zero) => Ok(x),
        (Class::Linear, Class::Linear) => Ok(Class::Linear),
        (Class::Ordinary, Class::Ordinary) => Ok(Class::Ordinary),
        (Class::Linear, Class::Ordinary) | (Class::Ordinary, Class::Linear) => {
            wrong(format!("{what} mixes a linear value with one that is not"))
        }
    }
}

fn product(a: Class, b: Class, what: &str) -> Result<Class> {
    match (a, b) {
        (Class::Linear, Class::Linear) => wrong(format!("{what} multiplies two linear values")),
        (Class::Zero, _) | (_, Class::Zero) => Ok(Class::Zero),
        (Class::Linear, Class::Ordinary) | (Class::Ordinary, Class::Linear) => Ok(Class::Linear),
        (Class::Ordinary, Class::Ordinary) => Ok(Class::Ordinary),
    }
}

impl Linear<'_> {
    fn func(&mut self, id: FuncId, params: &[Class]) -> Result<Vec<Class>> {
        let key = (id, params.to_vec());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        if let Some(assumed) = self.assumed.get(&key) {
            return Ok(assumed.clone());
        }
        let mut assumed = vec![Class::Zero; self.program.funcs[id.0 as usize].body.results.len()];
        loop {
            let before = self.known.clone();
            self.assumed.insert(key.clone(), assumed.clone());
            let results = self.body(id, params);
            self.assumed.remove(&key);
            let results = results?;
            if results == assumed || !self.calls_itself(id) {
                self.known.insert(key, results.clone());
                return Ok(results);
            }
            // What was found meanwhile may rest on what was assumed.
            self.known = before;
            assumed = results;
        }
    }

    fn calls_itself(&self, id: FuncId) -> bool {
        let callees = |f: FuncId| crate::reach::mentioned(&self.program.funcs[f.0 as usize].body);
        let (mut seen, mut todo) = (HashSet::new(), vec![id]);
        while let Some(f) = todo.pop() {
            for callee in callees(f) {
                if callee == id {
                    return true;
                }
                if seen.insert(callee) {
                    todo.push(callee);
                }
            }
        }
        false
    }

    fn body(&mut self, id: FuncId, params: &[Class]) -> Result<Vec<Class>> {
        let func = &self.program.funcs[id.0 as usize];
        let outer = std::mem::take(&mut self.class);
        self.class.extend(func.params.iter().cloned().zip(params.iter().copied()));
        let results = self
            .block(&func.body)
            .map_err(|v| Violation { message: format!("in `{}`: {}", func.name, v.message), ..v });
        self.class = outer;
        results
    }

    fn of(&self, a: &Atom) -> Class {
        match a {
            Atom::Var(v) => self.class.get(v).copied().unwrap_or(Class::Ordinary),
            Atom::Lit(Lit::F64(x)) if *x == 0.0 => Class::Zero,
            Atom::Lit(Lit::F32(x)) if *x == 0.0 => Class::Zero,
            Atom::Lit(_) => Class::Ordinary,
        }
    }

    /// The class of values put side by side; those without floats do not count.
    fn together(&self, atoms: &[Atom], what: &str) -> Result<Class> {
        let active = atoms.iter().filter(|a| a.ty().is_active());
        active.map(|a| self.of(a)).try_fold(Class::Zero, |a, b| join(a, b, what))
    }

    fn ordinary(&self, atoms: &[Atom], what: &str) -> Result<()> {
        match atoms.iter().find(|a| self.of(a) == Class::Linear) {
            Some(_) => wrong(format!("{what} looks at a linear value")),
            None => Ok(()),
        }
    }

    fn set(&mut self, vars: &[Var], class: Class) {
        for v in vars {
            let own = if v.ty().is_active() { class } else { Class::Ordinary };
            self.class.insert(v.clone(), own);
        }
    }

    fn set_each(&mut self, vars: &[Var], classes: &[Class]) {
        for (v, c) in vars.iter().zip(classes) {
            self.set(std::slice::from_ref(v), *c);
        }
    }

    fn block(&mut self, b: &Block) -> Result<Vec<Class>> {
        b.stmts.iter().try_for_each(|s| self.stmt(s))?;
        Ok(b.results.iter().map(|a| self.of(a)).collect())
    }

    /// Marks an accumulator that takes a value of this class.
    fn add_to(&mut self, acc: &Atom, class: Class) -> Result<()> {
        let now = join(self.of(acc), class, "an accumulator")?;
        if let Atom::Var(v) = acc {
            self.class.insert(v.clone(), now);
        }
        Ok(())
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn stmt(&mut self, s: &Stmt) -> Result<()> {
        let one = |a: &Atom| std::slice::from_ref(a).to_vec();
        let class = match &s.expr {
            Expr::Prim(p, args) => self.prim(*p, args)?,
            Expr::Atom(a)
            | Expr::Open(a)
            | Expr::Unbox(a)
            | Expr::Dup(a)
            | Expr::Drop(a)
            | Expr::AccFreeze(a)
            | Expr::AccFrom(a)
            | Expr::AccPayload { acc: a, .. } => self.of(a),
            Expr::Index { table: a, index, .. } | Expr::AccView { acc: a, index, .. } => {
                self.ordinary(index, "an index")?;
                self.of(a)
            }
            Expr::Inject { args, .. }
            | Expr::AccInj { accs: args, .. }
            | Expr::TableLit { items: args, .. }
            | Expr::Pack { items: args, .. }
            | Expr::BoxNew { args, .. } => self.together(args, "a structure")?,
            Expr::AddCt(a, b) | Expr::Update { table: a, value: b, .. } => {
                join(self.of(a), self.of(b), "a sum")?
            }
            Expr::Contract { a, b, .. } => product(self.of(a), self.of(b), "a contraction")?,
            Expr::Bulk(row, args) => self.bulk(*row, args)?,
            Expr::Zero(_) => Class::Zero,
            Expr::AccNew(_) => Class::Zero,
            Expr::AccAdd { acc, index, value, .. } => {
                self.ordinary(index, "an index")?;
                let class = self.of(value);
                return self.add_to(acc, class);
            }
            Expr::Case { scrut, arms } => {
                let classes = self.case(scrut, arms)?;
                self.set_each(&s.vars, &classes);
                return Ok(());
            }
            Expr::For { body, .. } => {
                let classes = self.block(body)?;
                self.set_each(&s.vars, &classes);
                return Ok(());
            }
            Expr::Reduce { op, body, .. } | Expr::Prefix { op, body, .. } => {
                let classes = self.block(body)?;
                if *op != RedOp::Sum && classes.contains(&Class::Linear) {
                    return wrong("a reduction other than a sum looks at a linear value");
                }
                self.set_each(&s.vars, &classes);
                return Ok(());
            }
            Expr::Loop { kind, state, init, body, .. } => return self.looped(s, kind, state, init, body),
            Expr::Call { func, args, .. } => {
                let classes: Vec<Class> = args.iter().map(|a| self.of(a)).collect();
                let results = self.func(*func, &classes)?;
                // Accumulators that are passed on take linear values only.
                for a in args.iter().filter(|a| matches!(a.ty(), Ty::Acc(_))) {
                    if classes.contains(&Class::Linear) {
                        self.add_to(a, Class::Linear)?;
                    }
                }
                self.set_each(&s.vars, &results);
                return Ok(());
            }
            Expr::Effect(e) => {
                let atoms = match e {
                    Effect::Error(a) | Effect::CheckNonNegative(a) | Effect::Trace(a) | Effect::Print(a) => {
                        one(a)
                    }
                    Effect::Assert { cond: a, msg: b } | Effect::CheckSize { left: a, right: b, .. } => {
                        vec![a.clone(), b.clone()]
                    }
                    Effect::LoadNpy { path, .. } => one(path),
                };
                self.ordinary(&atoms, "an effect")?;
                // What an error would give is never given.
                if matches!(e, Effect::Error(_)) { Class::Zero } else { Class::Ordinary }
            }
            Expr::Show { args, .. } => {
                self.ordinary(args, "`show`")?;
                Class::Ordinary
            }
            Expr::Tuple(_)
            | Expr::Record { .. }
            | Expr::Proj(..)
            | Expr::Lambda(_)
            | Expr::Apply { .. }
            | Expr::FuncRef { .. }
            | Expr::Method { .. }
            | Expr::SizeOf(_)
            | Expr::SizeVal(_)
            | Expr::Deriv { .. } => return wrong("not first-order"),
        };
        self.set(&s.vars, class);
        Ok(())
    }

    /// Linear in one table at most, by its row.
    fn bulk(&self, row: Bulk, args: &[Atom]) -> Result<Class> {
        let linear_in = match row.0.diff {
            BulkDiff::Rule { linear_in, .. } => Some(row.0.ints + linear_in),
            BulkDiff::Undefined(_) => None,
        };
        for (k, a) in args.iter().enumerate().filter(|(k, _)| Some(*k) != linear_in) {
            if self.of(a) == Class::Linear {
                return wrong(format!("`{}` looks at a linear value (operand {k})", row.0.name));
            }
        }
        Ok(linear_in.map_or(Class::Ordinary, |k| self.of(&args[k])))
    }

    fn prim(&self, p: Prim, args: &[Atom]) -> Result<Class> {
        let c: Vec<Class> = args.iter().map(|a| self.of(a)).collect();
        if !c.contains(&Class::Linear) {
            let zero = match p.0.kernel {
                Kernel::Inst(Inst::Mul) => c.contains(&Class::Zero),
                Kernel::Inst(Inst::Div) => c[0] == Class::Zero,
                Kernel::Inst(Inst::Add | Inst::Sub | Inst::Neg | Inst::ToF64 | Inst::ToF32) => {
                    c.iter().all(|c| *c == Class::Zero)
                }
                Kernel::Inst(_)
                | Kernel::F1(..)
                | Kernel::F2(..)
                | Kernel::FInt(..)
                | Kernel::I1(_)
                | Kernel::I2(_)
                | Kernel::I3(_)
                | Kernel::I2F(_)
                | Kernel::StrCat => false,
            };
            return Ok(if zero { Class::Zero } else { Class::Ordinary });
        }
        match (p.0.kernel, c.as_slice()) {
            (Kernel::Inst(Inst::Add | Inst::Sub), [a, b]) => join(*a, *b, "a sum"),
            (Kernel::Inst(Inst::Mul), [a, b]) => product(*a, *b, "a product"),
            (Kernel::Inst(Inst::Div), [Class::Linear, Class::Ordinary]) => Ok(Class::Linear),
            (Kernel::Inst(Inst::Neg | Inst::ToF64 | Inst::ToF32), [c]) => Ok(*c),
            (_, _) => wrong(format!("`{}` is not linear", p.0.name)),
        }
    }

    /// The scrutinee is ordinary, or a cotangent whose `zero` gives zeros.
    fn case(&mut self, scrut: &Atom, arms: &[Arm]) -> Result<Vec<Class>> {
        let linear = self.of(scrut) == Class::Linear;
        if linear && !matches!(scrut.ty(), Ty::Sum(_)) {
            return wrong("a case tests a linear value");
        }
        let mut out: Option<Vec<Class>> = None;
        for (k, arm) in arms.iter().enumerate() {
            self.set(&arm.params, self.of(scrut));
            let classes = self.block(&arm.body)?;
            if linear && k == 0 && classes.contains(&Class::Ordinary) {
                return wrong("the zero of a cotangent gives something that is not zero");
            }
            out = Some(match out {
                None => classes,
                Some(before) => before
                    .into_iter()
                    .zip(classes)
                    .map(|(a, b)| join(a, b, "a choice"))
                    .collect::<Result<Vec<Class>>>()?,
            });
        }
        Ok(out.unwrap_or_default())
    }

    fn looped(
        &mut self,
        s: &Stmt,
        kind: &LoopKind,
        state: &[Var],
        init: &[Atom],
        body: &Block,
    ) -> Result<()> {
        let mut classes: Vec<Class> = init.iter().map(|a| self.of(a)).collect();
        loop {
            if let LoopKind::While { params, cond } = kind {
                self.set_each(params, &classes);
                if self.block(cond)?.contains(&Class::Linear) {
                    return wrong("a loop tests a linear value");
                }
            }
            self.set_each(state, &classes);
            let results = self.block(body)?;
            let next = classes.iter().zip(&results).map(|(a, b)| join(*a, *b, "a loop's state"));
            let next = next.collect::<Result<Vec<Class>>>()?;
            if next == classes {
                let counted = usize::from(matches!(kind, LoopKind::While { .. }));
                let n = state.len();
                self.set_each(&s.vars[..n], &classes);
                self.set(&s.vars[n..n + counted], Class::Ordinary);
                self.set_each(&s.vars[n + counted..], &results[n..]);
                return Ok(());
            }
            classes = next;
        }
    }
}
