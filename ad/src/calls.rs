//! What is known of calls: which functions call themselves, and what a call makes active.

use std::collections::{HashMap, HashSet};

use adl_core::ir::{Atom, Block, Func, FuncId, Var};
use adl_core::reach;
use adl_core::ty::Ty;
use adl_core::walk::{self, Subst};
use adl_diag::Span;

use crate::activity::{self, CallActivity};
use crate::{Cx, Error, Key};

/// A round of the least fixed point over functions that call each other. The first assumes that no call makes
/// anything active; the next assume what the one before found.
#[derive(Debug, Default)]
pub(crate) struct Round {
    assumed: HashMap<Key, CallActivity>,
    visited: HashSet<Key>,
    changed: bool,
}

impl Cx<'_> {
    /// Activity of the body of `func`, with the calls in it resolved.
    pub(crate) fn activity(&mut self, func: &Func, active: &[bool]) -> Result<activity::Activity, Error> {
        let mut calls = |id: FuncId, mask: &[bool]| self.call_activity(id, mask);
        activity::analyse(func, active, &mut calls)
    }

    /// What a call of a function makes active.
    pub(crate) fn call_activity(&mut self, id: FuncId, active: &[bool]) -> Result<CallActivity, Error> {
        let key = (id, active.to_vec());
        if let Some(known) = self.memo.calls.get(&key) {
            return Ok(known.clone());
        }
        if !active.contains(&true) {
            return Ok(self.nothing(id));
        }
        if self.memo.is_given(id) {
            return Ok(self.custom_activity(id));
        }
        if self.memo.round.is_some() {
            return self.assumed(key);
        }
        if !self.is_recursive(id) {
            let made = self.made_active(&key)?;
            self.memo.calls.insert(key, made.clone());
            return Ok(made);
        }
        self.memo.round = Some(Round::default());
        let found = self.fixed_point(&key);
        let round = self.memo.round.take().expect("the round begun above");
        let found = found?;
        self.memo.calls.extend(round.assumed);
        Ok(found)
    }

    fn round(&mut self) -> &mut Round {
        self.memo.round.as_mut().expect("a fixed point is under way")
    }

    fn fixed_point(&mut self, key: &Key) -> Result<CallActivity, Error> {
        loop {
            let found = self.assumed(key.clone())?;
            let round = self.round();
            round.visited.clear();
            if !std::mem::take(&mut round.changed) {
                return Ok(found);
            }
        }
    }

    /// What this round knows of a call. The function is looked at once a round.
    fn assumed(&mut self, key: Key) -> Result<CallActivity, Error> {
        let known = self.round().assumed.get(&key).cloned();
        if !self.round().visited.insert(key.clone()) {
            return Ok(known.unwrap_or_else(|| self.nothing(key.0)));
        }
        let made = self.made_active(&key)?;
        let round = self.round();
        round.changed |= known.as_ref() != Some(&made);
        round.assumed.insert(key, made.clone());
        Ok(made)
    }

    fn made_active(&mut self, (id, active): &Key) -> Result<CallActivity, Error> {
        let func = self.program.funcs[id.0 as usize].clone();
        let activity = self.activity(&func, active)?;
        let is_acc = |p: &Var| matches!(p.ty(), Ty::Acc(_));
        Ok(CallActivity {
            results: func.body.results.iter().map(|r| activity.atom(r)).collect(),
            written: func.params.iter().map(|p| is_acc(p) && activity.has(p)).collect(),
        })
    }

    fn nothing(&self, id: FuncId) -> CallActivity {
        let func = &self.program.funcs[id.0 as usize];
        CallActivity {
            results: vec![false; func.body.results.len()],
            written: vec![false; func.params.len()],
        }
    }

    /// Does a function call itself, directly or through others?
    pub(crate) fn is_recursive(&mut self, id: FuncId) -> bool {
        if let Some(known) = self.memo.recursive.get(&id) {
            return *known;
        }
        let callees = |f: FuncId| reach::mentioned(&self.program.funcs[f.0 as usize].body);
        let mut seen = HashSet::new();
        let mut todo: Vec<FuncId> = callees(id).into_iter().collect();
        while let Some(f) = todo.pop() {
            if seen.insert(f) {
                todo.extend(callees(f));
            }
        }
        let is_recursive = seen.contains(&id);
        self.memo.recursive.insert(id, is_recursive);
        is_recursive
    }

    /// Adds a function.
    pub(crate) fn push(&mut self, func: Func) -> FuncId {
        let at = u32::try_from(self.program.funcs.len()).expect("fewer than 2^32 functions");
        self.program.funcs.push(func);
        FuncId(at)
    }

    /// A function that calls may name before its code is made: its signature.
    pub(crate) fn reserve(&mut self, name: &str, params: &[Var], results: &[Atom], span: Span) -> FuncId {
        let mut map = Subst::new();
        let params = params.iter().map(|p| walk::rename_var(p, &mut map)).collect();
        let mut renamed = vec![];
        for result in results {
            if let Atom::Var(v) = result
                && !map.contains_key(v)
            {
                walk::rename_var(v, &mut map);
            }
            renamed.push(walk::subst_atom(result, &map));
        }
        let body = Block { stmts: vec![], results: renamed };
        self.push(Func { name: name.to_string(), tparams: vec![], params, body, span })
    }
}
