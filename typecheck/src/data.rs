//! Declared structs and enums as the checker knows them.

use std::sync::Arc;

use adl_diag::Span;

use crate::types::{Class, DataId, Ty, V};

/// A struct or an enum.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) params: Vec<V>,
    pub(crate) body: Body,
    /// The classes it derives.
    pub(crate) derives: Vec<Class>,
    /// The declaration reaches itself.
    pub(crate) recursive: bool,
}

/// Fields or constructors, in order.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Struct(Vec<(Arc<str>, Ty)>),
    Enum(Vec<(Arc<str>, Vec<Ty>)>),
}

impl Data {
    /// Whether it is an enum without payload, and so an index set.
    pub(crate) fn is_index_set(&self) -> bool {
        match &self.body {
            Body::Struct(_) => false,
            Body::Enum(ctors) => ctors.iter().all(|(_, payload)| payload.is_empty()),
        }
    }

    pub(crate) fn is_struct(&self) -> bool {
        match &self.body {
            Body::Struct(_) => true,
            Body::Enum(_) => false,
        }
    }
}

/// A constructor: its enum and its number. In the tangent of the enum `Zero` has number 0, and the constructors
/// of the enum follow; which of the two is meant, the type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CtorRef {
    pub(crate) data: DataId,
    pub(crate) tag: u32,
}
