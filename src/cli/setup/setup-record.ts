/** What `tollgate setup` has changed for a client, so that it can be taken back: in the user's home, for the user alone. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';
import { ChangeBody } from './edit-text.ts';

const FileBody = z.object({
  path: z.string(),
  format: z.enum(['json', 'toml', 'yaml', 'env', 'whole']),
  /** As the file was before, and its mode; null where there was none. */
  before: z.object({ text: z.string(), mode: z.number() }).nullable(),
  /** As it is left. */
  after: z.string(),
  /** As it was when it was about to be written; absent once all files are. */
  was: z.string().optional(),
  /** Folders that were made for it. */
  folders: z.array(z.string()),
  changes: z.array(ChangeBody),
});
export type SetupFile = z.infer<typeof FileBody>;

const RecordBody = z.object({
  key: z.string(),
  /** Of a key that was made for this client; null for one of the user's. */
  key_id: z.number().nullable(),
  /** Of the gateway; absent in records of former releases. */
  address: z.string().optional(),
  files: z.array(FileBody),
});
export type SetupRecord = z.infer<typeof RecordBody>;

const PRIVATE_DIR = 0o700;
const PRIVATE_FILE = 0o600;

function dirOf(ownDir: string): string {
  return join(ownDir, 'setup');
}

function pathOf(ownDir: string, client: string): string {
  return join(dirOf(ownDir), `${client}.json`);
}

/** Null where the client is not set up. */
export function readSetupRecord(ownDir: string, client: string): SetupRecord | null {
  const path = pathOf(ownDir, client);
  if (!existsSync(path)) return null;
  try {
    return RecordBody.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new OperatorError(
      `${path}, which says what was changed for ${client}, is damaged: take the values out by hand, then remove it`,
      { cause },
    );
  }
}

/** Of the gateways that clients were led to. A damaged record has none. */
export function listSetupAddresses(ownDir: string): readonly string[] {
  if (!existsSync(dirOf(ownDir))) return [];
  return readdirSync(dirOf(ownDir))
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return readSetupRecord(ownDir, name.slice(0, -'.json'.length))?.address ?? [];
      } catch {
        return [];
      }
    });
}

export function writeSetupRecord(ownDir: string, client: string, record: SetupRecord): void {
  const path = pathOf(ownDir, client);
  mkdirSync(dirOf(ownDir), { recursive: true, mode: PRIVATE_DIR });
  writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`, { mode: PRIVATE_FILE });
  chmodSync(path, PRIVATE_FILE);
}

export function removeSetupRecord(ownDir: string, client: string): void {
  rmSync(pathOf(ownDir, client), { force: true });
}
