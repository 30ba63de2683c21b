//! Accumulators: a value each that sums so far, and ways to parts of it.

use std::rc::Rc;

use adl_diag::Span;

use super::Stop;
use super::eval::Eval;
use super::num::Num;
use super::value::{Val, ZERO_TAG, add};
use crate::run::fail;
use crate::ty::Ty;

/// An accumulator.
#[derive(Clone, Debug)]
pub(super) enum AccRef {
    /// A part of the value with this number.
    Part(usize, Vec<Step>),
    /// An alternative made of the accumulators of its payload.
    Made(u32, Vec<AccRef>),
}

/// One step into a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// To the element with this ordinal.
    Element(i64),
    /// To this place of the payload.
    Payload(usize),
}

impl<N: Num> Eval<'_, N> {
    /// A new accumulator that starts as this value.
    pub(super) fn new_acc(&mut self, value: Val<N>) -> AccRef {
        self.accs.push(value);
        AccRef::Part(self.accs.len() - 1, vec![])
    }

    /// The accumulator of a sub-table.
    pub(super) fn view(&mut self, acc: AccRef, index: &[i64]) -> Result<AccRef, Stop> {
        if index.is_empty() {
            return Ok(acc);
        }
        match acc {
            AccRef::Part(root, mut path) => {
                path.extend(index.iter().copied().map(Step::Element));
                part(&mut self.accs, root, &path)?;
                Ok(AccRef::Part(root, path))
            }
            AccRef::Made(..) => Err(Stop::ill_formed("an index into the accumulator of a sum")),
        }
    }

    /// Adds a value.
    pub(super) fn acc_add(&mut self, acc: &AccRef, value: &Val<N>) -> Result<(), Stop> {
        match acc {
            AccRef::Part(root, path) => {
                let place = part(&mut self.accs, *root, path)?;
                *place = add(self.store, place, value)?;
                Ok(())
            }
            AccRef::Made(tag, accs) => match value {
                Val::Sum(ZERO_TAG, _) => Ok(()),
                Val::Sum(t, payload) if t == tag => {
                    accs.iter().zip(payload.iter()).try_for_each(|(acc, value)| self.acc_add(acc, value))
                }
                Val::Sum(..) => Err(Stop::Failed(fail::constructors_differ(Span::default()))),
                other @ (Val::Leaf(_) | Val::Table(_) | Val::Pack(..) | Val::Cell(_) | Val::Acc(_)) => {
                    Err(Stop::ill_formed(&format!("{} is added to a sum", other.kind())))
                }
            },
        }
    }

    /// The final value.
    pub(super) fn freeze(&mut self, acc: &AccRef) -> Result<Val<N>, Stop> {
        match acc {
            AccRef::Part(root, path) => Ok(part(&mut self.accs, *root, path)?.clone()),
            AccRef::Made(tag, accs) => {
                let payload: Result<Vec<Val<N>>, Stop> = accs.iter().map(|acc| self.freeze(acc)).collect();
                Ok(Val::Sum(*tag, Rc::new(payload?)))
            }
        }
    }

    /// The accumulators of the payload of an alternative, which the accumulator takes where it has none.
    pub(super) fn payload(&mut self, acc: &AccRef, tag: u32, tys: &[Ty]) -> Result<Vec<AccRef>, Stop> {
        let differ = || Stop::Failed(fail::constructors_differ(Span::default()));
        match acc {
            AccRef::Made(t, accs) if *t == tag => Ok(accs.clone()),
            AccRef::Made(..) => Err(differ()),
            AccRef::Part(root, path) => {
                let zeros: Result<Vec<Val<N>>, Stop> = tys.iter().map(|ty| self.zero(ty)).collect();
                let place = part(&mut self.accs, *root, path)?;
                match place {
                    Val::Sum(ZERO_TAG, _) => *place = Val::Sum(tag, Rc::new(zeros?)),
                    Val::Sum(t, _) if *t == tag => {}
                    Val::Sum(..) => return Err(differ()),
                    other @ (Val::Leaf(_) | Val::Table(_) | Val::Pack(..) | Val::Cell(_) | Val::Acc(_)) => {
                        return Err(Stop::ill_formed(&format!("the payload of {}", other.kind())));
                    }
                }
                let inside = |k: usize| {
                    let mut path = path.clone();
                    path.push(Step::Payload(k));
                    AccRef::Part(*root, path)
                };
                Ok((0..tys.len()).map(inside).collect())
            }
        }
    }
}

fn part<'a, N: Num>(accs: &'a mut [Val<N>], root: usize, path: &[Step]) -> Result<&'a mut Val<N>, Stop> {
    let mut place = &mut accs[root];
    for step in path {
        place = match step {
            Step::Element(i) => place.at_mut(&[*i])?,
            Step::Payload(k) => {
                let Val::Sum(_, payload) = place else {
                    return Err(Stop::ill_formed("the payload of no sum"));
                };
                let found = Rc::make_mut(payload).get_mut(*k);
                found.ok_or_else(|| Stop::ill_formed("a payload without this place"))?
            }
        };
    }
    Ok(place)
}
