/** Whether a backup can be restored here, by its header and the database's schema. Pure. */
import { BackupError } from './backup-error.ts';
import type { BackupHeader } from './backup-format.ts';
import { BACKUP_TABLES, type BackupTable } from './backup-tables.ts';
import type { AppliedMigration } from './read-schema.ts';

export interface Schema {
  readonly migrations: readonly AppliedMigration[];
  readonly columns: ReadonlyMap<string, readonly string[]>;
}

/** Returns each table of the file as it is here. Throws a BackupError with the reason. */
export function judgeBackup(header: BackupHeader, schema: Schema): ReadonlyMap<string, BackupTable> {
  const applied = new Map(schema.migrations.map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum } of header.migrations) {
    const here = applied.get(name);
    if (here === undefined) throw newer(header, schema);
    if (here !== checksum)
      throw new BackupError(
        'backup_foreign',
        `The file was made with another form of the migration ${name} than this gateway's: it is not of a release.`,
      );
  }
  const tables = new Map<string, BackupTable>();
  for (const { name, columns } of header.tables) {
    const table = BACKUP_TABLES.find((known) => known.name === name);
    const here = schema.columns.get(name);
    const unknown = columns.find((column) => here?.includes(column) !== true);
    if (table === undefined || here === undefined || unknown !== undefined || tables.has(name))
      throw new BackupError(
        'backup_foreign',
        `The file says that it is of this gateway's schema, and has ${table === undefined || unknown === undefined ? `a table ${name}` : `a column ${name}.${unknown}`} that is not in it.`,
      );
    tables.set(name, table);
  }
  return tables;
}

function newer(header: BackupHeader, { migrations }: Schema): BackupError {
  const theirs = header.migrations.at(-1)?.name ?? 'none';
  const ours = migrations.at(-1)?.name ?? 'none';
  return new BackupError(
    'backup_newer',
    `The file was made by Tollgate ${header.tollgate_version} with the schema ${theirs}; this gateway has ${ours}. Update the gateway to that release, or a later one, then restore.`,
  );
}
