//! JSON texts of every shape, compact, with numbers that no float can hold.

use proptest::prelude::*;

/// A number as it is written, not as a machine would keep it.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("9007199254740993".to_owned()),
        Just("-0".to_owned()),
        Just("0.10".to_owned()),
        Just("1.000000000000000000000000000000001".to_owned()),
        "-?[1-9][0-9]{0,40}",
        "-?(0|[1-9][0-9]{0,20})\\.[0-9]{1,30}",
        // An exponent's sign is the one thing that reading adds: `1E5` is kept as `1e+5`.
        "[1-9][0-9]{0,3}e[+-][1-9][0-9]{0,2}",
    ]
}

fn string() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap())
}

/// Any JSON text but null, which means absent.
pub(crate) fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![number(), string(), Just("true".to_owned()), Just("false".to_owned())];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..6);
        let fields = prop::collection::vec(("[a-z_$ é]{0,6}", inner), 0..6);
        prop_oneof![
            list.prop_map(|items| format!("[{}]", items.join(","))),
            fields.prop_map(|fields| {
                // Numbered backwards, so that the order of coming is not the order of sorting.
                let fields = fields.iter().zip((0..10).rev()).map(|((key, value), at)| {
                    format!("{}:{value}", serde_json::to_string(&format!("{at}{key}")).unwrap())
                });
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}
