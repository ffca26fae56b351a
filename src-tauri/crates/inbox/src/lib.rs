//! Ask, decide, expire, withdraw; events; and the outbox of answers to deliver.
