//! Core to Core: specialise, expand derivatives, simplify.
