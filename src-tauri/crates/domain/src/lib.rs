//! Request, Answer, the run and request state machines, and safe text. No IO, no async, no clock.
