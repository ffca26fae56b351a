//! The doors: a Unix socket and a loopback port, for the owner's clients and the browser.
