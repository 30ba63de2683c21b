//! First-order Core to loops to machine code by Cranelift, and the runtime.
