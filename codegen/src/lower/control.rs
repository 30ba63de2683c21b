//! `case` and `loop`.

use adl_core::ir::{Arm, Atom, Block, LoopKind, Var};
use adl_core::prim::Inst;
use adl_core::ty::Ty;

use super::element::Target;
use super::forms::counted;
use super::{Given, Lower, split};
use crate::loops::{Op, Reg};
use crate::repr::{self, Elem, Kind, Part};

/// State, its start, and the body of a loop.
type Parts<'a> = (&'a [Var], &'a [Atom], &'a Block);

impl Lower<'_> {
    pub(super) fn case(
        &mut self,
        vars: &[Var],
        scrut: &Atom,
        arms: &[Arm],
        dying: &mut Vec<Var>,
    ) -> Vec<Var> {
        let parts: Vec<Part> = vars.iter().flat_map(|var| repr::parts(var.ty())).collect();
        let dsts = self.fresh(&parts);
        let regs = self.atom(scrut);
        let ty = scrut.ty();
        let holders = scrut.var().filter(|var| repr::is_counted(var.ty())).map(|var| self.holders(var));
        // Where the sum dies here, and no arm looks at it again, its payload passes to the arm.
        let passes = scrut.var().is_some_and(|var| !self.mentions(arms, var) && self.dies(var, dying));
        let mut codes = vec![];
        for (tag, arm) in arms.iter().enumerate() {
            let mut owned = dying.clone();
            if let Ty::Sum(alts) = &ty {
                let (start, own) = repr::alternative(alts, tag as u32);
                let at = repr::width(&repr::parts(&ty)[..start]);
                self.bind(&arm.params, regs[at..at + repr::width(&own)].to_vec());
                if passes {
                    owned.extend(counted(&arm.params));
                } else {
                    for param in counted(&arm.params) {
                        self.roots.insert(param, holders.clone().unwrap_or_default());
                    }
                }
            }
            codes.push(self.scoped(|this| {
                this.block(&arm.body, owned, |this, results| {
                    let taken: Vec<Reg> = results.into_iter().flat_map(|given| this.take(given)).collect();
                    for (dst, src) in dsts.iter().zip(taken) {
                        this.emit(Op::Move { dst: *dst, src });
                    }
                });
            }));
        }
        dying.clear();
        self.bind(vars, dsts);
        self.choose(&ty, regs[0], codes);
        counted(vars)
    }

    /// Does an arm use this variable, or what is borrowed from it?
    fn mentions(&self, arms: &[Arm], var: &Var) -> bool {
        let holders = self.holders(var);
        arms.iter()
            .flat_map(|arm| adl_core::walk::free_vars(&arm.body))
            .filter(|used| repr::is_counted(used.ty()))
            .any(|used| self.holders(&used).iter().any(|holder| holders.contains(holder)))
    }

    /// Runs the code with the number the scrutinee says.
    fn choose(&mut self, ty: &Ty, scrut: Reg, mut codes: Vec<Vec<Op>>) {
        if *ty == adl_core::ty::BOOL {
            let then = codes.pop().unwrap_or_default();
            let orelse = codes.pop().unwrap_or_default();
            return self.emit(Op::If { cond: scrut, then, orelse });
        }
        let mut rest = codes.pop().unwrap_or_default();
        while let Some(code) = codes.pop() {
            let tag = codes.len() as i64;
            let mut test = self.scoped(|this| {
                let cond = this.equals(scrut, tag);
                this.emit(Op::If { cond, then: code, orelse: rest });
            });
            rest = std::mem::take(&mut test);
        }
        self.code.last_mut().expect("a block is under construction").extend(rest);
    }

    pub(super) fn looping(
        &mut self,
        vars: &[Var],
        kind: &LoopKind,
        (state, init, body): Parts<'_>,
        dying: &mut Vec<Var>,
    ) -> Vec<Var> {
        let n = match kind {
            LoopKind::For { ix, .. } => Some(self.checked_size(ix)),
            LoopKind::While { .. } => None,
        };
        let held = self.start_state(state, init, kind, body, dying);
        let (finals, collected) = vars.split_at(state.len());
        let mut all = held.clone();
        match (kind, n) {
            (LoopKind::For { var, reverse, .. }, Some(n)) => {
                let targets: Vec<Target> = collected.iter().map(|var| self.new_target(var)).collect();
                all.extend(targets.iter().flat_map(|target| target.regs.clone()));
                let i = self.reg(Kind::I64);
                self.env.insert(var.clone(), vec![i]);
                let code = self.scoped(|this| {
                    this.enter_round(state, &held);
                    let here = this.place_results(body, &targets, i);
                    this.block(body, counted(state), |this, results| {
                        this.next_state(&held, results, state.len(), |this, outs| {
                            this.collect(&targets, i, outs, &here);
                        });
                    });
                });
                self.emit(Op::For { var: i, n, reverse: *reverse, body: code });
            }
            (LoopKind::While { params, cond }, _) => {
                let rounds = self.int(0);
                all.push(rounds);
                let grown: Vec<Grown> = collected[1..].iter().map(|var| self.new_grown(var)).collect();
                all.extend(grown.iter().flat_map(|grown| grown.target.regs.clone()));
                self.bind(params, held.clone());
                for (param, state) in params.iter().zip(state) {
                    self.canon.insert(param.clone(), state.clone());
                }
                let test = self.reg(Kind::I8);
                let cond = self.scoped(|this| {
                    this.block(cond, vec![], |this, results| {
                        this.emit(Op::Move { dst: test, src: results[0].regs[0] });
                    });
                });
                let code = self.scoped(|this| {
                    this.enter_round(state, &held);
                    this.block(body, counted(state), |this, results| {
                        this.next_state(&held, results, state.len(), |this, outs| {
                            for grown in &grown {
                                this.make_room(grown, rounds);
                            }
                            let targets: Vec<Target> = grown.into_iter().map(|grown| grown.target).collect();
                            this.collect(&targets, rounds, outs, &[]);
                        });
                    });
                    let one = this.int(1);
                    let next = this.int_inst(Inst::Add, rounds, one);
                    this.emit(Op::Move { dst: rounds, src: next });
                });
                self.emit(Op::While { cond, test, body: code });
            }
            (LoopKind::For { .. }, None) => unreachable!("a counted loop has a size"),
        }
        self.bind(vars, all);
        counted(finals).into_iter().chain(counted(collected)).collect()
    }

    /// The registers of the state, with its start in them.
    fn start_state(
        &mut self,
        state: &[Var],
        init: &[Atom],
        kind: &LoopKind,
        body: &Block,
        dying: &mut Vec<Var>,
    ) -> Vec<Reg> {
        // What the rounds read as well is not theirs to write.
        let mut inside = adl_core::walk::free_vars(body);
        if let LoopKind::While { cond, .. } = kind {
            inside.extend(adl_core::walk::free_vars(cond));
        }
        let read: Vec<Var> = inside
            .iter()
            .filter(|var| repr::is_counted(var.ty()))
            .flat_map(|var| self.holders(var))
            .collect();
        let (mut free, kept): (Vec<Var>, Vec<Var>) = dying.drain(..).partition(|var| !read.contains(var));
        let mut held = vec![];
        for (var, init) in state.iter().zip(init) {
            let regs = self.fresh(&repr::parts(var.ty()));
            let start = self.consume(init, &mut free);
            for (dst, src) in regs.iter().zip(start) {
                self.emit(Op::Move { dst: *dst, src });
            }
            self.env.insert(var.clone(), regs.clone());
            held.extend(regs);
        }
        dying.extend(free.into_iter().chain(kept));
        held
    }

    /// In a round the state has registers of its own: what the round gives up at its end is the old state,
    /// when the new one is already in place.
    fn enter_round(&mut self, state: &[Var], held: &[Reg]) {
        let copies = self.copies(held);
        self.bind(state, copies);
    }

    /// The same words in fresh registers.
    pub(super) fn copies(&mut self, regs: &[Reg]) -> Vec<Reg> {
        let copy = |src: &Reg| {
            let dst = self.reg(self.kind(*src));
            self.emit(Op::Move { dst, src: *src });
            dst
        };
        regs.iter().map(copy).collect()
    }

    /// Splits the results of a round, lets `collect` have the rest, and makes the first the next state.
    fn next_state(
        &mut self,
        held: &[Reg],
        mut results: Vec<Given>,
        n_state: usize,
        collect: impl FnOnce(&mut Self, Vec<Given>),
    ) {
        let outs = results.split_off(n_state);
        // A table that is both collected and kept must be kept before it is given up.
        let taken: Vec<Reg> = results.into_iter().flat_map(|given| self.take(given)).collect();
        let next = self.copies(&taken);
        collect(self, outs);
        for (dst, src) in held.iter().zip(next) {
            self.emit(Op::Move { dst: *dst, src });
        }
    }

    pub(super) fn new_target(&mut self, var: &Var) -> Target {
        let regs = self.alloc(var.ty(), false);
        Target { parts: repr::parts(var.ty()), regs, rank: 1 }
    }

    /// A table whose size is not known, with no room yet.
    fn new_grown(&mut self, var: &Var) -> Grown {
        let zero = self.int(0);
        let (parts, room) = (repr::parts(var.ty()), self.int(0));
        let mut regs = vec![];
        for part in &parts {
            let Part::Table { elem, .. } = part else { unreachable!("what is collected is a table") };
            let (dst, site) = (self.reg(Kind::I64), self.site);
            self.emit(Op::Alloc { dst, dims: vec![zero], elem: *elem, zero: false, site });
            let data = self.reg(Kind::I64);
            self.emit(Op::Move { dst: data, src: dst });
            regs.extend([dst, data]);
        }
        Grown { target: Target { parts, regs, rank: 1 }, room }
    }

    /// Doubles the room where it is used up.
    fn make_room(&mut self, grown: &Grown, rounds: Reg) {
        let full = self.int_inst(Inst::Eq, rounds, grown.room);
        self.when(full, |this| {
            let (two, least) = (this.int(2), this.int(16));
            let doubled = this.int_inst(Inst::Mul, grown.room, two);
            let room = this.int_inst(Inst::IntMax, doubled, least);
            let parts = grown.target.parts.clone();
            for (part, regs) in split(&parts, &grown.target.regs) {
                let Part::Table { elem, dims, .. } = part else {
                    unreachable!("what is collected is a table")
                };
                this.move_to_larger(*elem, &dims[1..], regs, (rounds, room));
            }
            this.emit(Op::Move { dst: grown.room, src: room });
        });
    }

    fn move_to_larger(&mut self, elem: Elem, inner: &[Atom], regs: &[Reg], (used, room): (Reg, Reg)) {
        let (dst, site) = (self.reg(Kind::I64), self.site);
        let mut dims = vec![room];
        dims.extend(self.sizes(inner));
        self.emit(Op::Alloc { dst, dims, elem, zero: false, site });
        let size = self.product(inner);
        let n = self.int_inst(Inst::Mul, used, size);
        self.emit(Op::Copy { dst, src: regs[1], n, bytes: elem.bytes(), counted: false });
        if elem == Elem::Ref {
            // The pointers have moved; the old buffer must not give them up.
            self.emit(Op::Clear { dst: regs[1], n, bytes: elem.bytes() });
        }
        self.emit(Op::Release { ptr: regs[0] });
        self.emit(Op::Move { dst: regs[0], src: dst });
        self.emit(Op::Move { dst: regs[1], src: dst });
    }
}

/// A table that grows while it is collected.
struct Grown {
    target: Target,
    /// Elements there is room for.
    room: Reg,
}
