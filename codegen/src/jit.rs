//! Machine code and its life: compiled as one module, callable, freed with it.
#![expect(unsafe_code, reason = "addresses of machine code become functions, and its memory is freed")]

use std::mem::ManuallyDrop;

use cranelift::jit::{JITBuilder, JITModule};
use cranelift::module::{FuncId, Linkage, Module, default_libcall_names};
use cranelift::prelude::{Configurable, FunctionBuilderContext, settings};

use crate::abi::{Ctx, Entry};
use crate::clif;
use crate::loops::Program;

/// The machine code of a program.
pub(crate) struct Machine {
    module: ManuallyDrop<JITModule>,
    entries: Vec<Entry>,
}

// SAFETY: after it is made the code is only run, and it keeps all state in the context it is given.
unsafe impl Send for Machine {}
// SAFETY: as above.
unsafe impl Sync for Machine {}

impl Machine {
    /// Compiles a program.
    ///
    /// # Errors
    ///
    /// What the code generator says, if the machine or a function is beyond it.
    pub(crate) fn new(program: &Program) -> Result<Machine, String> {
        let mut machine = Machine { module: ManuallyDrop::new(new_module()?), entries: vec![] };
        let ids = define(&mut machine.module, program)?;
        machine.module.finalize_definitions().map_err(|error| error.to_string())?;
        for id in ids {
            let code = machine.module.get_finalized_function(id);
            // SAFETY: the code at this address has the signature of an entry.
            machine.entries.push(unsafe { std::mem::transmute::<*const u8, Entry>(code) });
        }
        Ok(machine)
    }

    /// Runs a function on argument words; did it end well?
    pub(crate) fn call(&self, func: usize, ctx: &mut Ctx<'_>, args: &[u64], out: &mut [u64]) -> bool {
        // SAFETY: the words are as many as the function takes and gives, and live during the call.
        unsafe { self.entries[func](ctx, args.as_ptr(), out.as_mut_ptr()) == 0 }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here, and nobody can call its code any more.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

fn new_module() -> Result<JITModule, String> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let wanted = [
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("opt_level", "speed"),
        ("enable_verifier", verify),
        ("unwind_info", "false"),
    ];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let isa = cranelift::native::builder()?
        .finish(settings::Flags::new(flags))
        .map_err(|error| error.to_string())?;
    Ok(JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())))
}

/// Writes all functions and the ways in, and gives the latter.
fn define(module: &mut JITModule, program: &Program) -> Result<Vec<FuncId>, String> {
    let said = |error: cranelift::module::ModuleError| format!("{error:?}");
    let mut ids = vec![];
    for (i, func) in program.funcs.iter().enumerate() {
        let signature = clif::signature(module, func);
        ids.push(module.declare_function(&format!("f{i}"), Linkage::Local, &signature).map_err(said)?);
    }
    let callees: Vec<(FuncId, i64)> =
        ids.iter().copied().zip(program.funcs.iter().map(clif::frame_bytes)).collect();
    let (mut context, mut builder) = (module.make_context(), FunctionBuilderContext::new());
    let mut entries = vec![];
    for (i, func) in program.funcs.iter().enumerate() {
        context.func.signature = clif::signature(module, func);
        clif::function(module, &mut builder, &mut context.func, &callees, func);
        module.define_function(ids[i], &mut context).map_err(said)?;
        module.clear_context(&mut context);
        let signature = clif::entry_signature(module);
        let id = module.declare_function(&format!("entry{i}"), Linkage::Export, &signature).map_err(said)?;
        context.func.signature = signature;
        clif::entry(module, &mut builder, &mut context.func, ids[i], func);
        module.define_function(id, &mut context).map_err(said)?;
        module.clear_context(&mut context);
        entries.push(id);
    }
    Ok(entries)
}
