//! Names of messages and questions.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An opaque name that is never used again by the same `Conversations`, with a letter before its number so that no two kinds are mixed up.
macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub(crate) fn numbered(number: u64) -> Self {
                Self(format!(concat!($letter, "{}"), number).into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            /// An id that came from outside, as in JSON.
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }
    };
}

opaque_id!(
    /// Names one message; opaque, and never used again by the same [`Conversations`](crate::Conversations).
    MessageId,
    "m"
);
opaque_id!(
    /// Names one question; opaque, and never used again by the same [`Conversations`](crate::Conversations).
    PermissionId,
    "p"
);
