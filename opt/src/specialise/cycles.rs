//! Which functions of the source call themselves, directly or through others (Tarjan, "Depth-first search and
//! linear graph algorithms", 1972, with a stack of its own), and what follows: the top-level variables that
//! each reads.

use std::rc::Rc;

use adl_core::ir::{Func, FuncId, Var};
use adl_core::{reach, walk};

use super::Specialiser;

/// The strongly connected components of the functions seen so far.
#[derive(Default)]
pub(super) struct Cycles {
    /// For each function the number of its component.
    component: Vec<usize>,
    members: Vec<Vec<usize>>,
    is_recursive: Vec<bool>,
    /// For each component, once known, the top-level variables that its functions read.
    globals: Vec<Option<Rc<Vec<Var>>>>,
}

impl Cycles {
    /// Takes in functions that are new. Older functions never call newer ones.
    fn extend(&mut self, funcs: &[Func]) {
        let first = self.component.len();
        if first == funcs.len() {
            return;
        }
        let calls = |f: &Func| -> Vec<usize> {
            reach::mentioned(&f.body).into_iter().map(|c| c.0 as usize).filter(|c| first <= *c).collect()
        };
        let n = funcs.len() - first;
        let calls = funcs[first..].iter().map(calls).collect();
        self.component.resize(funcs.len(), 0);
        let mut search = Search {
            first,
            calls,
            index: vec![None; n],
            low: vec![0; n],
            next: 0,
            open: vec![],
            is_open: vec![false; n],
        };
        for root in 0..n {
            search.visit(root, self);
        }
    }

    fn add(&mut self, members: Vec<usize>, is_recursive: bool) {
        for m in &members {
            self.component[*m] = self.members.len();
        }
        self.members.push(members);
        self.is_recursive.push(is_recursive);
        self.globals.push(None);
    }
}

/// The state of the search; functions are counted from the first new one.
struct Search {
    first: usize,
    calls: Vec<Vec<usize>>,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    next: usize,
    /// Functions whose component is not complete.
    open: Vec<usize>,
    is_open: Vec<bool>,
}

impl Search {
    fn enter(&mut self, f: usize, path: &mut Vec<(usize, usize)>) {
        self.index[f] = Some(self.next);
        self.low[f] = self.next;
        self.next += 1;
        self.open.push(f);
        self.is_open[f] = true;
        path.push((f, 0));
    }

    fn visit(&mut self, root: usize, cycles: &mut Cycles) {
        if self.index[root].is_some() {
            return;
        }
        let mut path = vec![];
        self.enter(root, &mut path);
        while let Some((f, at)) = path.last_mut() {
            let f = *f;
            if let Some(callee) = self.calls[f].get(*at).map(|c| c - self.first) {
                *at += 1;
                match self.index[callee] {
                    None => self.enter(callee, &mut path),
                    Some(index) if self.is_open[callee] => self.low[f] = self.low[f].min(index),
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((caller, _)) = path.last() {
                self.low[*caller] = self.low[*caller].min(self.low[f]);
            }
            if Some(self.low[f]) == self.index[f] {
                self.complete(f, cycles);
            }
        }
    }

    /// The functions opened since `f` are a component.
    fn complete(&mut self, f: usize, cycles: &mut Cycles) {
        let at = self.open.iter().rposition(|c| *c == f).unwrap_or(0);
        let members = self.open.split_off(at);
        members.iter().for_each(|m| self.is_open[*m] = false);
        let is_recursive = members.len() > 1 || self.calls[f].contains(&(f + self.first));
        cycles.add(members.into_iter().map(|m| m + self.first).collect(), is_recursive);
    }
}

impl Specialiser {
    /// Does a function of `source` reach itself?
    pub(super) fn is_recursive_func(&mut self, id: FuncId) -> bool {
        self.cycles.extend(&self.source.funcs);
        self.cycles.is_recursive[self.cycles.component[id.0 as usize]]
    }

    /// Top-level variables that a function reads, directly or through others.
    pub(crate) fn globals_of(&mut self, f: FuncId) -> Rc<Vec<Var>> {
        self.cycles.extend(&self.source.funcs);
        let component = self.cycles.component[f.0 as usize];
        if let Some(known) = &self.cycles.globals[component] {
            return known.clone();
        }
        let mut vars: Vec<Var> = vec![];
        for m in self.cycles.members[component].clone() {
            let func = self.source.funcs[m].clone();
            let mut own = walk::free_vars(&func.body);
            own.retain(|v| !func.params.contains(v));
            for callee in reach::mentioned(&func.body) {
                if self.cycles.component[callee.0 as usize] != component {
                    own.extend(self.globals_of(callee).iter().cloned());
                }
            }
            for v in own {
                if !vars.contains(&v) {
                    vars.push(v);
                }
            }
        }
        // Where a derivative is taken, the rule runs in place of the function.
        for m in self.cycles.members[component].clone() {
            for v in self.globals_of_rule(m) {
                if !vars.contains(&v) {
                    vars.push(v);
                }
            }
        }
        let vars = Rc::new(vars);
        self.cycles.globals[component] = Some(vars.clone());
        vars
    }

    /// Top-level variables that the rule of a function reads. It may call the function, so that no results are kept
    /// on the way.
    fn globals_of_rule(&self, f: usize) -> Vec<Var> {
        let rule_of = |f: FuncId| self.source.rules.iter().find(|r| r.of == f).map(|r| r.func);
        let mut todo: Vec<FuncId> =
            self.source.rules.iter().filter(|r| r.of.0 as usize == f).map(|r| r.func).collect();
        let (mut seen, mut vars) = (vec![], vec![]);
        while let Some(next) = todo.pop() {
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            let func = &self.source.funcs[next.0 as usize];
            vars.extend(walk::free_vars(&func.body).into_iter().filter(|v| !func.params.contains(v)));
            todo.extend(reach::mentioned(&func.body));
            todo.extend(rule_of(next));
        }
        vars
    }
}
