//! Instances: the operations of a class on a struct.

use std::collections::BTreeSet;

use adl_core::ir::Method;
use adl_diag::{Code, Span};
use adl_syntax::ast::{Constraint, Def, Instance, Item, ItemKind, Name, Pat, PatKind, Type, TypeKind};

use crate::{
    checker::{Checker, TypeName},
    errors,
    imports::Found,
    module::Output,
    resolve::free_in_def,
    types::{Class, DataId, V},
};

/// An operation of an instance: its name in the source, its number of arguments, and what it is in Core.
const OPERATIONS: &[(&str, usize, Method)] = &[
    ("add", 2, Method::Add),
    ("sub", 2, Method::Sub),
    ("neg", 1, Method::Neg),
    ("mul", 2, Method::Mul),
    ("div", 2, Method::Div),
    ("from_int", 1, Method::Lit),
];

/// An instance on its way: its operations as definitions with full signatures.
pub(crate) struct Operations {
    data: DataId,
    defs: Vec<(Def, Method)>,
}

impl Operations {
    /// The names its operations mention.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.defs.iter().flat_map(|(d, _)| free_in_def(d)).collect()
    }
}

impl Checker {
    /// Declares the instances of a module, so that all its items know them.
    pub(crate) fn declare_instances(&mut self, items: &[Item]) -> Vec<Operations> {
        items
            .iter()
            .filter_map(
                |item| if let ItemKind::Instance(i) = &item.kind { self.declare_instance(i) } else { None },
            )
            .collect()
    }

    fn declare_instance(&mut self, i: &Instance) -> Option<Operations> {
        let Some(class) = Class::from_name(&i.class.text) else {
            self.report(errors::unknown_class(i.class.span, &i.class.text));
            return None;
        };
        if !matches!(class, Class::Num | Class::Floating) {
            self.report(errors::unsupported(
                i.class.span,
                "instances of classes other than Num and Floating",
            ));
            return None;
        }
        let TypeKind::Con(name, args) = &i.ty.kind else {
            let help = "an instance belongs to a struct: `instance Num(Complex) { … }`";
            self.report(errors::misplaced(i.ty.span, Code::E0308, "this type cannot have an instance", help));
            return None;
        };
        let data = match self.type_named(&name.text, name.span) {
            Found::Known(TypeName::Data(id)) if self.arena.decl(id).is_struct() => id,
            Found::Wrong | Found::Known(TypeName::Poison) => return None,
            Found::Known(TypeName::Data(_) | TypeName::Alias(_)) | Found::Unknown => {
                let near = self.near_type(&name.text);
                self.report(errors::unknown_type(name.span, &name.text, near));
                return None;
            }
        };
        if self.is_foreign(data) {
            let help = "an instance stands in the module that defines its type";
            let message = format!("`{}` belongs to another module", name.text);
            self.report(errors::misplaced(name.span, Code::E0308, &message, help));
            return None;
        }
        let names: Vec<&str> = args
            .iter()
            .filter_map(|t| if let TypeKind::Var(n) = &t.kind { Some(&**n) } else { None })
            .collect();
        let params = self.arena.decl(data).params.clone();
        if params.len() != args.len() {
            self.report(errors::type_params(i.ty.span, &name.text, params.len(), args.len()));
            return None;
        }
        if names.len() != args.len() || (1..names.len()).any(|k| names[..k].contains(&names[k])) {
            let help = "its parameters are different names: `instance Num(Dual[a]) { … }`";
            let message = "an instance is for all parameters of a type";
            self.report(errors::misplaced(i.ty.span, Code::E0308, message, help));
            return None;
        }
        let needs = self.needs_of(i, &params, args);
        let mut operations = Operations { data, defs: vec![] };
        for def in &i.defs {
            operations.defs.extend(self.operation(def, (name, &i.ty), class, &needs));
        }
        let has = |wanted: Method| operations.defs.iter().any(|(_, m)| *m == wanted);
        let needed = [(Method::Mul, "mul"), (Method::Div, "div")];
        let needed = &needed[..if class == Class::Floating { 2 } else { 1 }];
        let all_known = operations.defs.len() == i.defs.len();
        for (method, operation) in needed {
            if all_known && !has(*method) {
                let help = format!("add `def {operation}(a, b) = …`");
                let message = format!("this instance does not define `{operation}`");
                self.report(errors::misplaced(i.class.span, Code::E0308, &message, &help));
            }
        }
        if has(Method::Lit) {
            self.arena.from_int.push(data);
        }
        let classes = [class].into_iter().chain(class.supers().iter().copied());
        self.arena.instances.extend(classes.map(|c| (data, c)));
        Some(operations)
    }

    /// What an instance needs of the parameters of its type: the same class of each that is no index set.
    fn needs_of(&self, i: &Instance, params: &[V], args: &[Type]) -> Vec<Constraint> {
        let types = params.iter().zip(args).filter(|(p, _)| !self.arena.var(**p).ix);
        types
            .map(|(_, arg)| Constraint { span: arg.span, class: i.class.clone(), args: vec![arg.clone()] })
            .collect()
    }

    /// An operation as a definition whose signature says the type of the instance.
    fn operation(
        &mut self,
        def: &Def,
        (of, ty): (&Name, &Type),
        class: Class,
        needs: &[Constraint],
    ) -> Option<(Def, Method)> {
        let found = OPERATIONS.iter().find(|(name, ..)| *name == def.name.text);
        let Some((name, count, method)) =
            found.filter(|(name, ..)| *name != "div" || class == Class::Floating)
        else {
            let known = "the operations are add, sub, neg, mul, div (of Floating) and from_int";
            let message = format!("`{}` is no operation of `{}`", def.name.text, class.name());
            self.report(errors::misplaced(def.name.span, Code::E0308, &message, known));
            return None;
        };
        if def.params.len() != *count {
            let shown = if *count == 2 { "(a, a) -> a" } else { "a -> a" };
            self.report(errors::arity(def.name.span, name, *count, def.params.len(), shown));
            return None;
        }
        let own = |span: Span| Type { span, ..ty.clone() };
        let param = |p: &Pat| match &p.kind {
            PatKind::Typed(..) => p.clone(),
            PatKind::Var(_)
            | PatKind::Wild
            | PatKind::Lit(_)
            | PatKind::Tuple(_)
            | PatKind::Ctor(..)
            | PatKind::Struct(..) => {
                let ty = if *method == Method::Lit { type_named("Int", p.span) } else { own(p.span) };
                Pat { span: p.span, depth: p.depth + 1, kind: PatKind::Typed(Box::new(p.clone()), ty) }
            }
        };
        let name = Name { text: format!("{}.{name}", of.text), span: def.name.span };
        let params = def.params.iter().map(param).collect();
        let result = Some(def.result.clone().unwrap_or_else(|| own(def.name.span)));
        let constraints = if needs.is_empty() { None } else { Some(needs.to_vec()) };
        Some((Def { name, params, result, constraints, ..def.clone() }, *method))
    }

    /// Checks the operations.
    pub(crate) fn instance(&mut self, operations: &Operations, funcs: &mut usize, out: &mut Vec<Output>) {
        for (def, method) in &operations.defs {
            let target = *funcs;
            self.group(&[(def, def.span)], funcs, out);
            out.push(Output::Operation(operations.data, *method, target));
        }
    }
}

fn type_named(name: &str, span: Span) -> Type {
    Type { span, depth: 1, kind: TypeKind::Con(Name { text: name.to_string(), span }, vec![]) }
}
