use proptest::prelude::*;
use sayso_domain::Time;

#[test]
fn times_are_rfc_3339_utc_with_milliseconds() {
    for (text, written) in [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"),
        ("2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.500Z"),
        ("2026-01-31T12:00:00.123999Z", "2026-01-31T12:00:00.123Z"),
        ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
        ("2026-01-31T14:00:00+02:00", "2026-01-31T12:00:00.000Z"),
        ("9999-12-31T23:59:59.9999999Z", "9999-12-30T22:00:00.000Z"),
    ] {
        assert_eq!(text.parse::<Time>().unwrap().to_string(), written, "{text}");
    }
    for text in
        ["", "2026-01-31", "2026-01-31T12:00:00", "9999-12-31T23:59:59", "2026-02-30T00:00:00Z", "soon"]
    {
        assert!(text.parse::<Time>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn a_time_reads_back_to_itself(millis in any::<i64>(), more in any::<i64>()) {
        let time = Time::from_millis(millis);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        prop_assert_eq!(Time::from_millis(time.as_millis()), time);
        let moved = time.plus_millis(more);
        prop_assert_eq!(moved.to_string().parse(), Ok(moved), "and never wraps");
    }
}
