use std::cell::RefCell;
use std::ops::{ControlFlow, Deref};

use rusqlite::{Connection, Params, Row};

use crate::StoreError;

/// A connection, as the table modules read through it.
pub struct Conn {
    raw: Connection,
    /// The last error, for those whose transaction SQLite rolled back because of somebody else's statement.
    failure: RefCell<Option<StoreError>>,
}

/// A connection inside the writer's transaction, as the table modules write through it. What a closure wrote through it
/// is kept or taken back as a whole.
pub struct Tx<'a> {
    conn: &'a Conn,
}

/// A connection inside one reading transaction: all that is read through it is of one moment.
pub struct Reader<'a> {
    conn: &'a Conn,
}

impl Conn {
    pub(crate) fn new(raw: Connection) -> Self {
        raw.set_prepared_statement_cache_capacity(128);
        Self { raw, failure: RefCell::new(None) }
    }

    pub(crate) fn raw(&self) -> &Connection {
        &self.raw
    }

    /// The last error since this was asked.
    pub(crate) fn take_failure(&self) -> Option<StoreError> {
        self.failure.take()
    }

    /// Runs statements that take and give nothing.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.noted(self.raw.execute_batch(sql))
    }

    /// Runs one statement that takes and gives nothing, and is run often.
    pub(crate) fn step(&self, sql: &str) -> Result<(), StoreError> {
        let mut statement = self.noted(self.raw.prepare_cached(sql))?;
        self.noted(statement.execute([])).map(drop)
    }

    /// Every row of a query.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut map: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.noted(self.raw.prepare_cached(sql))?;
        let mut rows = self.noted(statement.query(params))?;
        let mut all = Vec::new();
        while let Some(row) = self.noted(rows.next())? {
            all.push(map(row)?);
        }
        Ok(all)
    }

    /// Hands each row of a query on, until one breaks off.
    pub(crate) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut visit: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.noted(self.raw.prepare_cached(sql))?;
        let mut rows = self.noted(statement.query(params))?;
        while let Some(row) = self.noted(rows.next())? {
            if visit(row)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The first row of a query.
    pub(crate) fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.noted(self.raw.prepare_cached(sql))?;
        let mut rows = self.noted(statement.query(params))?;
        self.noted(rows.next())?.map(map).transpose()
    }

    fn noted<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| {
            let error = StoreError::from(error);
            self.failure.replace(Some(error.clone()));
            error
        })
    }
}

impl<'a> Tx<'a> {
    pub(crate) fn new(conn: &'a Conn) -> Self {
        Self { conn }
    }

    /// Runs a statement that writes; says how many rows it changed.
    pub(crate) fn run(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        let mut statement = self.conn.noted(self.conn.raw.prepare_cached(sql))?;
        self.conn.noted(statement.execute(params))
    }

    /// Runs a guarded statement: whether exactly one row was as expected and changed.
    pub(crate) fn run_one(&self, sql: &str, params: impl Params) -> Result<bool, StoreError> {
        Ok(self.run(sql, params)? == 1)
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(conn: &'a Conn) -> Self {
        Self { conn }
    }
}

impl Deref for Tx<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        self.conn
    }
}

impl Deref for Reader<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        self.conn
    }
}
