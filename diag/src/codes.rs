//! The stable codes. The page of a code is a file of `diag/pages`.

use std::fmt;

/// One list, from which come the enum, its documentation and the pages of `adl explain`: written by hand
/// they would drift apart.
macro_rules! codes {
    ($($name:ident)+) => {
        /// A stable code. Never reused. The documentation of a variant is its page in `adl explain`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = include_str!(concat!("../pages/", stringify!($name), ".md"))] $name,)+
        }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)+];

            /// The code as it is printed, such as `E0201`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$name => stringify!($name),)+ }
            }

            /// The page of `adl explain`, in Markdown: a sentence; a program that gives the code, in a block
            /// marked `adl error CODE`; and a way out, mostly as a program too.
            pub fn explain(self) -> &'static str {
                match self { $(Code::$name => include_str!(concat!("../pages/", stringify!($name), ".md")),)+ }
            }
        }
    };
}

impl Code {
    /// The code with this name, such as `E0201`; small letters do too.
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

codes! {
    // Words and grammar.
    E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108
    // Types, sizes, operators.
    E0201 E0202 E0203 E0204 E0205 E0206 E0207 E0208 E0209 E0210 E0211 E0212 E0213 E0214 E0215 E0216 E0217 E0218
    E0219 E0220 E0221
    // Names, modules, what is not built.
    E0301 E0302 E0303 E0304 E0305 E0306 E0307 E0308 E0309 E0310 E0311 E0312 E0313 E0314 E0399
    // Linear maps.
    E0401 E0402
    // Derivatives.
    E0501 E0502 E0503 E0504 E0505
    // Patterns.
    E0601 E0602 E0603
    // Failures of the run.
    E0701 E0702 E0703 E0704 E0705 E0706 E0707 E0708 E0709 E0710 E0711 E0712
    // Files.
    E0801 E0802 E0803
    // The command line, and what stops a run.
    E0901 E0902
    // Warnings.
    W0101 W0102 W0103
}
