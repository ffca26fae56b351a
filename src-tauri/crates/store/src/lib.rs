//! SQLite: tables, migrations, queries and the ledger.
