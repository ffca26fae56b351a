use sayso_domain::Policy::{self, Allow, Ask, Forbid};

#[test]
fn the_strictest_policy_wins_and_silence_asks() {
    for (of, wins) in [
        (vec![], Ask),
        (vec![Allow], Allow),
        (vec![Allow, Ask], Ask),
        (vec![Ask, Allow, Forbid, Allow], Forbid),
    ] {
        assert_eq!(Policy::strictest(of.clone()), wins, "{of:?}");
    }
    for (policy, name) in [(Allow, "\"allow\""), (Ask, "\"ask\""), (Forbid, "\"forbid\"")] {
        assert_eq!(serde_json::to_string(&policy).unwrap(), name);
        assert_eq!(serde_json::from_str::<Policy>(name).unwrap(), policy);
    }
}
