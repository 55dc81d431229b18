/** Receives another node's spool beside ours and moves it in when complete; a start cleans up or completes. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './segment-file.ts';
import { LAST_LINE, MAX_LIST_BYTES, PackageList } from './spool-package.ts';

export const IMPORT_NAME = 'spool-import';
/** Marks a folder as complete. */
const WHOLE_NAME = 'whole';

/** The sent spool is invalid; nothing was taken. */
export class PackageError extends Error {
  override readonly name = 'PackageError';
}

export interface ReceiveOptions {
  readonly importDir: string;
  readonly spoolDir: string;
  /** Called with the names; throws when one must not be taken. */
  readonly check: (names: readonly string[]) => Promise<void>;
}

export interface Received {
  readonly names: readonly string[];
  readonly bytes: number;
}

/** Throws a PackageError, and what `check` or the file system throws; nothing is left then. */
export async function receivePackage(source: AsyncIterable<Uint8Array>, options: ReceiveOptions): Promise<Received> {
  const staging = join(options.importDir, randomUUID());
  const reader = createByteReader(source);
  let received: Received;
  try {
    const list = parseList(await reader.line(MAX_LIST_BYTES));
    const names = list.processes.map(({ name }) => name);
    if (new Set(names).size < names.length) throw new PackageError('The list names a directory twice.');
    await options.check(names);
    let bytes = 0;
    for (const { name, files } of list.processes) {
      const dir = join(staging, name);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      for (const file of files) {
        await writeFrom(reader, join(dir, file.name), file.bytes);
        bytes += file.bytes;
      }
      await syncDirectory(dir);
    }
    if ((await reader.line(LAST_LINE.length)) !== LAST_LINE.trimEnd())
      throw new PackageError('The end is missing: the sender broke off. Nothing was taken.');
    await writeFile(join(staging, WHOLE_NAME), '', { mode: 0o600 });
    await syncDirectory(staging);
    received = { names, bytes };
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  // A failure from here on is completed at the next start.
  await bringIn(staging, options.spoolDir);
  return received;
}

/** Call at a start, before the spool is read. Returns the names brought in. */
export async function finishReceived(importDir: string, spoolDir: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const entry of await readdir(importDir).catch(() => [])) {
    const staging = join(importDir, entry);
    const mark = await stat(join(staging, WHOLE_NAME)).catch(() => null);
    if (mark === null) await rm(staging, { recursive: true, force: true });
    // On a name clash both directories stay, for a person to look at.
    else names.push(...(await bringIn(staging, spoolDir).catch(() => [])));
  }
  return names;
}

async function bringIn(staging: string, spoolDir: string): Promise<readonly string[]> {
  const names = (await readdir(staging)).filter((name) => name !== WHOLE_NAME);
  for (const name of names) await rename(join(staging, name), join(spoolDir, name));
  await syncDirectory(spoolDir);
  await rm(staging, { recursive: true, force: true });
  return names;
}

function parseList(line: string): PackageList {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = null;
  }
  const parsed = PackageList.safeParse(value);
  if (!parsed.success) throw new PackageError('This is not the spool of a node; send it with `tollgate spool import`.');
  return parsed.data;
}

async function writeFrom(reader: ByteReader, path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    for (let left = bytes; left > 0; ) {
      const chunk = await reader.some(left);
      await handle.writeFile(chunk);
      left -= chunk.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface ByteReader {
  /** At least one byte, at most `most`. */
  readonly some: (most: number) => Promise<Uint8Array>;
  /** Without the line end. */
  readonly line: (mostBytes: number) => Promise<string>;
}

function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const chunks = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function fill(): Promise<void> {
    if (held.length > 0) return;
    const next = await chunks.next();
    if (next.done === true) throw new PackageError('The end is missing: the sender broke off. Nothing was taken.');
    held = Buffer.from(next.value);
  }

  return {
    some: async (most) => {
      while (held.length === 0) await fill();
      const taken = held.subarray(0, most);
      held = held.subarray(taken.length);
      return taken;
    },
    line: async (mostBytes) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      for (;;) {
        while (held.length === 0) await fill();
        const end = held.indexOf(10);
        const part = end === -1 ? held : held.subarray(0, end);
        parts.push(part);
        bytes += part.length;
        held = end === -1 ? Buffer.alloc(0) : held.subarray(end + 1);
        if (bytes > mostBytes) throw new PackageError('The list of files is too long.');
        if (end !== -1) return Buffer.concat(parts).toString('utf8');
      }
    },
  };
}
