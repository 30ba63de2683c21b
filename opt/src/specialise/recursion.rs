//! Instances: functions specialised to the shapes of their arguments, those that call themselves included.
//!
//! A function that calls itself needs the shape of its result before its code is made. So the code is made
//! under an assumption, at first what the type says, and again while the outcome differs from what was
//! assumed: a least fixed point (Kleene iteration; function values only ever join sets of lambdas).

use std::collections::HashMap;
use std::rc::Rc;

use adl_core::ir::{Atom, Block, Func, FuncId, Var};
use adl_core::reach;
use adl_core::ty::INT;
use adl_core::walk::{self, Subst};
use adl_diag::{Code as DiagCode, Span};

use super::apply::only_shape;
use super::family::{Place, code_shape};
use super::packed::is_unknown;
use super::rules::Ruled;
use super::shape::{Abstraction, Closure, Code, Shape, Val, abstract_shape};
use super::{Instance, Result, Spec, Specialiser};

/// How often the code of a function that calls itself is made. Each time the shape of its result has grown.
const MAX_ROUNDS: usize = 16;
/// How many instances there may be.
const MAX_INSTANCES: usize = 10_000;

/// An instance whose code is being made.
pub(super) struct Open {
    key: Closure,
    arg_key: Shape,
    name: String,
    span: Span,
    params: Vec<Var>,
    /// Its result, as a place of functions.
    place: Place,
    /// What calls of itself assume, once there is one.
    assumed: Option<Rc<Instance>>,
}

impl Specialiser {
    /// Does a function call, directly or through others, one whose code is not made yet?
    pub(crate) fn reaches_open(&self, id: FuncId) -> bool {
        let open: Vec<FuncId> = self.open.iter().filter_map(|o| Some(o.assumed.as_ref()?.func)).collect();
        if open.is_empty() {
            return false;
        }
        let (mut seen, mut todo) = (vec![id], vec![id]);
        while let Some(f) = todo.pop() {
            if open.contains(&f) {
                return true;
            }
            for c in reach::mentioned(&self.target.funcs[f.0 as usize].body) {
                if !seen.contains(&c) {
                    seen.push(c);
                    todo.push(c);
                }
            }
        }
        false
    }
}

/// The code of one round.
struct Made {
    result: Shape,
    body: Block,
    n_sizes: usize,
}

impl Spec<'_> {
    /// The function specialised to these shapes, and the sizes to pass first.
    pub(crate) fn instance(&mut self, closure: &Closure, arg: &Shape) -> Result<(Rc<Instance>, Vec<Atom>)> {
        let whole = Shape::Fun(vec![closure.clone()]);
        let mut sizes = Abstraction::default();
        sizes.note(&whole);
        sizes.note(arg);
        let (key, arg_key) = (only_shape(&sizes.numbered(&whole)), sizes.numbered(arg));
        let known = self.s.instances.iter().find(|i| i.key == key && i.arg_key == arg_key);
        if let Some(known) = known {
            return Ok((known.clone(), sizes.sizes));
        }
        if let Some(k) = self.s.open.iter().rposition(|o| o.key == key && o.arg_key == arg_key) {
            return Ok((self.assumed(k)?, sizes.sizes));
        }
        // Functions that grow from call to call become cells.
        let code = code_shape(closure);
        if self.s.open.iter().any(|o| o.key.code == closure.code)
            && let Some(at) = self.nested_functions(arg)
        {
            return self.start_family(Place::Arg(code, arg.skeleton()), at);
        }
        let name = self.name_of(&closure.code);
        // One instance serves many calls: its failures are where it stands.
        let span = match &closure.code {
            Code::Func(id) => self.s.source.funcs[id.0 as usize].span,
            Code::Lambda(l) => l.span,
            Code::Deriv(_) | Code::Linear(_) | Code::Cell(_) => self.span,
        };
        if MAX_INSTANCES < self.s.instances.len() + self.s.open.len() {
            let message = format!("`{name}` is needed in more than {MAX_INSTANCES} versions");
            let help = "it calls itself with arguments of ever new types or functions";
            return self.error(DiagCode::E0399, message, Some(help));
        }
        let whole = sizes.apply(&whole);
        let arg = sizes.apply(arg);
        let captured: Vec<Var> = whole.leaf_tys().into_iter().map(Var::new).collect();
        let leaves: Vec<Var> = arg.leaf_tys().into_iter().map(Var::new).collect();
        let params: Vec<Var> = sizes.params.iter().chain(&captured).chain(&leaves).cloned().collect();
        let atoms = |vs: &[Var]| -> Vec<Atom> { vs.iter().map(Atom::from).collect() };
        let arg = Val { shape: arg, leaves: atoms(&leaves) };
        let place = Place::Result(code, arg.shape.skeleton());
        self.s.open.push(Open { key, arg_key, name, span, params, place, assumed: None });
        let on_stack = if let Code::Func(id) = &closure.code { Some(*id) } else { None };
        self.s.stack.extend(on_stack);
        let made = self.fixed_point(&only_shape(&whole), &atoms(&captured), &arg)?;
        if on_stack.is_some() {
            self.s.stack.pop();
        }
        self.s.instances.push(made.clone());
        if let Some(rule) = on_stack.and_then(|id| self.s.rule_of(id)) {
            let closure = only_shape(&whole);
            let ruled = Ruled { rule, closure, arg: arg.shape, inst: made.clone() };
            self.s.ruled.insert(made.func, Rc::new(ruled));
        }
        Ok((made, sizes.sizes))
    }

    /// Makes the code of the innermost open instance, and closes it.
    fn fixed_point(&mut self, closure: &Closure, captured: &[Atom], arg: &Val) -> Result<Rc<Instance>> {
        let before = self.s.instances.len();
        for _ in 0..MAX_ROUNDS {
            let made = self.round(closure, captured, arg)?;
            let open = self.s.open.last().expect("an instance is open");
            let agreed = open.assumed.as_ref().is_none_or(|old| self.agree(old, &made));
            let (key, arg_key, params) = (open.key.clone(), open.arg_key.clone(), open.params.clone());
            let (name, known) = (open.name.clone(), open.assumed.as_ref().map(|i| i.func));
            let func = Func { name, tparams: vec![], params, body: made.body, span: open.span };
            let func = match known {
                Some(id) => {
                    self.s.target.funcs[id.0 as usize] = func;
                    id
                }
                None => self.s.push(func),
            };
            let inst =
                Rc::new(Instance { func, key, arg_key, result: made.result, n_size_results: made.n_sizes });
            if agreed {
                self.s.open.pop();
                return Ok(inst);
            }
            if let Some(at) = self.nested_functions(&inst.result) {
                return self.start_family(Place::Result(code_shape(closure), arg.shape.skeleton()), at);
            }
            // What was made meanwhile may rest on what was assumed.
            self.s.instances.truncate(before);
            self.s.open.last_mut().expect("it is still open").assumed = Some(inst);
        }
        let name = self.s.open.last().map_or(String::new(), |o| o.name.clone());
        let message =
            format!("the result of `{name}` is a function that captures the one of the call inside");
        self.error(DiagCode::E0399, message, Some("return the values that the function captures"))
    }

    fn round(&mut self, closure: &Closure, captured: &[Atom], arg: &Val) -> Result<Made> {
        let open = self.s.open.last().expect("an instance is open");
        let (params, span) = (open.params.clone(), open.span);
        let mut globals = HashMap::new();
        let shapes: Vec<Shape> = closure.captured.iter().map(|(_, s)| s.clone()).collect();
        for ((v, _), val) in closure.captured.iter().zip(Val::split(&shapes, captured)) {
            globals.insert(v.clone(), val);
        }
        // Top-level variables that a lambda reads through functions it calls are captured by it as well.
        let declared = self.declared.clone();
        let mut sub = Spec::new(self.s, &params, globals, span);
        sub.declared = declared;
        sub.open();
        let val = sub.run(closure, captured, arg.clone())?;
        let val = sub.fitted(&Place::Result(code_shape(closure), arg.shape.skeleton()), val)?;
        let (mut shapes, results, n_sizes) = sub.results(vec![val], &params);
        Ok(Made { result: shapes.swap_remove(0), body: sub.close(results), n_sizes })
    }

    /// Do calls that were written for one signature fit the other?
    fn agree(&self, old: &Instance, new: &Made) -> bool {
        let results = &self.s.target.funcs[old.func.0 as usize].body.results;
        if old.n_size_results != new.n_sizes || results.len() != new.body.results.len() {
            return false;
        }
        let pairs = results.iter().zip(&new.body.results).take(new.n_sizes);
        let map: Subst = pairs.filter_map(|(a, b)| Some((a.var()?.clone(), b.clone()))).collect();
        let same = |(a, b): (&Atom, &Atom)| walk::subst_ty(&a.ty(), &map) == b.ty();
        results.iter().zip(&new.body.results).all(same) && old.result.subst(&map) == new.result
    }

    /// What a call of an instance in the making may assume.
    fn assumed(&mut self, k: usize) -> Result<Rc<Instance>> {
        if let Some(known) = &self.s.open[k].assumed {
            return Ok(known.clone());
        }
        let Some((ty, env)) = self.declared.clone() else { panic!("a call has a result") };
        let declared = self.ty_shape(&ty, &env)?;
        let declared = self.with_families(&self.s.open[k].place.clone(), &declared);
        let sizes = std::cell::RefCell::new(vec![]);
        let result = abstract_shape(&declared, &|a| match a {
            Atom::Lit(_) if !is_unknown(a) => a.clone(),
            Atom::Lit(_) | Atom::Var(_) => {
                let n = Var::named("n", INT);
                sizes.borrow_mut().push(Atom::from(&n));
                Atom::Var(n)
            }
        });
        let mut results = sizes.into_inner();
        let n_size_results = results.len();
        results.extend(result.leaf_tys().into_iter().map(|t| Atom::Var(Var::new(t))));
        let open = &self.s.open[k];
        let (key, arg_key) = (open.key.clone(), open.arg_key.clone());
        let (name, params) = (open.name.clone(), open.params.clone());
        let body = Block { stmts: vec![], results };
        let func = self.s.push(Func { name, tparams: vec![], params, body, span: self.span });
        let inst = Rc::new(Instance { func, key, arg_key, result, n_size_results });
        self.s.open[k].assumed = Some(inst.clone());
        Ok(inst)
    }
}
