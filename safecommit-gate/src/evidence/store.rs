//! Records in an SQLite database.

mod error;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Params, TransactionBehavior};

use sha2::{Digest, Sha256};

use super::{EvidenceRecord, EvidenceSet};

pub use error::EvidenceStoreError;

use error::{corrupt, explain};

/// Records of evidence in an SQLite database of their own. Records are added, never changed or removed.
///
/// What is added is durable when [`append`](Self::append) returns (write-ahead log, `synchronous=FULL`). Several
/// processes may use one database at once. Records come out by id, in whatever order they came in. On
/// Linux, a new database can be read and written by its owner alone.
///
/// ```
/// use std::time::Duration;
/// use safecommit_gate::{EvidenceRecord, EvidenceStore, Proposition, Source};
///
/// let folder = tempfile::tempdir()?;
/// let mut store = EvidenceStore::open(folder.path().join("evidence.db"), Duration::from_secs(5))?;
/// let wish = Proposition::new("report.txt", "disposable", "no")?;
/// let record = EvidenceRecord::new("u1", wish, Source::user("ada")?, "2026-03-01T08:00:00Z".parse()?)?;
/// assert_eq!(store.append([&record])?, 1);
/// assert_eq!(store.about("report.txt", "disposable")?, [record]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EvidenceStore {
    connection: Connection,
    path: PathBuf,
}

impl EvidenceStore {
    /// Opens the database at `path`, and makes it if there is none. A lock is waited for as long as `lock_wait`,
    /// here and later.
    ///
    /// # Errors
    ///
    /// [`EvidenceStoreError`] for a database that is locked, damaged, of something else, or of a newer version.
    /// Damage in records that are not read now is found when they are, and by [`check`](Self::check).
    pub fn open(path: impl AsRef<Path>, lock_wait: Duration) -> Result<Self, EvidenceStoreError> {
        let path = path.as_ref();
        let in_file = |reason| EvidenceStoreError::File {
            path: path.to_owned(),
            reason,
        };
        // An absolute path, as SQLite gives relative ones such as `:memory:` a meaning of their own.
        let absolute = std::path::absolute(path).map_err(in_file)?;
        #[cfg(target_os = "linux")]
        make_private(&absolute).map_err(in_file)?;
        // SQLite takes some files that are shorter than its shortest page for new ones, and writes over them.
        let length = std::fs::metadata(&absolute).map_or(0, |file| file.len());
        if (1..512).contains(&length) {
            return Err(corrupt(path, format!("{length} bytes are no database")));
        }
        let path = path.to_owned();
        // Not as a URI, for the same reason.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = match Connection::open_with_flags(absolute, flags) {
            Ok(connection) => connection,
            Err(reason) => return Err(explain(&path, reason)),
        };
        schema::prepare(&mut connection, lock_wait).map_err(|problem| problem.at(&path))?;
        Ok(Self { connection, path })
    }

    /// Adds records, all or none, and returns how many were new. One that is there already, and is equal, is not
    /// added again.
    ///
    /// # Errors
    ///
    /// [`EvidenceStoreError::Changed`] for an id that is another record's already; [`EvidenceStoreError`] for what
    /// may befall the database. Then nothing is added.
    pub fn append<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r EvidenceRecord>,
    ) -> Result<usize, EvidenceStoreError> {
        let path = self.path.clone();
        let failed = |reason| explain(&path, reason);
        let behavior = TransactionBehavior::Immediate;
        let transaction = self
            .connection
            .transaction_with_behavior(behavior)
            .map_err(failed)?;
        let mut added = 0;
        {
            let mut insert = transaction
                .prepare_cached(
                    "INSERT INTO evidence (id, entity, attribute, record, digest) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (id) DO NOTHING",
                )
                .map_err(failed)?;
            for record in records {
                let said = record.proposition();
                let json = record.to_json();
                let digest = digest_of(&json);
                let row = (record.id(), said.entity(), said.attribute(), json, digest);
                if insert.execute(row).map_err(failed)? == 1 {
                    added += 1;
                    continue;
                }
                let known = select(&transaction, &path, "WHERE id = ?1", [record.id()])?;
                if known.first() != Some(record) {
                    return Err(EvidenceStoreError::Changed(record.id().to_owned()));
                }
            }
        }
        transaction.commit().map_err(failed)?;
        Ok(added)
    }

    /// The record with this id.
    ///
    /// # Errors
    ///
    /// [`EvidenceStoreError`] for what may befall the database; here and in all that reads.
    pub fn get(&self, id: &str) -> Result<Option<EvidenceRecord>, EvidenceStoreError> {
        Ok(self.select("WHERE id = ?1", [id])?.pop())
    }

    /// All that is said about an entity, by id.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn about_entity(&self, entity: &str) -> Result<Vec<EvidenceRecord>, EvidenceStoreError> {
        self.select("WHERE entity = ?1", [entity])
    }

    /// All that is said about an attribute, of any entity, by id.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn about_attribute(&self, name: &str) -> Result<Vec<EvidenceRecord>, EvidenceStoreError> {
        self.select("WHERE attribute = ?1", [name])
    }

    /// All that is said about an attribute of an entity, by id.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn about(
        &self,
        entity: &str,
        attribute: &str,
    ) -> Result<Vec<EvidenceRecord>, EvidenceStoreError> {
        self.select("WHERE entity = ?1 AND attribute = ?2", [entity, attribute])
    }

    /// Every record, by id.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn all(&self) -> Result<Vec<EvidenceRecord>, EvidenceStoreError> {
        self.select("", [])
    }

    /// The records with these ids and all that they are derived from.
    ///
    /// # Errors
    ///
    /// [`EvidenceStoreError::Unknown`] for an id that is not there, [`EvidenceStoreError::Derivation`] for an ancestor that is not,
    /// and for a cycle.
    pub fn with_ancestors<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> Result<EvidenceSet, EvidenceStoreError> {
        let mut found: BTreeMap<String, EvidenceRecord> = BTreeMap::new();
        let mut open = BTreeSet::new();
        for id in ids {
            let record = self.get(id)?;
            let record = record.ok_or_else(|| EvidenceStoreError::Unknown(id.to_owned()))?;
            open.extend(record.ancestors().iter().cloned());
            found.insert(id.to_owned(), record);
        }
        while let Some(id) = open.pop_first() {
            if found.contains_key(&id) {
                continue;
            }
            // One that is missing is for the set to name, together with what is derived from it.
            if let Some(record) = self.get(&id)? {
                open.extend(record.ancestors().iter().cloned());
                found.insert(id, record);
            }
        }
        Ok(EvidenceSet::new(found.into_values())?)
    }

    /// Looks for damage: in the structure of the database (the `integrity_check` of SQLite), and in each record.
    /// Returns how many records there are. Whoever can write the file can forge records that pass.
    ///
    /// # Errors
    ///
    /// [`EvidenceStoreError::Corrupt`] with the first damage found.
    pub fn check(&self) -> Result<usize, EvidenceStoreError> {
        let verdict = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| {
                row.get::<_, String>(0)
            });
        let verdict = verdict.map_err(|reason| explain(&self.path, reason))?;
        if verdict != "ok" {
            return Err(corrupt(&self.path, verdict));
        }
        Ok(self.all()?.len())
    }

    fn select(
        &self,
        condition: &str,
        values: impl Params,
    ) -> Result<Vec<EvidenceRecord>, EvidenceStoreError> {
        select(&self.connection, &self.path, condition, values)
    }
}

/// The records of the rows that meet a condition, by id. A row that is not what `append` writes is damage.
fn select(
    connection: &Connection,
    path: &Path,
    condition: &str,
    values: impl Params,
) -> Result<Vec<EvidenceRecord>, EvidenceStoreError> {
    let failed = |reason| explain(path, reason);
    let columns = "id, entity, attribute, record, digest";
    let query = format!("SELECT {columns} FROM evidence {condition} ORDER BY id");
    let mut statement = connection.prepare_cached(&query).map_err(failed)?;
    let mut rows = statement.query(values).map_err(failed)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let text = |column: usize| {
            let value = row.get_ref(column)?;
            value.as_str().map_err(rusqlite::Error::from)
        };
        let (id, json) = (text(0).map_err(failed)?, text(3).map_err(failed)?);
        if row.get::<_, [u8; 32]>(4).map_err(failed)? != digest_of(json) {
            return Err(corrupt(
                path,
                format!("evidence `{id}` is not what was written"),
            ));
        }
        let record = EvidenceRecord::from_json(json)
            .map_err(|error| corrupt(path, format!("evidence `{id}`: {error}")))?;
        let said = record.proposition();
        let columns = (id, text(1).map_err(failed)?, text(2).map_err(failed)?);
        if columns != (record.id(), said.entity(), said.attribute()) {
            return Err(corrupt(
                path,
                format!("evidence `{id}` stands under another name"),
            ));
        }
        records.push(record);
    }
    Ok(records)
}

/// What finds damage of a record, though not forgery.
fn digest_of(json: &str) -> [u8; 32] {
    Sha256::digest(json).into()
}

/// Makes an empty file that only its owner may read, if there is none. Without opening it: to close it again would
/// end the locks that another connection of this process holds on it meanwhile.
#[cfg(target_os = "linux")]
fn make_private(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use rustix::io::Errno;
    let owner = Mode::RUSR | Mode::WUSR;
    match mknodat(CWD, path, FileType::RegularFile, owner, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
