//! What openapi-generator's Rust clients use of `serde_with`, which Debian does not have: a member that may be left out
//! or null.
pub mod rust {
    pub mod double_option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        pub fn serialize<S: Serializer, T: Serialize>(value: &Option<Option<T>>, to: S) -> Result<S::Ok, S::Error> {
            value.as_ref().unwrap_or(&None).serialize(to)
        }

        pub fn deserialize<'a, D: Deserializer<'a>, T: Deserialize<'a>>(from: D) -> Result<Option<Option<T>>, D::Error> {
            Option::deserialize(from).map(Some)
        }
    }
}
