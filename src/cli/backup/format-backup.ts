/** Formats the content of a backup, as lines and as JSON. Pure. */
import type { BackupContent } from '../../control/backup/describe-backup.ts';
import { terminalText } from '../terminal-text.ts';

const COUNTED = [
  ['llm_requests', 'calls'],
  ['llm_bodies', 'bodies'],
  ['llm_texts', 'texts'],
  ['llm_runs', 'runs'],
  ['llm_open_calls', 'calls under way'],
  ['gateway_keys', 'keys'],
  ['price_overrides', 'declared prices'],
] as const;

const MIB = 1_048_576;

export function formatMib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

function rowsOf({ tables }: BackupContent, name: string): number {
  return tables.find((table) => table.name === name)?.rows ?? 0;
}

export function formatContent(path: string, content: BackupContent): readonly string[] {
  const { header, rows, bytes } = content;
  const schema = header.migrations.at(-1)?.name.replace(/\.sql$/, '') ?? '';
  const [first] = header.days;
  const last = header.days.at(-1);
  const counts = COUNTED.map(([table, word]) => `${rowsOf(content, table)} ${word}`).join(', ');
  return [
    `${path === '-' ? 'The backup' : path} is whole: ${rows} rows, ${formatMib(bytes)} unpacked.`,
    `  of        ${header.created_at}${first === undefined ? '' : `, calls from ${first} to ${last}`}`,
    `  holds     ${counts}`,
    `  made by   Tollgate ${terminalText(header.tollgate_version)}, schema ${terminalText(schema)}, PostgreSQL ${terminalText(header.postgres_version)}`,
  ];
}

export function describeLeft({ header }: BackupContent): string | null {
  const { is_stored: isStored, left_bytes: leftBytes } = header.spool;
  if (isStored) return null;
  const size = leftBytes === null ? 'Some records' : `Records in ${formatMib(leftBytes)} of spool files`;
  return `${size} could not be stored before the backup was made, and may not be in it.`;
}

export function backupJson(path: string, { header, tables, rows, bytes }: BackupContent): object {
  return { file: path, rows, bytes, ...header, tables };
}
