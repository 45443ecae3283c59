//! Serialization: each number is a struct of its parts, lanes are tuples of fixed length.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serde knows arrays up to length 32 only; this is `[T; N]` of any length.
struct Lanes<T, const N: usize>([T; N]);
struct LanesRef<'a, T, const N: usize>(&'a [T; N]);

impl<T: Serialize, const N: usize> Serialize for LanesRef<'_, T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        lanes::serialize(self.0, serializer)
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Lanes<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lanes::deserialize(deserializer).map(Lanes)
    }
}

struct LaneVisitor<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for LaneVisitor<T, N> {
    type Value = [T; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N} lanes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<[T; N], A::Error> {
        let mut failed = None;
        let parts: [Option<T>; N] = core::array::from_fn(|k| match failed {
            Some(_) => None,
            None => match seq.next_element() {
                Ok(Some(part)) => Some(part),
                Ok(None) => {
                    failed = Some(A::Error::invalid_length(k, &self));
                    None
                }
                Err(e) => {
                    failed = Some(e);
                    None
                }
            },
        });
        match failed {
            Some(e) => Err(e),
            None => Ok(parts.map(|part| part.expect("every lane was read"))),
        }
    }
}

/// `#[serde(with = ..)]` for one family of lanes.
pub(crate) mod lanes {
    use super::*;

    pub(crate) fn serialize<S: Serializer, T: Serialize, const N: usize>(
        parts: &[T; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(N)?;
        for part in parts {
            tuple.serialize_element(part)?;
        }
        tuple.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[T; N], D::Error> {
        deserializer.deserialize_tuple(N, LaneVisitor(PhantomData))
    }
}

/// `#[serde(with = ..)]` for the symmetric second-order part, of which the upper triangle counts: both triangles are
/// written from it, because what is stored below it may be anything, also a `NaN` that a format has no word for.
pub(crate) mod symmetric {
    use super::*;

    struct Row<'a, T, const N: usize>(&'a [[T; N]; N], usize);

    impl<T: Serialize, const N: usize> Serialize for Row<'_, T, N> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let Row(parts, i) = self;
            let mut tuple = serializer.serialize_tuple(N)?;
            for j in 0..N {
                tuple.serialize_element(&parts[*i.min(&j)][*i.max(&j)])?;
            }
            tuple.end()
        }
    }

    pub(crate) fn serialize<S: Serializer, T: Serialize, const N: usize>(
        parts: &[[T; N]; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        lanes::serialize(&core::array::from_fn::<_, N, _>(|i| Row(parts, i)), serializer)
    }

    pub(crate) use super::rows::deserialize;
}

/// `#[serde(with = ..)]` for rows of lanes.
pub(crate) mod rows {
    use super::*;

    pub(crate) fn serialize<S: Serializer, T: Serialize, const M: usize, const N: usize>(
        parts: &[[T; N]; M],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        lanes::serialize(&parts.each_ref().map(LanesRef), serializer)
    }

    pub(crate) fn deserialize<
        'de,
        D: Deserializer<'de>,
        T: Deserialize<'de>,
        const M: usize,
        const N: usize,
    >(
        deserializer: D,
    ) -> Result<[[T; N]; M], D::Error> {
        let rows: [Lanes<T, N>; M] = lanes::deserialize(deserializer)?;
        Ok(rows.map(|row| row.0))
    }
}
