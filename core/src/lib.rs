//! Core: the typed IR, its printer, parser, lint, primitive table and reference interpreter.
