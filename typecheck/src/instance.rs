//! Instances: the operations of a class on a struct or an enum.

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

/// An operation of a class that an instance may define.
struct Operation {
    class: Class,
    /// Its name in the source.
    name: &'static str,
    arity: usize,
    /// What it is in Core.
    method: Method,
    /// Whether each instance has to define it.
    needed: bool,
}

const fn needed(class: Class, name: &'static str, arity: usize, method: Method) -> Operation {
    Operation { class, name, arity, method, needed: true }
}

const fn optional(class: Class, name: &'static str, arity: usize, method: Method) -> Operation {
    Operation { class, name, arity, method, needed: false }
}

const OPERATIONS: &[Operation] = &[
    optional(Class::Num, "add", 2, Method::Add),
    optional(Class::Num, "sub", 2, Method::Sub),
    optional(Class::Num, "neg", 1, Method::Neg),
    needed(Class::Num, "mul", 2, Method::Mul),
    needed(Class::Floating, "div", 2, Method::Div),
    optional(Class::Num, "from_int", 1, Method::Lit),
    needed(Class::Eq, "eq", 2, Method::Eq),
    needed(Class::Ord, "lt", 2, Method::Lt),
    needed(Class::Show, "show", 1, Method::Show),
];

impl Operation {
    /// Whether an instance of the class may define it. (What is `Floating` is a `Num` too.)
    fn is_of(&self, class: Class) -> bool {
        self.class == class || (class == Class::Floating && self.class == Class::Num)
    }
}

/// Why a class has no instances that a program defines; `None` where it has.
fn no_instance(class: Class) -> Option<&'static str> {
    match class {
        Class::Num | Class::Floating | Class::Eq | Class::Ord | Class::Show => None,
        Class::Add | Class::Vector => Some(
            "sums and scaling go through the parts of a type, as its derivatives do: they cannot be defined",
        ),
        Class::Real => Some("`Real` are Float and F32: what a derivative may be taken of"),
        Class::Ix => Some("index sets are `Fin(…)`, `()`, Bool, enums without payload, and tuples of these"),
    }
}

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
        if let Some(why) = no_instance(class) {
            let message = format!("`{}` has no instances that a program defines", class.name());
            self.report(errors::misplaced(i.class.span, Code::E0308, &message, why));
            return None;
        }
        let TypeKind::Con(name, args) = &i.ty.kind else {
            let help = "an instance belongs to a struct: `instance Num(Complex) { … }`";
            self.report(errors::misplaced(i.ty.span, Code::E0308, "this type cannot have an instance", help));
            return None;
        };
        let data = match self.type_named(&name.text, name.span) {
            Found::Known(TypeName::Data(id)) => id,
            Found::Wrong | Found::Known(TypeName::Poison) => return None,
            Found::Known(TypeName::Alias(_)) | Found::Unknown => {
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
        if let Some((message, help)) = self.refused_instance(class, data) {
            self.report(errors::misplaced(i.class.span, Code::E0308, &message, &help));
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
        let all_known = operations.defs.len() == i.defs.len();
        for missing in OPERATIONS.iter().filter(|o| o.needed && o.is_of(class) && !has(o.method)) {
            if all_known {
                let arguments = if missing.arity == 1 { "a" } else { "a, b" };
                let help = format!("add `def {}({arguments}) = …`", missing.name);
                let message = format!("this instance does not define `{}`", missing.name);
                self.report(errors::misplaced(i.class.span, Code::E0308, &message, &help));
            }
        }
        if has(Method::Lit) {
            self.arena.from_int.push(data);
        }
        // What is ordered is compared for equality too, but by its own parts or instance.
        let supers: &[Class] = if class == Class::Ord { &[] } else { class.supers() };
        let classes = [class].into_iter().chain(supers.iter().copied());
        self.arena.instances.extend(classes.map(|c| (data, c)));
        Some(operations)
    }

    /// Why a type cannot have an instance of the class, with a way out.
    fn refused_instance(&self, class: Class, data: DataId) -> Option<(String, String)> {
        let decl = self.arena.decl(data);
        let (name, shown) = (&decl.name, class.name());
        if decl.derives.contains(&class) {
            let help = format!("leave out `derives {shown}`, or the instance");
            return Some((format!("`{name}` derives `{shown}` already"), help));
        }
        if self.arena.instances.contains(&(data, class)) {
            let help = "leave one of them out".to_string();
            return Some((format!("`{name}` has an instance of `{shown}` already"), help));
        }
        if !decl.is_struct() && matches!(class, Class::Num | Class::Floating) {
            let help =
                format!("a `{shown}` is a vector too, and an enum is none: make it a field of a struct");
            return Some((format!("an enum cannot have an instance of `{shown}`"), help));
        }
        if decl.is_index_set() && class != Class::Show {
            let help = "its values are compared as indices are, by the order of the constructors".to_string();
            return Some((format!("`{name}` is an index set, which has `{shown}` already"), help));
        }
        None
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
        let Some(operation) = OPERATIONS.iter().find(|o| o.name == def.name.text && o.is_of(class)) else {
            let of_class = OPERATIONS.iter().filter(|o| o.is_of(class));
            let list: Vec<String> = of_class.map(|o| format!("`{}`", o.name)).collect();
            let known = format!("the operations are {}", list.join(", "));
            let message = format!("`{}` is no operation of `{}`", def.name.text, class.name());
            self.report(errors::misplaced(def.name.span, Code::E0308, &message, &known));
            return None;
        };
        let Operation { name, arity, method, .. } = operation;
        let result_name = match operation.class {
            Class::Eq | Class::Ord => Some("Bool"),
            Class::Show => Some("String"),
            Class::Add | Class::Num | Class::Vector | Class::Floating | Class::Real | Class::Ix => None,
        };
        if def.params.len() != *arity {
            let result = result_name.unwrap_or("a");
            let shown = if *arity == 2 { format!("(a, a) -> {result}") } else { format!("a -> {result}") };
            self.report(errors::arity(def.name.span, name, *arity, def.params.len(), &shown));
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
        let written = || match result_name {
            Some(name) => type_named(name, def.name.span),
            None => own(def.name.span),
        };
        let result = Some(def.result.clone().unwrap_or_else(written));
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
