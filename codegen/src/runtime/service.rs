//! Services: what is too rare or too large for machine code.

use std::collections::HashMap;
use std::sync::Arc;

use adl_core::bulk::{Bulk, Made, Operand};
use adl_core::host::Host;
use adl_core::ir::Axes;
use adl_core::run::{RuntimeError, fail};
use adl_core::ty::Scalar;
use adl_core::value::Value;
use adl_core::{npy, show};
use adl_diag::{Code, Span};

use super::cells::Cells;
use super::memory::Memory;
use super::words::{Context, leaf_bytes};
use crate::loops::{Fail, Program, Service, Site};
use crate::repr::Kind;

/// What a run has besides registers and memory.
pub(crate) struct Run<'r> {
    pub(crate) program: &'r Program,
    pub(crate) host: &'r mut dyn Host,
    pub(crate) texts: Vec<Arc<str>>,
    /// Why the run ended.
    pub(crate) error: Option<RuntimeError>,
    /// Calls that may be open at once, for the message.
    pub(crate) depth: u64,
}

impl Run<'_> {
    /// The place of an operation.
    pub(crate) fn span(&self, site: Site) -> Span {
        self.program.sites.get(site.0 as usize).copied().unwrap_or_default()
    }

    fn text(&self, handle: u64) -> Arc<str> {
        self.texts.get(handle as usize).cloned().unwrap_or_else(|| "".into())
    }

    fn new_text(&mut self, text: impl Into<Arc<str>>) -> u64 {
        self.texts.push(text.into());
        self.texts.len() as u64 - 1
    }

    /// The error that an operation reports.
    pub(crate) fn failure(&self, fail: Fail, args: &[u64], site: Site) -> RuntimeError {
        let span = self.span(site);
        let arg = |k: usize| args.get(k).copied().unwrap_or(0);
        match fail {
            Fail::OutOfBounds => fail::out_of_bounds(span, arg(0) as i64, arg(1) as i64),
            Fail::SizesDiffer(what) => {
                let what = self.program.whats.get(what as usize).cloned().unwrap_or_else(|| "sizes".into());
                fail::sizes_differ(span, &what, arg(0) as i64, arg(1) as i64)
            }
            Fail::DivisionByZero => fail::division_by_zero(span),
            Fail::Error => fail::error(span, &self.text(arg(0))),
            Fail::Assertion => fail::assertion(span, &self.text(arg(0))),
            Fail::EmptyMinimum => fail::empty_reduction(span, "minimum"),
            Fail::EmptyMaximum => fail::empty_reduction(span, "maximum"),
            Fail::Conversion => fail::conversion(span, f64::from_bits(arg(0))),
            Fail::NegativeSize => fail::negative_size(span, arg(0) as i64),
            Fail::Constructors => fail::constructors_differ(span),
        }
    }

    /// Serves; the results are written over the first words of `out`.
    pub(crate) fn serve(
        &mut self,
        memory: &mut impl Memory,
        account: &Arc<adl_core::account::Account>,
        service: &Service,
        args: &[u64],
        out: &mut [u64],
        site: Site,
    ) -> Result<(), RuntimeError> {
        let span = self.span(site);
        match service {
            Service::Show(fmt, tys) => {
                let mut context = Context {
                    boxes: &self.program.boxes,
                    texts: &mut self.texts,
                    sizes: HashMap::new(),
                    account,
                    cells: Cells::default(),
                };
                let mut words = args.iter();
                let values: Result<Vec<Value>, _> =
                    tys.iter().map(|ty| context.decode(memory, ty, &mut words)).collect();
                let text = show::show(fmt, &values.map_err(|error| error.at(span))?);
                out[0] = self.new_text(text);
            }
            Service::Print => {
                let text = self.text(args[0]);
                let broken = |why: String| RuntimeError::new(Code::E0801, span, format!("no output: {why}"));
                self.host.emit(&text).map_err(broken)?;
            }
            Service::Trace => {
                let text = self.text(args[0]);
                self.host.trace(&text);
            }
            Service::LoadNpy(rank, elem) => {
                let path = self.text(args[0]);
                self.load(memory, &path, (*rank as usize, *elem), out, span)?;
            }
            Service::StrCat => {
                let joined = format!("{}{}", self.text(args[0]), self.text(args[1]));
                out[0] = self.new_text(joined);
            }
            Service::StrCompare => {
                let order = self.text(args[0]).as_bytes().cmp(self.text(args[1]).as_bytes());
                out[0] = order as i64 as u64;
            }
            Service::Contract(spec, kind) => contract(memory, spec, *kind, args, span)?,
            Service::Bulk(row, kind, ranks) => bulk(memory, *row, (*kind, ranks), args, span)?,
        }
        Ok(())
    }

    fn load(
        &mut self,
        memory: &mut impl Memory,
        path: &str,
        (rank, elem): (usize, Scalar),
        out: &mut [u64],
        span: Span,
    ) -> Result<(), RuntimeError> {
        let bytes = self.host.read_file(path).map_err(|why| {
            RuntimeError::new(Code::E0801, span, format!("cannot read {}: {why}", show::quoted(path)))
        })?;
        let array = npy::read(&bytes, path, rank, elem, span)?;
        let n = array.leaves.len();
        let data = leaf_bytes(&array.leaves, 0, n);
        let at = memory.alloc(data.len() as u64, 0).map_err(|error| error.at(span))?;
        memory.write(at, &data);
        for (slot, dim) in out.iter_mut().zip(array.dims.iter().map(|n| *n as u64).chain([at])) {
            *slot = dim;
        }
        Ok(())
    }
}

fn contract(
    memory: &mut impl Memory,
    spec: &Axes,
    kind: Kind,
    args: &[u64],
    span: Span,
) -> Result<(), RuntimeError> {
    let rank = |axes: &[u8], at: usize| -> Vec<usize> {
        args[at + 1..].iter().take(axes.len()).map(|n| *n as usize).collect()
    };
    let second = 1 + spec.a.len();
    let (a, b) = (rank(&spec.a, 0), rank(&spec.b, second));
    let plan =
        adl_math::contract::Plan::new((&spec.a, &spec.b, &spec.out), (&a, &b)).map_err(|(left, right)| {
            fail::sizes_differ(span, "the sizes of a contracted axis", left as i64, right as i64)
        })?;
    let (n, m) = (a.iter().product(), b.iter().product());
    let out = args[second + 1 + spec.b.len()];
    if kind == Kind::F32 {
        let result = plan.run_f32(&singles(memory, args[0], n), &singles(memory, args[second], m));
        write_singles(memory, out, result);
    } else {
        let result = plan.run_f64(&memory.floats(args[0], n), &memory.floats(args[second], m));
        memory.write_floats(out, &result);
    }
    Ok(())
}

fn singles(memory: &impl Memory, at: u64, n: usize) -> Vec<f32> {
    memory.read(at, 4 * n).as_chunks().0.iter().map(|word| f32::from_ne_bytes(*word)).collect()
}

fn write_singles(memory: &mut impl Memory, at: u64, xs: impl IntoIterator<Item = f32>) {
    let bytes: Vec<u8> = xs.into_iter().flat_map(f32::to_ne_bytes).collect();
    memory.write(at, &bytes);
}

fn bulk(
    memory: &mut impl Memory,
    row: Bulk,
    (kind, ranks): (Kind, &[usize]),
    args: &[u64],
    span: Span,
) -> Result<(), RuntimeError> {
    let (ints, mut words) = args.split_at(row.0.ints);
    let ints: Vec<i64> = ints.iter().map(|word| *word as i64).collect();
    let mut operands = vec![];
    for rank in ranks {
        let (at, rest) = (words[0], &words[1..]);
        let dims: Vec<usize> = rest[..*rank].iter().map(|n| *n as usize).collect();
        let n = dims.iter().product();
        let data = if kind == Kind::F32 {
            singles(memory, at, n).into_iter().map(f64::from).collect()
        } else {
            memory.floats(at, n).into_owned()
        };
        operands.push(Operand { dims, data });
        words = &rest[*rank..];
    }
    let made = (row.0.kernel)(&ints, &operands).map_err(|why| fail::no_result(span, why))?;
    for (at, made) in words.iter().zip(made) {
        match made {
            Made::Ints(xs) => {
                let bytes: Vec<u8> = xs.into_iter().flat_map(i64::to_ne_bytes).collect();
                memory.write(*at, &bytes);
            }
            #[expect(clippy::cast_possible_truncation, reason = "rounding to F32 is what is asked for")]
            Made::Floats(xs) if kind == Kind::F32 => {
                write_singles(memory, *at, xs.into_iter().map(|x| x as f32));
            }
            Made::Floats(xs) => memory.write_floats(*at, &xs),
        }
    }
    Ok(())
}
