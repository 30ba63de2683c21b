//! Text to AST: lexer with the newline rule, LALR(1) grammar, recovery.
