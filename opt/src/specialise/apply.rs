//! Application of function values: inlined, or a call of a function specialised to the shapes at hand.

use adl_core::ir::{Arm, Atom, Expr, FuncId, Var};
use adl_core::ty::Ty;
use adl_diag::Code as DiagCode;

use super::family::{Place, code_shape};
use super::shape::{Closure, Code, Shape, TyVal, Val};
use super::{Env, INLINE_LIMIT, Result, Spec, size_of_block};

/// How deep calls may be nested in the text of a program, lambdas that are put in place included.
const MAX_NESTING: usize = 1_000;

impl Spec<'_> {
    /// A top-level function as a value: it captures the top-level variables that it reads.
    pub(crate) fn top_closure(&mut self, func: FuncId, tys: Vec<TyVal>) -> Result<Val> {
        let tparams = self.s.source.funcs[func.0 as usize].tparams.clone();
        let globals = self.s.globals_of(func);
        let mut captured = vec![];
        for v in globals.iter() {
            captured.push((v.clone(), self.var(v, &Env::default())?));
        }
        let mut val = self.closure(Code::Func(func), &Env::default(), captured);
        if let Shape::Fun(closures) = &mut val.shape {
            closures[0].tys = tparams.into_iter().zip(tys).collect();
        }
        Ok(val)
    }

    /// `f(arg)`, whatever lambda `f` is.
    pub(crate) fn apply(&mut self, f: &Val, arg: Val) -> Result<Val> {
        self.each_lambda(f, |spec, f| spec.apply_closure(f, arg.clone(), false))
    }

    /// Does something with a function value for each lambda it can be.
    pub(crate) fn each_lambda(
        &mut self,
        f: &Val,
        mut each: impl FnMut(&mut Self, &Val) -> Result<Val>,
    ) -> Result<Val> {
        let f = &self.unpacked(f);
        if let Shape::Arrow(_) = f.shape {
            return self.bottom();
        }
        let Shape::Fun(closures) = &f.shape else { panic!("application of no function: {:?}", f.shape) };
        match closures.as_slice() {
            [] => self.bottom(),
            [_] => each(self, f),
            many => {
                let mut branches = vec![];
                for c in many {
                    let single = Shape::Fun(vec![c.clone()]);
                    let params: Vec<Var> = single.leaf_tys().into_iter().map(Var::new).collect();
                    self.open_with(&params);
                    let leaves = params.iter().map(Atom::from).collect();
                    let val = each(self, &Val { shape: single, leaves })?;
                    let takes_payload = f.leaves[0].ty() != adl_core::ty::INT;
                    branches.push(self.suspend(if takes_payload { params } else { vec![] }, val));
                }
                self.case_of(f.leaves[0].clone(), branches)
            }
        }
    }

    /// `f(arg)` where `f` is one known lambda.
    pub(crate) fn apply_closure(&mut self, f: &Val, arg: Val, checkpoint: bool) -> Result<Val> {
        let closure = only(f).clone();
        match &closure.code {
            Code::Deriv(kind) => {
                let inner = Val { shape: closure.captured[0].1.clone(), leaves: f.leaves.clone() };
                self.derivative(*kind, &inner, arg)
            }
            Code::Linear(map) => self.apply_linear(map, &f.leaves, &arg),
            Code::Func(id) => {
                // A function may well be at work inside its own argument.
                if MAX_NESTING < self.s.stack.len() {
                    let name = self.s.source.funcs[id.0 as usize].name.clone();
                    let message = format!("calls of functions such as `{name}` are nested too deeply");
                    return self.error(DiagCode::E0399, message, Some("write them as a `loop`"));
                }
                let large = size_of_block(&self.s.source.funcs[id.0 as usize].body) > INLINE_LIMIT;
                // A function with a rule stays whole, so that its derivative is found.
                let ruled = self.s.rule_of(*id).is_some();
                if large || checkpoint || ruled || self.s.is_recursive_func(*id) {
                    return self.call(f, arg, checkpoint);
                }
                self.s.stack.push(*id);
                let val = self.run(&closure, &f.leaves, arg);
                self.s.stack.pop();
                val
            }
            Code::Cell(_) => self.call(f, arg, checkpoint),
            Code::Lambda(_) if checkpoint => self.call(f, arg, true),
            // A lambda inside itself: the values that would end this are known when the program runs.
            code @ Code::Lambda(_) if self.s.running.contains(code) => self.call(f, arg, false),
            Code::Lambda(_) => self.run(&closure, &f.leaves, arg),
        }
    }

    fn call(&mut self, f: &Val, arg: Val, checkpoint: bool) -> Result<Val> {
        let closure = only(f);
        let arg = self.fitted(&Place::Arg(code_shape(closure), arg.shape.skeleton()), arg)?;
        let (inst, sizes) = self.instance(closure, &arg.shape)?;
        let args = sizes.into_iter().chain(f.leaves.iter().cloned()).chain(arg.leaves).collect();
        Ok(self.call_instance(&inst, args, checkpoint))
    }

    /// The body of a lambda or function, here.
    pub(super) fn run(&mut self, closure: &Closure, leaves: &[Atom], arg: Val) -> Result<Val> {
        let mut env = Env::default();
        for (t, val) in &closure.tys {
            env.set_ty(t, val.clone());
        }
        let shapes: Vec<Shape> = closure.captured.iter().map(|(_, s)| s.clone()).collect();
        for ((v, _), val) in closure.captured.iter().zip(Val::split(&shapes, leaves)) {
            env.set(v, val);
        }
        let (param, body) = match &closure.code {
            Code::Lambda(l) => (l.param.clone(), l.body.clone()),
            Code::Func(id) => {
                let func = &self.s.source.funcs[id.0 as usize];
                (func.params[0].clone(), func.body.clone())
            }
            Code::Cell(k) => return self.apply_cell(*k, &leaves[0], &arg),
            Code::Deriv(_) | Code::Linear(_) => {
                return self.apply_closure(
                    &Val { shape: Shape::Fun(vec![closure.clone()]), leaves: leaves.to_vec() },
                    arg,
                    false,
                );
            }
        };
        env.set(&param, arg);
        self.s.running.push(closure.code.clone());
        let declared = self.declared.clone();
        let val = self.block1(&body, &env);
        self.declared = declared;
        self.s.running.pop();
        val
    }

    pub(super) fn name_of(&self, code: &Code) -> String {
        let base = match code {
            Code::Func(id) => self.s.source.funcs[id.0 as usize].name.clone(),
            Code::Lambda(_) => "lambda".to_string(),
            Code::Deriv(kind) => format!("{kind:?}").to_lowercase(),
            Code::Linear(_) => "linear".to_string(),
            Code::Cell(_) => "functions".to_string(),
        };
        format!("{base}.{}", self.s.target.funcs.len())
    }

    /// Chooses an arm by an ordinal or truth value, without payloads.
    pub(crate) fn choose(&mut self, scrut: Atom, tys: Vec<Ty>, arms: Vec<Vec<Atom>>) -> Vec<Atom> {
        let arms = arms
            .into_iter()
            .map(|results| Arm { params: vec![], body: adl_core::ir::Block { stmts: vec![], results } })
            .collect();
        self.bind_all(tys, Expr::Case { scrut, arms })
    }
}

/// The one lambda of a function value.
pub(crate) fn only(f: &Val) -> &Closure {
    match &f.shape {
        Shape::Fun(closures) if closures.len() == 1 => &closures[0],
        other => panic!("not one lambda: {other:?}"),
    }
}

pub(super) fn only_shape(shape: &Shape) -> Closure {
    match shape {
        Shape::Fun(closures) if closures.len() == 1 => closures[0].clone(),
        other => panic!("not one lambda: {other:?}"),
    }
}
