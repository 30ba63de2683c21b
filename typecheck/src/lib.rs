//! AST to Core: names, types, sizes, classes, linearity, elaboration.
