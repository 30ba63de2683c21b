//! Random expressions of a wanted type.

use super::Gen;
use super::types::{Ix, Scope, T};

impl Gen<'_> {
    /// An expression of the type, in brackets where it needs them.
    pub(super) fn expr(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        if fuel == 0 {
            return self.leaf(t, scope);
        }
        match self.pick(20) {
            0 | 1 => self.leaf(t, scope),
            2 => {
                self.kinds.note("if");
                let c = self.expr(&T::Bool, scope, fuel - 1);
                let (a, b) = (self.expr(t, scope, fuel - 1), self.expr(t, scope, fuel - 1));
                format!("(if {c} then {a} else {b})")
            }
            3 => self.block(t, scope, fuel - 1),
            4 => self.case(t, scope, fuel - 1),
            5 => self.call(t, scope, fuel - 1),
            6 => self.applied(t, scope, fuel - 1),
            7 => self.part(t, scope, fuel - 1),
            8 => self.looped(t, scope, fuel - 1),
            9 => self.higher(t, scope, fuel - 1),
            10 => self.recursion(t, scope, fuel - 1),
            _ => self.build(t, scope, fuel - 1),
        }
    }

    /// A variable, or the smallest value.
    fn leaf(&mut self, t: &T, scope: &Scope) -> String {
        let fitting: Vec<&(String, T)> = scope.vars.iter().filter(|(_, u)| u == t).collect();
        if !fitting.is_empty() && self.pick(4) != 0 {
            self.kinds.note("variable");
            let k = self.pick(fitting.len());
            return fitting[fitting.len() - 1 - k].0.clone();
        }
        if *t == T::Int && !scope.indices.is_empty() && self.pick(2) == 0 {
            let k = self.pick(scope.indices.len());
            return format!("int({})", scope.indices[k].0);
        }
        self.kinds.note("literal");
        match t {
            T::Float => format!("{}.{}", self.pick(3), self.pick(10)),
            T::Int => format!("{}", self.pick(5)),
            T::Bool => if self.pick(2) == 0 { "true" } else { "false" }.into(),
            T::Str => format!("\"s{}\"", self.pick(3)),
            T::Color => ["Red", "Green", "Blue"][self.pick(3)].into(),
            T::Shape => "Dot".into(),
            T::Opt(a) => {
                // `No` alone does not say of what.
                let value = self.leaf(a, scope);
                if self.pick(2) == 0 { format!("Yes({value})") } else { format!("(No : Opt[{a}])") }
            }
            T::List(a) => format!("(Nil : List[{a}])"),
            T::Tree => format!("Leaf({})", self.leaf(&T::Float, scope)),
            T::Tuple(ts) => self.tuple(ts, scope, 0),
            T::Table(..) | T::P | T::Pair(..) | T::Fun(..) => self.build(t, scope, 0),
        }
    }

    fn tuple(&mut self, ts: &[T], scope: &Scope, fuel: usize) -> String {
        let parts: Vec<String> = ts.iter().map(|t| self.expr(t, scope, fuel)).collect();
        format!("({})", parts.join(", "))
    }

    fn block(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        self.kinds.note("let");
        let u = self.any_type(2);
        let (x, value) = (self.fresh("v"), self.expr(&u, scope, fuel));
        if self.pick(3) == 0 {
            self.kinds.note("tuple pattern");
            let w = self.any_type(1);
            let (y, other) = (self.fresh("v"), self.expr(&w, scope, fuel));
            let body = self.expr(t, &scope.with(&x, &u).with(&y, &w), fuel);
            return format!("{{ let ({x}, {y}) = ({value}, {other}); {body} }}");
        }
        let body = self.expr(t, &scope.with(&x, &u), fuel);
        format!("{{ let {x}: {u} = {value}; {body} }}")
    }

    fn case(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        self.kinds.note("case");
        let x = self.fresh("c");
        match self.pick(5) {
            0 => {
                let s = self.expr(&T::Shape, scope, fuel);
                let y = self.fresh("c");
                let dot = self.expr(t, scope, fuel);
                let disc = self.expr(t, &scope.with(&x, &T::Float), fuel);
                let boxed = self.expr(t, &scope.with(&x, &T::Float).with(&y, &T::Int), fuel);
                if self.pick(2) == 0 {
                    self.kinds.note("guard");
                    let other = self.expr(t, scope, 0);
                    let test = self.expr(&T::Bool, &scope.with(&x, &T::Float), 1);
                    return format!(
                        "(case {s} of {{ Disc({x}) if {test} -> {disc}, Box({x}, {y}) -> {boxed}, Dot -> {dot}, _ -> {other} }})"
                    );
                }
                format!("(case {s} of {{ Dot -> {dot}, Disc({x}) -> {disc}, Box({x}, {y}) -> {boxed} }})")
            }
            1 => {
                let a = self.printable(1);
                let o = self.expr(&T::Opt(Box::new(a.clone())), scope, fuel);
                let (no, yes) = (self.expr(t, scope, fuel), self.expr(t, &scope.with(&x, &a), fuel));
                format!("(case {o} of {{ No -> {no}, Yes({x}) -> {yes} }})")
            }
            2 => {
                let c = self.expr(&T::Color, scope, fuel);
                let (a, b) = (self.expr(t, scope, fuel), self.expr(t, scope, fuel));
                format!("(case {c} of {{ Green -> {a}, _ -> {b} }})")
            }
            3 if !self.in_derivative => {
                self.kinds.note("nested pattern");
                let l = T::List(Box::new(T::Opt(Box::new(T::Float))));
                let (y, e) = (self.fresh("c"), self.expr(&l, scope, fuel));
                let (nil, no) = (self.expr(t, scope, fuel), self.expr(t, &scope.with(&y, &l), fuel));
                let yes = self.expr(t, &scope.with(&x, &T::Float).with(&y, &l), fuel);
                format!(
                    "(case {e} of {{ Nil -> {nil}, Cons(Yes({x}), {y}) -> {yes}, Cons(No, {y}) -> {no} }})"
                )
            }
            _ => {
                self.kinds.note("nested pattern");
                let n = self.expr(&T::Tuple(vec![T::Int, T::Bool]), scope, fuel);
                let (a, b) = (self.expr(t, scope, fuel), self.expr(t, &scope.with(&x, &T::Int), fuel));
                let c = self.expr(t, scope, 0);
                format!("(case {n} of {{ (0, true) -> {a}, ({x}, false) -> {b}, _ -> {c} }})")
            }
        }
    }

    /// A call of a function whose result fits.
    fn call(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        let inside = self.in_derivative;
        let fits = |d: &&super::Def| {
            d.result == *t && !(inside && (!d.has_derivative || d.params.iter().any(T::has_cells)))
        };
        let found: Vec<(String, Vec<T>, bool)> = self
            .defs
            .iter()
            .filter(fits)
            .map(|d| (d.name.clone(), d.params.clone(), d.is_recursive))
            .collect();
        if found.is_empty() {
            return self.build(t, scope, fuel);
        }
        let (name, params, is_recursive) = found[self.pick(found.len())].clone();
        self.kinds.note(if is_recursive { "recursive call" } else { "call" });
        let mut args: Vec<String> = params.iter().map(|p| self.expr(p, scope, fuel)).collect();
        if is_recursive {
            args[0] = format!("{}", self.pick(4));
        }
        format!("{name}({})", args.join(", "))
    }

    /// A function value, applied.
    fn applied(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        let a = self.printable(1);
        let f = T::Fun(Box::new(a.clone()), Box::new(t.clone()));
        let arg = self.expr(&a, scope, fuel);
        let name = self.fresh("g");
        match self.pick(4) {
            0 => {
                self.kinds.note("closure");
                let f = self.expr(&f, scope, fuel);
                format!("{{ let {name} = {f}; {name}({arg}) }}")
            }
            1 => {
                self.kinds.note("higher-order call");
                let c = self.expr(&T::Bool, scope, fuel);
                let (f, g) = (self.expr(&f, scope, fuel), self.expr(&f, scope, fuel));
                format!("choose({c}, {f}, {g})({arg})")
            }
            2 => {
                self.kinds.note("function in data");
                let (x, y) = (self.expr(&f, scope, fuel), self.expr(&f, scope, fuel));
                let k = self.pick(2);
                format!("{{ let {name} = [{x}, {y}]; {name}[{k}]({arg}) }}")
            }
            _ if !self.in_derivative => {
                self.kinds.note("function in data");
                let (x, y) = (self.expr(&f, scope, fuel), self.expr(&f, scope, fuel));
                let (h, z) = (self.fresh("h"), self.leaf(t, scope));
                format!("(case Cons({x}, Cons({y}, Nil)) of {{ Cons({h}, _) -> {h}({arg}), Nil -> {z} }})")
            }
            _ => {
                let f = self.expr(&f, scope, fuel);
                format!("{f}({arg})")
            }
        }
    }

    /// A part of something larger.
    fn part(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        let other = self.printable(1);
        match self.pick(4) {
            0 => {
                self.kinds.note("projection");
                format!("{}.1", self.tuple(&[other, t.clone()], scope, fuel))
            }
            1 => {
                self.kinds.note("field");
                let pair = T::Pair(Box::new(other), Box::new(t.clone()));
                let name = self.fresh("v");
                let value = self.expr(&pair, scope, fuel);
                format!("{{ let {name}: {pair} = {value}; {name}.r }}")
            }
            2 => {
                self.kinds.note("index");
                let table = T::Table(Ix::Fin(3), Box::new(t.clone()));
                let name = self.fresh("v");
                let value = self.expr(&table, scope, fuel);
                let at = self.pick(3);
                format!("{{ let {name}: {table} = {value}; {name}[{at}] }}")
            }
            _ => {
                self.kinds.note("index");
                let tables: Vec<(String, String)> = scope
                    .vars
                    .iter()
                    .filter_map(|(x, u)| if let T::Table(ix, u) = u { Some((x, ix, u)) } else { None })
                    .filter(|(_, _, u)| ***u == *t)
                    .flat_map(|(x, ix, _)| {
                        scope
                            .indices
                            .iter()
                            .filter(move |(_, i)| i == ix)
                            .map(move |(i, _)| (x.clone(), i.clone()))
                    })
                    .collect();
                if tables.is_empty() {
                    return self.expr(t, scope, fuel);
                }
                let (x, i) = &tables[self.pick(tables.len())];
                format!("{x}[{i}]")
            }
        }
    }

    fn looped(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        let s = self.fresh("s");
        let init = self.expr(t, scope, fuel);
        if self.pick(3) == 0 {
            self.kinds.note("while");
            let (k, n) = (self.fresh("k"), self.pick(4));
            let next = self.expr(t, &scope.with(&s, t).with(&k, &T::Int), fuel);
            return format!("(loop ({s}, {k}) = ({init}, 0) while {k} < {n} do ({next}, {k} + 1)).0");
        }
        self.kinds.note("loop");
        let (i, n) = (self.fresh("i"), self.pick(4));
        let mut inner = scope.with(&s, t);
        inner.indices.push((i.clone(), Ix::Fin(n)));
        let next = self.expr(t, &inner, fuel);
        format!("(loop {s} = {init} for {i}: Fin({n}) do {next})")
    }

    /// Library functions that take functions.
    fn higher(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        let (x, y) = (self.fresh("x"), self.fresh("y"));
        match self.pick(4) {
            0 => {
                self.kinds.note("fold");
                let init = self.expr(t, scope, fuel);
                let body = self.expr(t, &scope.with(&x, t).with(&y, &T::Float), fuel);
                let xs = self.expr(&T::Table(Ix::Fin(3), Box::new(T::Float)), scope, fuel);
                format!("fold(\\({x}, {y}). {body}, {init}, {xs})")
            }
            1 if !self.in_derivative => {
                self.kinds.note("recursive data");
                let init = self.expr(t, scope, fuel);
                let body = self.expr(t, &scope.with(&x, t).with(&y, &T::Int), fuel);
                let xs = self.expr(&T::List(Box::new(T::Int)), scope, fuel);
                format!("foldl(\\({x}, {y}). {body}, {init}, {xs})")
            }
            2 => {
                self.kinds.note("higher-order call");
                let body = self.expr(t, &scope.with(&x, t), fuel);
                let init = self.expr(t, scope, fuel);
                format!("twice(\\{x}. {body}, {init})")
            }
            _ => self.build(t, scope, fuel),
        }
    }

    /// A local function that calls itself.
    fn recursion(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        if self.in_derivative {
            return self.build(t, scope, fuel);
        }
        self.kinds.note("local recursion");
        let (go, k, acc) = (self.fresh("go"), self.fresh("k"), self.fresh("a"));
        let step = self.expr(t, &scope.with(&k, &T::Int).with(&acc, t), fuel);
        let (init, n) = (self.expr(t, scope, fuel), self.pick(4));
        format!(
            "{{ def {go}({k}: Int, {acc}: {t}) -> {t} = if {k} == 0 then {acc} else {go}({k} - 1, {step}); {go}({n}, {init}) }}"
        )
    }

    /// What makes values of this type.
    fn build(&mut self, t: &T, scope: &Scope, fuel: usize) -> String {
        match t {
            T::Float => self.float(scope, fuel),
            T::Int => self.int(scope, fuel),
            T::Bool => self.bool(scope, fuel),
            T::Str => {
                self.kinds.note("text");
                let u = self.printable(1);
                let (a, b) = (self.leaf(&T::Str, scope), self.expr(&u, scope, fuel));
                format!("({a} ++ show({b}))")
            }
            T::Tuple(ts) => self.tuple(ts, scope, fuel),
            T::Table(ix, elem) => self.table(ix, elem, scope, fuel),
            T::P => self.record(scope, fuel),
            T::Pair(a, b) => {
                self.kinds.note("record");
                let (l, r) = (self.expr(a, scope, fuel), self.expr(b, scope, fuel));
                format!("Pair {{ l = {l}, r = {r} }}")
            }
            T::Opt(a) => {
                self.kinds.note("constructor");
                format!("Yes({})", self.expr(a, scope, fuel))
            }
            T::Shape => {
                self.kinds.note("constructor");
                let x = self.expr(&T::Float, scope, fuel);
                if self.pick(2) == 0 {
                    return format!("Disc({x})");
                }
                format!("Box({x}, {})", self.expr(&T::Int, scope, fuel))
            }
            T::Color => self.leaf(t, scope),
            T::List(a) => {
                self.kinds.note("recursive data");
                let head = self.expr(a, scope, fuel);
                let rest = self.expr(t, scope, fuel.saturating_sub(1));
                if self.pick(4) == 0 && fuel > 0 {
                    let first = self.expr(t, scope, fuel - 1);
                    return format!("append({first}, {rest})");
                }
                format!("Cons({head}, {rest})")
            }
            T::Tree => {
                self.kinds.note("recursive data");
                let (l, r) = (self.expr(t, scope, fuel), self.expr(t, scope, fuel.saturating_sub(1)));
                if fuel == 0 { l } else { format!("Node({l}, {r})") }
            }
            T::Fun(a, b) => {
                self.kinds.note("lambda");
                let x = self.fresh("x");
                let body = self.expr(b, &scope.with(&x, a), fuel);
                format!("(\\{x}: {a}. {body})")
            }
        }
    }

    fn record(&mut self, scope: &Scope, fuel: usize) -> String {
        if self.pick(3) == 0 && fuel > 0 {
            self.kinds.note("with");
            let (p, x) = (self.expr(&T::P, scope, fuel - 1), self.expr(&T::Float, scope, fuel));
            let name = self.fresh("v");
            return format!("{{ let {name}: P = {p}; {name} with {{ x = {x} }} }}");
        }
        self.kinds.note("record");
        let (x, n) = (self.expr(&T::Float, scope, fuel), self.expr(&T::Int, scope, fuel));
        format!("P {{ x = {x}, n = {n} }}")
    }

    fn float(&mut self, scope: &Scope, fuel: usize) -> String {
        if fuel == 0 {
            return self.leaf(&T::Float, scope);
        }
        let fuel = fuel - 1;
        match self.pick(12) {
            0..3 => {
                self.kinds.note("arithmetic");
                let (a, b) = (self.expr(&T::Float, scope, fuel), self.expr(&T::Float, scope, fuel));
                let op = ["+", "-", "*"][self.pick(3)];
                format!("({a} {op} {b})")
            }
            3 | 4 => {
                self.kinds.note("arithmetic");
                let f = ["sin", "tanh", "cos", "atan", "-", "exp"][self.pick(6)];
                let x = self.expr(&T::Float, scope, fuel);
                if f == "exp" { format!("exp(sin({x}))") } else { format!("{f}({x})") }
            }
            5 => {
                self.kinds.note("reduction");
                let ix = self.ix();
                let xs = self.expr(&T::Table(ix, Box::new(T::Float)), scope, fuel);
                let f = ["sum", "prod", "norm"][self.pick(3)];
                format!("{f}({xs})")
            }
            6 => format!("float({})", self.expr(&T::Int, scope, fuel)),
            7 if !self.in_derivative => {
                self.kinds.note("recursive data");
                let t = self.expr(&T::Tree, scope, fuel);
                if self.pick(2) == 0 {
                    return format!("total({t})");
                }
                self.kinds.note("continuation");
                let x = self.fresh("x");
                let body = self.expr(&T::Float, &scope.with(&x, &T::Float), fuel);
                format!("foldk({t}, \\{x}. {body})")
            }
            8 => {
                self.kinds.note("pack");
                let xs = self.expr(&T::Table(Ix::Fin(3), Box::new(T::Float)), scope, fuel);
                let x = self.fresh("x");
                let test = self.expr(&T::Bool, &scope.with(&x, &T::Float), fuel);
                format!("sum(filter(\\{x}. {test}, {xs}))")
            }
            9 | 10 => self.derivative(scope, fuel),
            _ => self.leaf(&T::Float, scope),
        }
    }

    fn derivative(&mut self, scope: &Scope, fuel: usize) -> String {
        let before = std::mem::replace(&mut self.in_derivative, true);
        let x = self.fresh("x");
        let at = self.leaf(&T::Float, scope);
        // What is in scope may be captured whatever it is; recursive data is not looked into.
        let mut inner = scope.clone();
        inner.vars.retain(|(_, t)| !t.has_cells() && t.is_data());
        inner.bind(&x, T::Float);
        let body = self.expr(&T::Float, &inner, fuel);
        self.in_derivative = before;
        if self.pick(2) == 0 {
            self.kinds.note("grad");
            return format!("grad(\\{x}: Float. sin({body} + {x}))({at})");
        }
        self.kinds.note("jvp");
        format!("jvp(\\{x}: Float. sin({body} + {x}))({at}, 1.0).1")
    }

    fn int(&mut self, scope: &Scope, fuel: usize) -> String {
        if fuel == 0 {
            return self.leaf(&T::Int, scope);
        }
        let fuel = fuel - 1;
        match self.pick(6) {
            0 | 1 => {
                self.kinds.note("arithmetic");
                let (a, b) = (self.expr(&T::Int, scope, fuel), self.expr(&T::Int, scope, fuel));
                let op = ["+", "-", "*"][self.pick(3)];
                format!("({a} {op} {b})")
            }
            2 => {
                self.kinds.note("arithmetic");
                let (a, k) = (self.expr(&T::Int, scope, fuel), 1 + self.pick(4));
                let f = ["div", "mod", "quot", "rem"][self.pick(4)];
                format!("{f}({a}, {k})")
            }
            3 if !self.in_derivative => {
                self.kinds.note("recursive data");
                let a = self.printable(1);
                format!("length({})", self.expr(&T::List(Box::new(a)), scope, fuel))
            }
            4 if !scope.sets.is_empty() => {
                self.kinds.note("size");
                format!("size({})", scope.sets[0])
            }
            _ => self.leaf(&T::Int, scope),
        }
    }

    fn bool(&mut self, scope: &Scope, fuel: usize) -> String {
        if fuel == 0 {
            return self.leaf(&T::Bool, scope);
        }
        let fuel = fuel - 1;
        match self.pick(4) {
            0 => {
                self.kinds.note("comparison");
                let t = if self.pick(2) == 0 { T::Float } else { T::Int };
                let (a, b) = (self.expr(&t, scope, fuel), self.expr(&t, scope, fuel));
                let op = ["<", "<=", ">", ">="][self.pick(4)];
                format!("({a} {op} {b})")
            }
            1 => {
                self.kinds.note("equality");
                let t = self.printable(2);
                let (a, b) = (self.expr(&t, scope, fuel), self.expr(&t, scope, fuel));
                let op = ["==", "!="][self.pick(2)];
                format!("(({a} : {t}) {op} {b})")
            }
            2 => {
                let (a, b) = (self.expr(&T::Bool, scope, fuel), self.expr(&T::Bool, scope, fuel));
                let op = ["&&", "||"][self.pick(2)];
                format!("({a} {op} !{b})")
            }
            _ => self.leaf(&T::Bool, scope),
        }
    }

    fn table(&mut self, ix: &Ix, elem: &T, scope: &Scope, fuel: usize) -> String {
        let i = self.fresh("i");
        let mut inner = scope.clone();
        inner.indices.push((i.clone(), ix.clone()));
        let less = fuel.saturating_sub(1);
        let t = T::Table(ix.clone(), Box::new(elem.clone()));
        match (ix, self.pick(7)) {
            (Ix::Fin(n @ 1..), 0) => {
                self.kinds.note("table literal");
                let items: Vec<String> = (0..*n).map(|_| self.expr(elem, scope, less)).collect();
                format!("[{}]", items.join(", "))
            }
            (Ix::Fin(n @ 1..), 1) if fuel > 0 => {
                self.kinds.note("update");
                let (xs, at, x) = (self.expr(&t, scope, less), self.pick(*n), self.expr(elem, scope, less));
                let name = self.fresh("v");
                format!("{{ let {name}: {t} = {xs}; {name} with {{ [{at}] = {x} }} }}")
            }
            (_, 2) if *elem == T::Float && fuel > 0 => {
                self.kinds.note("accum");
                let (h, j, n) = (self.fresh("h"), self.fresh("j"), self.pick(4));
                inner.indices.push((j.clone(), Ix::Fin(n)));
                let value = self.expr(&T::Float, &inner, less);
                if self.pick(2) == 0 {
                    self.kinds.note("when");
                    let test = self.expr(&T::Bool, &inner, less);
                    return format!(
                        "(accum {h}: {t} do for {i}: {ix}, {j}: Fin({n}). when {test} do {h}[{i}] += {value})"
                    );
                }
                format!("(accum {h}: {t} do for {i}: {ix}, {j}: Fin({n}). {h}[{i}] += {value})")
            }
            (_, 3) if *elem == T::Float && fuel > 0 => {
                self.kinds.note("lifting");
                let (a, b) = (self.expr(&t, scope, less), self.expr(&t, scope, less));
                let op = ["+", "-", "*"][self.pick(3)];
                format!("({a} {op} sin({b}))")
            }
            (_, 4) if fuel > 0 => {
                self.kinds.note("higher-order call");
                let x = self.fresh("x");
                let xs = self.expr(&T::Table(ix.clone(), Box::new(T::Float)), scope, less);
                let body = self.expr(elem, &scope.with(&x, &T::Float), less);
                format!("map(\\{x}. {body}, {xs})")
            }
            _ => {
                self.kinds.note("for");
                let body = self.expr(elem, &inner, fuel);
                format!("(for {i}: {ix}. {body})")
            }
        }
    }
}
