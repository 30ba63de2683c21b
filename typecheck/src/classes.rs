//! Classes: what holds for a variable, and what a type needs to be in one.

use std::sync::Arc;

use adl_diag::Span;

use crate::{
    arena::{Arena, Fail},
    data::Body,
    errors,
    types::{Class, Con, DataId, Ty, V, VKind, Why},
};

/// How deep types are looked into. (A recursive type may contain itself at ever larger types.)
const MAX_ASSUMED: usize = 100;

impl Why {
    /// A reason without a place.
    pub(crate) fn of(text: &str) -> Why {
        Why { span: Span::default(), text: Arc::from(text) }
    }

    pub(crate) fn at(span: Span, text: &str) -> Why {
        Why { span, text: Arc::from(text) }
    }
}

impl Arena {
    /// The classes that hold for a variable, implied ones too.
    pub(crate) fn closure(&self, v: V) -> Vec<Class> {
        let data = self.var(v);
        let own = data.given.iter().flatten().copied().chain(data.classes.iter().map(|(c, _)| *c));
        let mut all: Vec<Class> = own.flat_map(|c| c.supers().iter().copied().chain([c])).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(crate) fn has(&self, v: V, class: Class) -> bool {
        let data = self.var(v);
        let holds = |c: Class| c == class || c.supers().contains(&class);
        data.given.iter().flatten().any(|c| holds(*c)) || data.classes.iter().any(|(c, _)| holds(*c))
    }

    /// Makes sure that the class holds for the type.
    pub(crate) fn need(&mut self, class: Class, t: &Ty, why: &Why) -> Result<(), Fail> {
        let t = self.head(t);
        match &t {
            Ty::Error => Ok(()),
            Ty::Var(v) => self.need_var(class, *v, why),
            _ if class == Class::Ix => self.need_ix(&t),
            Ty::Fin(_) if matches!(class, Class::Eq | Class::Ord | Class::Show) => Ok(()),
            Ty::Fin(_) => Err(Box::new(errors::no_class_for_index(&self.show(&t), class, why))),
            Ty::Exists(pack) if class == Class::Show => {
                let body = pack.body.clone();
                self.need(class, &body, why)
            }
            Ty::Exists(_) => Err(Box::new(errors::no_class(&self.show(&t), class, why, None))),
            Ty::Con(con, args) => self.need_con(class, &t, *con, args, why),
        }
    }

    fn need_var(&mut self, class: Class, v: V, why: &Why) -> Result<(), Fail> {
        let data = self.var(v);
        let index = data.ix && matches!(class, Class::Eq | Class::Ord | Class::Show | Class::Ix);
        if index || self.has(v, class) {
            return Ok(());
        }
        if data.rigid {
            let name = self.show(&Ty::Var(v));
            if data.ix || data.kind == VKind::Size {
                return Err(Box::new(errors::no_class_for_index(&name, class, why)));
            }
            if data.given.is_some() {
                return Err(Box::new(errors::missing_where(&name, class, why)));
            }
        }
        self.var_mut(v).classes.push((class, why.clone()));
        self.wake(v);
        Ok(())
    }

    fn need_con(&mut self, class: Class, t: &Ty, con: Con, args: &[Ty], why: &Why) -> Result<(), Fail> {
        let hint = match (con, class) {
            (Con::Fun | Con::Lin, Class::Show) => return Ok(()),
            (Con::Float | Con::F32, _) => return Ok(()),
            (Con::Tangent, Class::Add | Class::Vector | Class::Show) => return Ok(()),
            (Con::Tangent, _) => {
                if let Ty::Var(_) = self.prune(&args[0]) {
                    self.need(Class::Vector, &args[0], why)?;
                    return self.need(class, &args[0], why);
                }
                None
            }
            (_, Class::Real) => Some("the function that is differentiated has to return a Float".to_string()),
            (Con::Fun | Con::Lin, _) => None,
            (Con::Int, Class::Add | Class::Num) => return Ok(()),
            (Con::Int | Con::Str | Con::Bool, Class::Eq | Class::Ord | Class::Show) => return Ok(()),
            (Con::Key, Class::Eq | Class::Show) => return Ok(()),
            (Con::Int, Class::Floating) => {
                Some("write `float(…)`, or `div(a, b)` for a whole quotient".into())
            }
            (Con::Int, Class::Vector) => Some("write `float(…)`".into()),
            (Con::Tuple, Class::Eq | Class::Ord | Class::Show | Class::Add | Class::Vector) => {
                return args.iter().try_for_each(|a| self.need(class, a, why));
            }
            (Con::Table, Class::Ord) => {
                Some("for a matrix write `for i. minimum(a[i])`, or flatten it".into())
            }
            (Con::Table, _) => return self.need(class, &args[1], why),
            (Con::Data(id), _) => {
                if self.instances.contains(&(id, class))
                    || (class == Class::Add && self.instances.contains(&(id, Class::Num)))
                {
                    if class == Class::Ord {
                        self.need(Class::Eq, t, why)?;
                    }
                    // The instance of a type with parameters needs one for each of them.
                    let params = self.decl(id).params.clone();
                    let types = params.iter().zip(args).filter(|(p, _)| !self.var(**p).ix);
                    let types: Vec<Ty> = types.map(|(_, t)| t.clone()).collect();
                    return types.iter().try_for_each(|t| self.need(class, t, why));
                }
                return self.need_data(class, t, why);
            }
            (Con::Tuple, _) => Some("operations on tuples are not componentwise; name the parts".into()),
            (Con::Bool | Con::Str | Con::Key, _) => None,
            (Con::Int, _) => None,
        };
        Err(Box::new(errors::no_class(&self.show(t), class, why, hint)))
    }

    /// Structs and enums: `Eq`, `Show`, `Add` and `Vector` go through their parts, `Ord` where it is derived.
    fn need_data(&mut self, class: Class, t: &Ty, why: &Why) -> Result<(), Fail> {
        let Ty::Con(Con::Data(id), _) = t else { return Ok(()) };
        if !self.decl(*id).recursive {
            return self.need_parts(class, t, *id, why);
        }
        // A recursive type is in a class if its parts are, given that it is.
        let assumed = (class, self.zonk(t));
        if self.assumed.contains(&assumed) || MAX_ASSUMED < self.assumed.len() {
            return Ok(());
        }
        self.assumed.push(assumed);
        let found = self.need_parts(class, t, *id, why);
        self.assumed.pop();
        found
    }

    fn need_parts(&mut self, class: Class, t: &Ty, id: DataId, why: &Why) -> Result<(), Fail> {
        let name = self.decl(id).name.clone();
        match (self.payloads(t), class) {
            (Body::Struct(fields), Class::Eq | Class::Show | Class::Add | Class::Vector) => {
                fields.iter().try_for_each(|(_, f)| self.need(class, f, why))
            }
            (Body::Enum(ctors), Class::Eq | Class::Show) => {
                ctors.iter().flat_map(|(_, p)| p).try_for_each(|p| self.need(class, p, why))
            }
            (Body::Enum(_), Class::Ord) if self.decl(id).is_index_set() => Ok(()),
            (body, Class::Ord) if self.decl(id).derives.contains(&Class::Ord) => {
                let parts: Vec<Ty> = match body {
                    Body::Struct(fields) => fields.into_iter().map(|(_, f)| f).collect(),
                    Body::Enum(ctors) => ctors.into_iter().flat_map(|(_, p)| p).collect(),
                };
                parts.iter().try_for_each(|p| self.need(class, p, why))
            }
            (body, Class::Ord) => {
                let keyword = if matches!(body, Body::Struct(_)) { "struct" } else { "enum" };
                let hint = format!("its order has to be asked for: `{keyword} {name} derives Ord {{ … }}`");
                Err(Box::new(errors::no_class(&self.show(t), class, why, Some(hint))))
            }
            (Body::Struct(_), Class::Num | Class::Floating) => {
                let hint = format!(
                    "products of structs are not fieldwise; write `instance {}({name}) {{ … }}`",
                    class.name()
                );
                Err(Box::new(errors::no_class(&self.show(t), class, why, Some(hint))))
            }
            (Body::Struct(_) | Body::Enum(_), _) => {
                Err(Box::new(errors::no_class(&self.show(t), class, why, None)))
            }
        }
    }
}
