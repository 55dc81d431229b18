/** Reads a whole backup and describes it, with progress. No database. */
import type { BackupHeader } from './backup-format.ts';
import { unpackBackup } from './pack-backup.ts';
import { readBackup } from './read-backup.ts';

export interface ReadSoFar {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface BackupContent {
  readonly header: BackupHeader;
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly bytes: number }[];
  readonly rows: number;
  /** Unpacked bytes of the rows. */
  readonly bytes: number;
}

/** Throws a BackupError when it is not whole. */
export async function describeBackup(
  packed: AsyncIterable<Uint8Array>,
  onProgress: (soFar: ReadSoFar) => void = () => {},
): Promise<BackupContent> {
  let header: BackupHeader | null = null;
  const tables: { name: string; rows: number; bytes: number }[] = [];
  let table = '';
  let rows = 0;
  let bytes = 0;
  for await (const event of readBackup(unpackBackup(packed))) {
    switch (event.type) {
      case 'header':
        header = event.header;
        break;
      case 'table':
        table = event.name;
        break;
      case 'data':
        bytes += event.bytes.length;
        rows += event.rows;
        onProgress({ table, rows, bytes });
        break;
      case 'table_end':
        tables.push({ name: event.name, rows: event.rows, bytes: event.bytes });
        break;
      case 'end':
        break;
    }
  }
  if (header === null) throw new Error('a backup begins with its header');
  return { header, tables, rows, bytes };
}
