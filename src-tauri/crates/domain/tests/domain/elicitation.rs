use sayso_domain::{Answer, Class, ElicitAction};

/// The third example of the page that the contract starts from: the library's mapping.
#[test]
fn contract_32_the_library_maps_the_reason() {
    for (answer, action) in [
        (Answer::ok("r"), "accept"),
        (Answer::declined("req-6", None), "decline"),
        (Answer::declined("r", "declined"), "decline"),
        (Answer::declined("r", ""), "decline"),
        (Answer::declined("r", "expired"), "cancel"),
        (Answer::declined("r", "cancelled"), "cancel"),
        (Answer::declined("r", "Declined"), "cancel"),
        (Answer::declined("r", "manager rejected: over budget"), "cancel"),
    ] {
        assert_eq!(ElicitAction::of_answer(&answer).as_str(), action, "{answer:?}");
    }
}

#[test]
fn contract_32_the_app_maps_the_class_so_that_words_change_nothing() {
    for (class, action) in [
        (None, "accept"),
        (Some(Class::Declined), "decline"),
        (Some(Class::Cancelled), "cancel"),
        (Some(Class::Expired), "cancel"),
    ] {
        assert_eq!(ElicitAction::of_class(class).as_str(), action);
    }
}
