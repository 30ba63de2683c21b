//! Elements of tables: where they lie, reading and writing them.

use adl_core::ir::{Atom, Var};
use adl_core::prim::Inst;
use adl_core::ty::Ty;

use super::{Given, Lower, split};
use crate::loops::{Fail, Op, Reg};
use crate::repr::{self, Elem, Part};

/// A table to write elements into: its parts, their owners and first elements.
pub(super) struct Target {
    pub(super) parts: Vec<Part>,
    pub(super) regs: Vec<Reg>,
    /// How many of the sizes an index fixes.
    pub(super) rank: usize,
}

impl Lower<'_> {
    /// The row-major number of an index among the outer sizes, checked if asked.
    pub(super) fn linear(&mut self, sizes: &[Atom], index: &[Atom], check: bool) -> Reg {
        let mut linear = None;
        for (size, index) in sizes.iter().zip(index) {
            let (size, index) = (self.scalar(size), self.scalar(index));
            if check {
                self.check_bounds(index, size);
            }
            linear = Some(match linear {
                Some(so_far) => {
                    let scaled = self.int_inst(Inst::Mul, so_far, size);
                    self.int_inst(Inst::Add, scaled, index)
                }
                None => index,
            });
        }
        linear.unwrap_or_else(|| self.int(0))
    }

    fn check_bounds(&mut self, index: Reg, size: Reg) {
        let zero = self.int(0);
        let below = self.int_inst(Inst::Lt, index, zero);
        let above = self.int_inst(Inst::Le, size, index);
        let outside = self.inst(Inst::Or, adl_core::ty::Scalar::Bool, &[below, above]);
        self.fail_if(outside, Fail::OutOfBounds, &[index, size]);
    }

    /// The element or sub-table with this number, borrowed. `ty` is its type.
    pub(super) fn read(
        &mut self,
        parts: &[Part],
        regs: &[Reg],
        rank: usize,
        linear: Reg,
        ty: &Ty,
    ) -> Vec<Reg> {
        let mut out = vec![];
        let wanted = repr::parts(ty);
        for ((part, regs), want) in split(parts, regs).zip(&wanted) {
            let Part::Table { elem, dims, .. } = part else {
                unreachable!("the parts of a table are tables")
            };
            let inner = &dims[rank..];
            match want {
                Part::Scalar(_) | Part::Cell => out.push(self.load(*elem, regs[1], linear)),
                Part::Table { .. } if inner.is_empty() && *elem == Elem::Ref && !matches!(ty, Ty::Acc(_)) => {
                    let buffer = self.load(*elem, regs[1], linear);
                    out.extend([buffer, buffer]);
                }
                Part::Table { .. } => {
                    let data = self.element_ptr(*elem, inner, regs[1], linear);
                    out.extend([regs[0], data]);
                }
            }
        }
        self.without_others(ty, out)
    }

    /// In a table of sums the slices of all alternatives are there; those that an element is not become
    /// null, as everywhere else.
    fn without_others(&mut self, ty: &Ty, mut regs: Vec<Reg>) -> Vec<Reg> {
        let Ty::Sum(alts) = ty else { return regs };
        let mut at = 1;
        for (tag, alt) in alts.iter().enumerate() {
            let from = at;
            for component in alt {
                let end = at + repr::width(&repr::parts(component));
                let own = self.without_others(component, regs[at..end].to_vec());
                regs.splice(at..end, own);
                at = end;
            }
            if !alt.iter().any(repr::is_counted) {
                continue;
            }
            let own = self.copies(&regs[from..at]);
            regs.splice(from..at, own.iter().copied());
            let parts: Vec<Part> = alt.iter().flat_map(repr::parts).collect();
            let is_it = self.equals(regs[0], tag as i64);
            self.branch(
                is_it,
                |_| {},
                |this| {
                    for (part, regs) in split(&parts, &own) {
                        for dst in regs.iter().filter(|_| part.is_counted()) {
                            let src = this.int(0);
                            this.emit(Op::Move { dst: *dst, src });
                        }
                    }
                },
            );
        }
        regs
    }

    pub(super) fn load(&mut self, elem: Elem, base: Reg, index: Reg) -> Reg {
        let dst = self.reg(elem.kind());
        self.emit(Op::Load { dst, base, index });
        dst
    }

    /// Where the element with this number begins.
    pub(super) fn element_ptr(&mut self, elem: Elem, inner: &[Atom], base: Reg, linear: Reg) -> Reg {
        let index = if inner.is_empty() {
            linear
        } else {
            let size = self.product(inner);
            self.int_inst(Inst::Mul, linear, size)
        };
        let dst = self.reg(repr::Kind::I64);
        self.emit(Op::Offset { dst, base, index, bytes: elem.bytes() });
        dst
    }

    /// A new table of this type with one holder.
    pub(super) fn alloc(&mut self, ty: &Ty, zero: bool) -> Vec<Reg> {
        let parts = repr::parts(ty);
        parts.iter().flat_map(|part| self.alloc_part(part, zero)).collect()
    }

    pub(super) fn alloc_part(&mut self, part: &Part, zero: bool) -> Vec<Reg> {
        let Part::Table { elem, dims, .. } = part else { unreachable!("only tables are allocated") };
        let dims = self.sizes(dims);
        let dst = self.reg(repr::Kind::I64);
        let site = self.site;
        self.emit(Op::Alloc { dst, dims, elem: *elem, zero, site });
        vec![dst, dst]
    }

    /// Writes an element or sub-table of type `ty` with this number. It is copied, or counted once more
    /// where it is stored as a pointer. `overwrite`: what is there was written before.
    pub(super) fn write(&mut self, target: &Target, linear: Reg, ty: &Ty, value: &[Reg], overwrite: bool) {
        self.bind_sizes(ty, value);
        let own = repr::parts(ty);
        let pairs: Vec<(Part, Vec<Reg>)> =
            split(&target.parts, &target.regs).map(|(part, regs)| (part.clone(), regs.to_vec())).collect();
        for ((slot, slot_regs), (part, regs)) in pairs.iter().zip(split(&own, value)) {
            let Part::Table { elem, dims, .. } = slot else {
                unreachable!("the parts of a table are tables")
            };
            let inner = &dims[target.rank..];
            match part {
                Part::Scalar(_) => self.emit(Op::Store { src: regs[0], base: slot_regs[1], index: linear }),
                Part::Table { dims: sizes, elem: of, maybe } if !inner.is_empty() || sizes.is_empty() => {
                    let at = self.element_ptr(*elem, inner, slot_regs[1], linear);
                    let (sizes, of, src) = (sizes.clone(), *of, regs[1]);
                    if *maybe {
                        let absent = self.equals(src, 0);
                        self.branch(
                            absent,
                            |_| {},
                            |this| this.copy_elements(of, &sizes, at, src, overwrite),
                        );
                    } else {
                        self.copy_elements(of, &sizes, at, src, overwrite);
                    }
                }
                Part::Table { .. } | Part::Cell => {
                    let pointer = self.stored_pointer(part, regs);
                    let old = overwrite.then(|| self.load(Elem::Ref, slot_regs[1], linear));
                    self.emit(Op::Store { src: pointer, base: slot_regs[1], index: linear });
                    if let Some(ptr) = old {
                        self.emit(Op::Release { ptr });
                    }
                }
            }
        }
    }

    /// Copies all elements of a table; pointers are counted once more.
    fn copy_elements(&mut self, elem: Elem, sizes: &[Atom], dst: Reg, src: Reg, overwrite: bool) {
        let n = self.product(sizes);
        if elem == Elem::Ref {
            self.each(n, |this, k| {
                let ptr = this.load(Elem::Ref, src, k);
                this.emit(Op::Retain { ptr });
                if overwrite {
                    let ptr = this.load(Elem::Ref, dst, k);
                    this.emit(Op::Release { ptr });
                }
            });
        }
        self.emit(Op::Copy { dst, src, n, bytes: elem.bytes(), counted: false });
    }

    /// A counted pointer to a buffer that holds this part alone.
    pub(super) fn stored_pointer(&mut self, part: &Part, regs: &[Reg]) -> Reg {
        match part {
            Part::Scalar(_) => unreachable!("a scalar is stored as it is"),
            Part::Cell => {
                self.emit(Op::Retain { ptr: regs[0] });
                regs[0]
            }
            Part::Table { elem, dims, .. } => {
                let pointer = self.reg(repr::Kind::I64);
                let whole = self.int_inst(Inst::Eq, regs[0], regs[1]);
                let (elem, dims, part) = (*elem, dims.clone(), part.clone());
                self.branch(
                    whole,
                    |this| {
                        this.emit(Op::Retain { ptr: regs[0] });
                        this.emit(Op::Move { dst: pointer, src: regs[0] });
                    },
                    |this| {
                        let copy = this.alloc_part(&part, false);
                        this.copy_elements(elem, &dims, copy[1], regs[1], false);
                        this.emit(Op::Move { dst: pointer, src: copy[0] });
                    },
                );
                pointer
            }
        }
    }

    /// A copy of a table in buffers of its own, with one holder.
    pub(super) fn copied(&mut self, part: &Part, regs: &[Reg], counted: bool) -> Vec<Reg> {
        let Part::Table { elem, dims, .. } = part else { unreachable!("only tables are copied") };
        let copy = self.alloc_part(part, false);
        if *elem == Elem::Ref {
            self.copy_elements(*elem, dims, copy[1], regs[1], false);
        } else {
            let n = self.product(dims);
            self.emit(Op::Copy { dst: copy[1], src: regs[1], n, bytes: elem.bytes(), counted });
        }
        copy
    }

    /// Writes the results of a body as elements of tables, and gives up what the body owned. Those of `here`
    /// may have been made where they shall lie.
    pub(super) fn collect(&mut self, targets: &[Target], linear: Reg, results: Vec<Given>, here: &[Var]) {
        for (target, given) in targets.iter().zip(&results) {
            let is_placed =
                given.atom.var().is_some_and(|var| here.contains(var) && self.placed.contains(var));
            if !is_placed {
                self.write(target, linear, &given.atom.ty(), &given.regs, false);
            }
        }
        for given in results {
            if given.owned {
                self.release_parts(&repr::parts(&given.atom.ty()), &given.regs);
            }
        }
    }
}
