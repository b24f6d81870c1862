//! Writes the implementation.
//!
//! The tables of a type are those of its fields, as pairs of pairs: `(T0, (T1, (T2, ())))`.

use crate::Mistake;
use crate::field::Shape;
use crate::item::{Body, Item, Variant};

pub(crate) fn write(item: &Item) -> Result<String, Mistake> {
    let Item { name, home, generics, body } = item;
    let variants = match body {
        Body::Struct(variant) => std::slice::from_ref(variant),
        Body::Enum(variants) => variants,
    };
    let tag_bits = match body {
        Body::Struct(_) => "0".to_owned(),
        Body::Enum(variants) => format!("{home}::bits_for({} as u128)", variants.len() - 1),
    };
    let sizes: Vec<String> = variants.iter().map(bits).collect();
    let shapes = || variants.iter().flat_map(|variant| &variant.fields).map(|field| &field.shape);
    let tables = shapes().map(Shape::tables).collect::<Vec<_>>();
    let tables = tables.iter().rev().fold("()".to_owned(), |rest, first| format!("({first}, {rest})"));

    let (mut write, mut read, mut n_fields) = (String::new(), String::new(), 0);
    for (tag, variant) in variants.iter().enumerate() {
        let path = match body {
            Body::Struct(_) => name.clone(),
            Body::Enum(_) => format!("{name}::{}", variant.name),
        };
        let rest = format!("Self::BITS - {tag_bits} - ({})", sizes[tag]);
        let names: Vec<String> = (0..variant.fields.len()).map(|nth| format!("field_{nth}")).collect();
        let pairs = variant.fields.iter().zip(&names).map(|(field, name)| format!("{}: {name}", field.name));
        let pattern = format!("{path} {{ {} }}", pairs.collect::<Vec<_>>().join(", "));
        let place = |nth: usize| format!("&tables{}.0", ".1".repeat(n_fields + nth));
        let writes: String = (variant.fields.iter().zip(&names).enumerate())
            .map(|(nth, (field, name))| field.shape.write(name, &format!("({})", place(nth))))
            .collect();
        let reads: String = (variant.fields.iter().zip(&names).enumerate())
            .map(|(nth, (field, name))| {
                format!("let {name} = {};", field.shape.read_back(&format!("({})", place(nth))))
            })
            .collect();
        write += &format!("{pattern} => {{ out.put({tag}, {tag_bits}); {writes} out.skip({rest}); }}\n");
        // Words come from values: whatever is no other variant is the last one.
        let tag = if tag + 1 == variants.len() { "_".to_owned() } else { tag.to_string() };
        read += &format!("{tag} => {{ {reads} input.skip({rest}); {pattern} }}\n");
        n_fields += variant.fields.len();
    }

    let parameters = generics.parameters.join(", ");
    let arguments = generics.arguments.join(", ");
    let conditions = &generics.conditions;
    let sizes = sizes.join(", ");
    Ok(format!(
        "#[automatically_derived]
        #[allow(warnings, clippy::all)]
        impl<{parameters}> {home}::Pack for {name}<{arguments}> {conditions} {{
            const BITS: u32 = {tag_bits} + {home}::largest(&[{sizes}]);
            type Tables = {tables};
            #[inline]
            fn pack(&self, tables: &Self::Tables, out: &mut {home}::Writer<'_>) {{
                match self {{ {write} }}
            }}
            #[inline]
            fn unpack(tables: &Self::Tables, input: &mut {home}::Reader<'_>) -> Self {{
                match input.take({tag_bits}) {{ {read} }}
            }}
        }}"
    ))
}

fn bits(variant: &Variant) -> String {
    let sum = variant.fields.iter().map(|field| format!("({})", field.shape.bits()));
    ["0".to_owned()].into_iter().chain(sum).collect::<Vec<_>>().join(" + ")
}
