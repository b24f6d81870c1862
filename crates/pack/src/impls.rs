//! Types of the standard library that have a fixed number of bits.

use crate::{Pack, Reader, Writer};

impl Pack for bool {
    const BITS: u32 = 1;
    type Tables = ();

    #[inline]
    fn pack(&self, (): &(), out: &mut Writer<'_>) {
        out.put(u32::from(*self), 1);
    }

    #[inline]
    fn unpack((): &(), input: &mut Reader<'_>) -> bool {
        input.take(1) == 1
    }
}

macro_rules! integers {
    ($($integer:ty)*) => { $(
        impl Pack for $integer {
            const BITS: u32 = <$integer>::BITS;
            type Tables = ();

            #[inline]
            fn pack(&self, (): &(), out: &mut Writer<'_>) {
                out.put_long(*self as u64, <$integer>::BITS);
            }

            #[inline]
            fn unpack((): &(), input: &mut Reader<'_>) -> $integer {
                input.take_long(<$integer>::BITS) as $integer
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl<T: Pack> Pack for Option<T> {
    const BITS: u32 = 1 + T::BITS;
    type Tables = T::Tables;

    #[inline]
    fn pack(&self, tables: &T::Tables, out: &mut Writer<'_>) {
        out.put(u32::from(self.is_some()), 1);
        match self {
            Some(value) => value.pack(tables, out),
            None => out.skip(T::BITS),
        }
    }

    #[inline]
    fn unpack(tables: &T::Tables, input: &mut Reader<'_>) -> Option<T> {
        if input.take(1) == 1 {
            Some(T::unpack(tables, input))
        } else {
            input.skip(T::BITS);
            None
        }
    }
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    const BITS: u32 = N as u32 * T::BITS;
    type Tables = T::Tables;

    #[inline]
    fn pack(&self, tables: &T::Tables, out: &mut Writer<'_>) {
        self.iter().for_each(|value| value.pack(tables, out));
    }

    #[inline]
    fn unpack(tables: &T::Tables, input: &mut Reader<'_>) -> [T; N] {
        std::array::from_fn(|_| T::unpack(tables, input))
    }
}

impl<T: Pack> Pack for Box<T> {
    const BITS: u32 = T::BITS;
    type Tables = T::Tables;

    #[inline]
    fn pack(&self, tables: &T::Tables, out: &mut Writer<'_>) {
        T::pack(self, tables, out);
    }

    #[inline]
    fn unpack(tables: &T::Tables, input: &mut Reader<'_>) -> Box<T> {
        Box::new(T::unpack(tables, input))
    }
}

macro_rules! tuples {
    ($(($($part:ident $at:tt),*))*) => { $(
        impl<$($part: Pack),*> Pack for ($($part,)*) {
            const BITS: u32 = 0 $(+ $part::BITS)*;
            type Tables = ($($part::Tables,)*);

            #[inline]
            #[allow(unused_variables, clippy::unused_unit)]
            fn pack(&self, tables: &Self::Tables, out: &mut Writer<'_>) {
                $(self.$at.pack(&tables.$at, out);)*
            }

            #[inline]
            #[allow(unused_variables, clippy::unused_unit)]
            fn unpack(tables: &Self::Tables, input: &mut Reader<'_>) -> Self {
                ($($part::unpack(&tables.$at, input),)*)
            }
        }
    )* };
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}
