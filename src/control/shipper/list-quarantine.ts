/** Lists refused records by name, time and reason, without text of clients or providers. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../../vocabulary/call-record.ts';
import type { QuarantinedItem } from '../../vocabulary/quarantined-item.ts';
import { cleanReason } from './clean-reason.ts';

/** The bound on files that are read for their reasons; older ones are listed without. */
const MAX_READ = 500;
const MAX_RECORD_BYTES = 1024 * 1024;
const RECORD_NAME = /^record-[\w-]{1,64}\.json$/;
const SEGMENT_NAME = /^[\w-]{1,64}-seg-\d{8,15}\.log$/;
const WORD = /^[a-z_]{1,40}$/;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const NOT_KNOWN = { reason: null, id: null, requestedAtMs: null, provider: null, outcome: null, status: null } as const;

const loose = <T extends z.ZodType>(schema: T) => schema.nullable().catch(null);

const RecordFile = z.object({
  id: loose(z.string().regex(ID)),
  reason: z.string().catch(''),
  record: z
    .object({
      requested_at: loose(z.iso.datetime()),
      provider: loose(z.enum(PROVIDER_NAMES)),
      outcome: loose(z.string().regex(WORD)),
      status: loose(z.number().int().min(0).max(999)),
      begin: loose(z.object({ provider: loose(z.enum(PROVIDER_NAMES)), requestedAtMs: loose(z.number().int()) })),
      end: loose(z.object({ outcome: loose(z.string().regex(WORD)), status: loose(z.number().int().min(0).max(999)) })),
    })
    .partial()
    .catch({}),
});

/** Latest first; empty without a folder. */
export async function listQuarantine(dir: string): Promise<readonly QuarantinedItem[]> {
  const files: { readonly file: string; readonly bytes: number; readonly setAsideMs: number }[] = [];
  for (const file of await readdir(dir).catch(() => [])) {
    const isOurs = RECORD_NAME.test(file) || SEGMENT_NAME.test(file);
    const info = isOurs ? await stat(join(dir, file)).catch(() => null) : null;
    if (info !== null) files.push({ file, bytes: info.size, setAsideMs: Math.floor(info.mtimeMs) });
  }
  files.sort((a, b) => b.setAsideMs - a.setAsideMs || (a.file < b.file ? -1 : 1));
  const listed: QuarantinedItem[] = [];
  for (const [index, entry] of files.entries()) {
    if (!RECORD_NAME.test(entry.file)) listed.push({ ...entry, ...NOT_KNOWN, kind: 'segment' });
    else {
      const isRead = index < MAX_READ && entry.bytes <= MAX_RECORD_BYTES;
      listed.push({ ...entry, ...(isRead ? await readRecord(join(dir, entry.file)) : NOT_KNOWN), kind: 'record' });
    }
  }
  return listed;
}

async function readRecord(path: string): Promise<Omit<QuarantinedItem, 'file' | 'kind' | 'bytes' | 'setAsideMs'>> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    // The unreadable file is still listed.
    return NOT_KNOWN;
  }
  const parsed = RecordFile.safeParse(value);
  if (!parsed.success) return NOT_KNOWN;
  const { id, reason, record } = parsed.data;
  const requestedAt = record.requested_at ?? null;
  return {
    id,
    reason: cleanReason(reason),
    requestedAtMs: record.begin?.requestedAtMs ?? (requestedAt === null ? null : Date.parse(requestedAt)),
    provider: record.provider ?? record.begin?.provider ?? null,
    outcome: record.outcome ?? record.end?.outcome ?? null,
    status: record.status ?? record.end?.status ?? null,
  };
}
