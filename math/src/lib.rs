//! Elementary and special functions and the fixed order of sums: one definition each, so that every executor gives the same bits.
