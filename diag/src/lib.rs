//! Spans, sources, codes and reports: what every other crate uses to talk to the user.
