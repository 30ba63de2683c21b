//! Specialise: higher-order polymorphic Core becomes first-order Core, exactly.
//!
//! A partial evaluator. Values are [`shape::Val`]s: structure that is known (tuples, structs, which lambdas
//! a function can be) around first-order atoms that are not. So tuples and structs are split into leaves,
//! tables of structures become structures of tables, type parameters and overloads are resolved by the
//! values themselves, and a function value is the leaves of what it captured. Derivative operators are
//! expanded as they are met (`expand`): inner ones first, since a function is specialised
//! before it is differentiated.
//!
//! After it, invariants C1–C8 of Core hold at the first-order stage.

mod apply;
mod arith;
mod bulk;
mod compare;
mod cycles;
mod effects;
mod family;
mod forms;
mod join;
mod loops;
mod methods;
mod order;
mod packed;
mod recursion;
mod recursive;
mod reduce;
mod rules;
pub mod shape;
mod show;
mod types;

use std::collections::HashMap;
use std::rc::Rc;

use adl_ad::Derivatives;
use adl_core::build::{self, Builder};
use adl_core::ir::{Atom, Block, Effect, Expr, Func, FuncId, Item, ItemKind, Lit, Program, Var};
use adl_core::prim::{Prim, PrimDef};
use adl_core::reach;
use adl_core::ty::{INT, Ty, TyVar};
use adl_core::walk::{self, Subst};
use adl_diag::{Code, FileId, Span};

use recursive::Rec;
use rules::Ruled;
use shape::{Closure, Shape, TyVal, Val};

/// A user's mistake that shows only here, or a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecError {
    /// Its code.
    pub code: Code,
    /// In words.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where.
    pub span: Span,
}

/// Result of specialisation.
pub type Result<T> = std::result::Result<T, SpecError>;

/// A function specialised to shapes.
#[derive(Debug)]
pub(crate) struct Instance {
    /// The first-order function: parameters are sizes, then leaves; results are sizes, then leaves.
    pub(crate) func: FuncId,
    /// The key: code and shapes with numbered sizes.
    key: Closure,
    arg_key: Shape,
    /// The result, over the parameters and results of `func`.
    pub(crate) result: Shape,
    /// How many results are sizes.
    pub(crate) n_size_results: usize,
}

/// The code of a top-level item.
#[derive(Clone, Debug)]
pub struct ItemCode {
    /// What runs.
    pub func: FuncId,
    /// For each parameter of `func`, the top-level variable and the number of its leaf.
    pub inputs: Vec<(Var, usize)>,
    /// The shapes of what it gives, over the results of `func`.
    pub results: Vec<Shape>,
    /// How many results of `func` are sizes; the leaves of the shapes follow.
    pub n_sizes: usize,
}

/// The state that outlives an item: programs, instances and derivatives made so far.
pub struct Specialiser {
    /// Higher-order Core, from the checker. It grows in a session.
    pub source: Program,
    /// First-order Core made so far.
    pub target: Program,
    pub(crate) derivatives: Derivatives,
    instances: Vec<Rc<Instance>>,
    /// The instances of functions with rules.
    pub(crate) ruled: HashMap<FuncId, Rc<Ruled>>,
    /// Functions being specialised, from the outside in.
    stack: Vec<FuncId>,
    /// The files of the library.
    pub library: Vec<FileId>,
    /// What is being put in place, from the outside in.
    running: Vec<shape::Code>,
    /// Instances whose code is being made.
    open: Vec<recursion::Open>,
    cycles: cycles::Cycles,
    /// Which types of `source` do.
    recursive_types: Vec<bool>,
    recs: Vec<recursive::Rec>,
    /// The functions of cells made so far.
    of_cells: Vec<(order::OfCells, Ty, FuncId)>,
    /// The families of functions, by place and position.
    places: Vec<(family::Place, usize, u32)>,
    /// A family grew: the item has to be made again.
    restart: bool,
    /// How many recursive types are being read, one inside the other.
    open_recs: usize,
    /// Time spent in `adl_ad` so far, which is part of the time of specialisation.
    pub expanding: std::time::Duration,
}

/// Specialisation of one first-order function.
pub(crate) struct Spec<'a> {
    pub(crate) s: &'a mut Specialiser,
    scopes: Vec<Scope>,
    /// At which depth of `scopes` a variable is bound.
    home: HashMap<Var, usize>,
    /// Values of top-level variables here.
    globals: HashMap<Var, Val>,
    pub(crate) span: Span,
    /// The type of what the statement at work gives, and what its parameters stand for.
    declared: Option<(Ty, Env)>,
}

/// A block under construction.
struct Scope {
    b: Builder,
    /// Int computations on sizes made here, so that equal sizes are one atom.
    sizes: Vec<((&'static str, Vec<Atom>), Atom)>,
}

/// A state of a [`Specialiser`] to which it can go back.
pub struct Mark {
    funcs: usize,
    types: usize,
    /// For each kind of cells, how many functions it can hold.
    recs: Vec<usize>,
}

/// What variables and type parameters of higher-order Core stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    vars: Rc<HashMap<Var, Val>>,
    tys: Rc<Vec<(TyVar, TyVal)>>,
}

impl Env {
    fn set(&mut self, v: &Var, val: Val) {
        Rc::make_mut(&mut self.vars).insert(v.clone(), val);
    }
    fn set_ty(&mut self, t: &TyVar, val: TyVal) {
        let tys = Rc::make_mut(&mut self.tys);
        tys.retain(|(v, _)| v != t);
        tys.push((t.clone(), val));
    }
    fn ty(&self, t: &TyVar) -> Option<&TyVal> {
        self.tys.iter().find(|(v, _)| v == t).map(|(_, val)| val)
    }
}

/// How often the code of an item is made again because a set of functions grew.
const MAX_RESTARTS: usize = 1_000;

/// Functions with more statements than this are not copied to where they are called.
const INLINE_LIMIT: usize = 60;

impl Specialiser {
    /// For a program from the checker.
    pub fn new(source: Program) -> Specialiser {
        Specialiser {
            source,
            target: Program::default(),
            derivatives: Derivatives::default(),
            instances: vec![],
            ruled: HashMap::new(),
            stack: vec![],
            library: vec![],
            running: vec![],
            open: vec![],
            cycles: cycles::Cycles::default(),
            recursive_types: vec![],
            recs: vec![],
            of_cells: vec![],
            places: vec![],
            restart: false,
            open_recs: 0,
            expanding: std::time::Duration::ZERO,
        }
    }

    /// What is known now, for [`Specialiser::forget`].
    pub fn mark(&self) -> Mark {
        let members = |r: &Rec| if let Rec::Functions(family) = r { family.len() } else { 0 };
        Mark {
            funcs: self.source.funcs.len(),
            types: self.source.types.len(),
            recs: self.recs.iter().map(members).collect(),
        }
    }

    /// Forgets what came after the mark: functions and types of the source, whose numbers others will take, and
    /// what was made of them.
    pub fn forget(&mut self, mark: &Mark) {
        self.source.funcs.truncate(mark.funcs);
        self.source.types.truncate(mark.types);
        // Instances may rest on one another.
        self.instances.clear();
        self.of_cells.clear();
        self.ruled.clear();
        self.source.rules.retain(|r| (r.func.0 as usize) < mark.funcs);
        self.cycles = cycles::Cycles::default();
        self.recursive_types.truncate(mark.types);
        self.recs.truncate(mark.recs.len());
        self.target.boxes.truncate(mark.recs.len());
        self.places.retain(|(_, _, k)| (*k as usize) < mark.recs.len());
        for ((rec, n), content) in self.recs.iter_mut().zip(&mark.recs).zip(&mut self.target.boxes) {
            if let Rec::Functions(family) = rec {
                family.truncate(*n);
                *content = family.content();
            }
        }
    }

    /// The code of an item, given the values of the top-level variables before it (their size atoms are
    /// constants). With `show`, the value of a bare expression is turned into text.
    ///
    /// # Errors
    ///
    /// [`SpecError`] for a function without a derivative, and for limits.
    pub fn item(&mut self, item: &Item, top: &HashMap<Var, Shape>, name: &str) -> Result<ItemCode> {
        for _ in 0..MAX_RESTARTS {
            self.restart = false;
            let made = self.item_once(item, top, name);
            if !self.restart {
                return made;
            }
            self.instances.clear();
        }
        let message = format!("more than {MAX_RESTARTS} functions meet in one place");
        Err(SpecError { code: Code::E0399, message, help: None, span: item.span })
    }

    fn item_once(&mut self, item: &Item, top: &HashMap<Var, Shape>, name: &str) -> Result<ItemCode> {
        self.stack.clear();
        self.running.clear();
        self.open.clear();
        self.open_recs = 0;
        let mut params = vec![];
        let mut inputs = vec![];
        let mut globals = HashMap::new();
        for v in self.free_globals(&item.body) {
            let Some(shape) = top.get(&v) else { continue };
            let tys = shape.leaf_tys();
            let leaves: Vec<Var> = tys.into_iter().map(|t| Var::named(v.name(), t)).collect();
            for (k, leaf) in leaves.iter().enumerate() {
                params.push(leaf.clone());
                inputs.push((v.clone(), k));
            }
            let leaves = leaves.into_iter().map(Atom::Var).collect();
            globals.insert(v, Val { shape: shape.clone(), leaves });
        }
        let mut spec = Spec {
            s: self,
            scopes: vec![],
            home: params.iter().map(|p| (p.clone(), 0)).collect(),
            globals,
            span: item.span,
            declared: None,
        };
        spec.open();
        let vals = spec.block(&item.body, &Env::default())?;
        let vals = match &item.kind {
            ItemKind::Show if vals.iter().all(|v| v.shape == Shape::Tuple(vec![])) => vec![],
            ItemKind::Show => {
                let text = spec.show_top(&vals[0])?;
                let effect = Expr::Effect(adl_core::ir::Effect::Print(text));
                spec.emit(vec![], effect);
                vec![]
            }
            ItemKind::Let(_) | ItemKind::Param(..) => vals,
            ItemKind::Test(_) => vec![],
        };
        let (results, atoms, n_sizes) = spec.results(vals, &params);
        let body = spec.close(atoms);
        let func = Func { name: name.to_string(), tparams: vec![], params, body, span: item.span };
        let func = self.push(func);
        Ok(ItemCode { func, inputs, results, n_sizes })
    }

    /// Is it a place in the library?
    pub(crate) fn is_library(&self, span: Span) -> bool {
        !span.is_dummy() && self.library.contains(&span.file)
    }

    pub(crate) fn push(&mut self, func: Func) -> FuncId {
        let id = FuncId(u32::try_from(self.target.funcs.len()).expect("fewer than 2^32 functions"));
        self.target.funcs.push(func);
        id
    }

    /// Top-level variables that a block reads, directly or through functions.
    fn free_globals(&mut self, block: &Block) -> Vec<Var> {
        let mut vars = walk::free_vars(block);
        for f in reach::mentioned(block) {
            for v in self.globals_of(f).iter() {
                if !vars.contains(v) {
                    vars.push(v.clone());
                }
            }
        }
        vars
    }

    /// What a lambda captures: its free variables, and the top-level variables of the functions it calls.
    pub(crate) fn free_globals_of_lambda(&mut self, lambda: &adl_core::ir::Lambda) -> Vec<Var> {
        let mut vars = self.free_globals(&lambda.body);
        vars.retain(|v| *v != lambda.param);
        vars
    }
}

/// How many statements a block has, nested ones included.
pub(crate) fn size_of_block(block: &Block) -> usize {
    block.stmts.iter().map(|s| 1 + walk::blocks(&s.expr).into_iter().map(size_of_block).sum::<usize>()).sum()
}

impl<'a> Spec<'a> {
    /// For a function with these parameters.
    fn new(s: &'a mut Specialiser, params: &[Var], globals: HashMap<Var, Val>, span: Span) -> Spec<'a> {
        let home = params.iter().map(|p| (p.clone(), 0)).collect();
        Spec { s, scopes: vec![], home, globals, span, declared: None }
    }

    pub(crate) fn open(&mut self) {
        self.scopes.push(Scope { b: Builder::new(self.span), sizes: vec![] });
    }

    /// Opens a block with these parameters.
    pub(crate) fn open_with(&mut self, params: &[Var]) {
        self.open();
        for p in params {
            self.home.insert(p.clone(), self.scopes.len() - 1);
        }
    }

    pub(crate) fn close(&mut self, results: Vec<Atom>) -> Block {
        self.scopes.pop().expect("a block is open").b.finish(results)
    }

    pub(crate) fn depth(&self) -> usize {
        self.scopes.len() - 1
    }

    /// Is the atom in scope at this depth?
    pub(crate) fn in_scope(&self, a: &Atom, depth: usize) -> bool {
        a.var().is_none_or(|v| self.home.get(v).is_none_or(|d| *d <= depth))
    }

    pub(crate) fn emit(&mut self, vars: Vec<Var>, expr: Expr) {
        let depth = self.depth();
        for v in &vars {
            self.home.insert(v.clone(), depth);
        }
        let span = self.span;
        let b = &mut self.scopes[depth].b;
        b.span = span;
        b.emit(vars, expr);
    }

    pub(crate) fn bind(&mut self, ty: Ty, expr: Expr) -> Atom {
        let v = Var::new(ty);
        self.emit(vec![v.clone()], expr);
        Atom::Var(v)
    }

    pub(crate) fn bind_all(&mut self, tys: Vec<Ty>, expr: Expr) -> Vec<Atom> {
        let vars: Vec<Var> = tys.into_iter().map(Var::new).collect();
        self.emit(vars.clone(), expr);
        vars.into_iter().map(Atom::Var).collect()
    }

    pub(crate) fn prim(&mut self, def: &'static PrimDef, args: &[Atom]) -> Atom {
        if let Some(folded) = build::fold(def, args) {
            return folded;
        }
        let ty = Prim(def).result_ty(args);
        self.bind(ty, Expr::Prim(Prim(def), args.to_vec()))
    }

    /// Integer arithmetic on sizes: emitted as far out as its operands are in scope, and once.
    pub(crate) fn size_prim(&mut self, def: &'static PrimDef, args: &[Atom]) -> Atom {
        if let Some(folded) = build::fold(def, args) {
            return folded;
        }
        let at = args.iter().filter_map(|a| self.home.get(a.var()?)).copied().max().unwrap_or(0);
        let key = (def.name, args.to_vec());
        if let Some((_, known)) = self.scopes[at].sizes.iter().find(|(k, _)| *k == key) {
            return known.clone();
        }
        let v = Var::named("size", INT);
        self.home.insert(v.clone(), at);
        let span = self.span;
        let scope = &mut self.scopes[at];
        scope.b.span = span;
        scope.b.emit(vec![v.clone()], Expr::Prim(Prim(def), args.to_vec()));
        scope.sizes.push((key, Atom::Var(v.clone())));
        Atom::Var(v)
    }

    pub(crate) fn index(&mut self, table: &Atom, index: &[Atom], check: bool) -> Atom {
        if index.is_empty() {
            return table.clone();
        }
        let mut ty = table.ty();
        for _ in index {
            let Ty::Table(_, elem) = ty else { panic!("index of a value that is no table: {ty:?}") };
            ty = *elem;
        }
        self.bind(ty, Expr::Index { table: table.clone(), index: index.to_vec(), check })
    }

    /// Runs `f` with a builder at the end of the current block (for code that other crates write).
    pub(crate) fn with_builder<T>(&mut self, f: impl FnOnce(&mut Builder) -> T) -> T {
        let depth = self.depth();
        let before = self.scopes[depth].b.stmts.len();
        let out = f(&mut self.scopes[depth].b);
        for stmt in &self.scopes[depth].b.stmts[before..] {
            for v in &stmt.vars {
                self.home.insert(v.clone(), depth);
            }
        }
        out
    }

    /// The leaf types of a shape here.
    pub(crate) fn leaf_tys(&self, shape: &Shape) -> Vec<Ty> {
        shape.leaf_tys()
    }

    /// What a function gives that does not exist: it is never called.
    pub(crate) fn bottom(&mut self) -> Result<Val> {
        let Some((ty, env)) = self.declared.clone() else { panic!("a call has a result") };
        let shape = self.ty_shape(&ty, &env)?;
        let message = Atom::Lit(Lit::Str("a function that does not exist was called".into()));
        let leaves = self.bind_all(shape.leaf_tys(), Expr::Effect(Effect::Error(message)));
        Ok(Val { shape, leaves })
    }

    pub(crate) fn error<T>(&self, code: Code, message: impl Into<String>, help: Option<&str>) -> Result<T> {
        Err(SpecError { code, message: message.into(), help: help.map(str::to_string), span: self.span })
    }

    /// Ends a function: the shapes of its results over its own variables, the result atoms (sizes that
    /// are not parameters first), and how many are sizes.
    fn results(&mut self, vals: Vec<Val>, params: &[Var]) -> (Vec<Shape>, Vec<Atom>, usize) {
        let (shapes, leaves) = shape::unzip(vals);
        let mut sizes: Vec<Atom> = vec![];
        let mut all = vec![];
        shapes.iter().for_each(|s| s.sizes(&mut all));
        for leaf in &leaves {
            all.extend(walk::ty_vars(&leaf.ty()).into_iter().map(Atom::Var));
        }
        for a in all {
            if let Atom::Var(v) = &a
                && !params.contains(v)
                && !sizes.contains(&a)
            {
                sizes.push(a);
            }
        }
        let n = sizes.len();
        sizes.extend(leaves);
        (shapes, sizes, n)
    }

    /// A call of an instance-like function: its results' sizes and leaves, and the shape over them.
    pub(crate) fn call_instance(&mut self, inst: &Instance, args: Vec<Atom>, checkpoint: bool) -> Val {
        let func = self.s.target.funcs[inst.func.0 as usize].clone();
        let outs = self.with_builder(|b| {
            let outs = b.call(inst.func, &func, args.clone());
            if checkpoint
                && let Some(stmt) = b.stmts.last_mut()
                && let Expr::Call { checkpoint, .. } = &mut stmt.expr
            {
                *checkpoint = true;
            }
            outs
        });
        let mut map: Subst = func.params.iter().cloned().zip(args).collect();
        for (r, out) in func.body.results.iter().zip(&outs) {
            if let Atom::Var(r) = r {
                map.entry(r.clone()).or_insert_with(|| out.clone());
            }
        }
        Val { shape: inst.result.subst(&map), leaves: outs[inst.n_size_results..].to_vec() }
    }
}
