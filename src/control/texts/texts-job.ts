/**
 * The job that reads the text of calls from before, the newest first: an upgrade requests it, and so does who allows
 * search again. New calls have theirs from the shipper.
 */
import { zstdDecompressSync } from 'node:zlib';
import type pg from 'pg';
import { z } from 'zod';
import { chunkRows, nextChunkRows } from '../jobs/chunk-rows.ts';
import type { Job, JobKind, Progress } from '../jobs/job.ts';
import { insertJob, lockActiveJob } from '../jobs/job-store.ts';
import { copyIn } from '../store/copy-in.ts';
import { dayOf, ensurePartitions } from '../store/partitions.ts';
import { inTransaction } from '../store/pool.ts';
import type { KeptBody } from './plain-body.ts';
import { type CallBodies, COPY_TEXTS, encodeTextRows, readTextRows } from './text-rows.ts';

/** A migration writes both, too. */
const KIND = 'texts';
const SUBJECT = 'texts';

const FIRST_ROWS = 200;
const MAX_ROWS = 5_000;
/** Of bodies in memory at a time, as they are packed. */
const MAX_PACKED_BYTES = 4 * 1024 * 1024;
/** Far above what is kept of a body, so that a damaged row cannot ask for more memory. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const Cursor = z.object({
  requestedAt: z.string(),
  id: z.uuid(),
  rows: z.number().int(),
  read: z.number().int(),
  written: z.number().int(),
  failed: z.number().int(),
});
type Cursor = Readonly<z.infer<typeof Cursor>>;

/** Precedes every call on the way back. */
const START: Cursor = {
  requestedAt: 'infinity',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  rows: FIRST_ROWS,
  read: 0,
  written: 0,
  failed: 0,
};

/** `keepsTexts`: what the node was started with. */
export function createTextsKind(keepsTexts: boolean): JobKind {
  return {
    kind: KIND,
    runChunk: async (client, job) => {
      const cursor = job.cursor === null ? START : Cursor.parse(job.cursor);
      if (!keepsTexts || !(await areKept(client))) return end('search is off', cursor);
      const total = job.total ?? (await estimateBodies(client));
      const next = await readChunk(client, job, cursor);
      if (next === null) return end('read', cursor);
      return { phase: 'reading bodies', cursor: next, done: next.read, total: atLeast(total, next.read), result: null };
    },
  };
}

function end(phase: string, cursor: Cursor): Progress {
  const { read, written, failed } = cursor;
  return { phase, cursor, done: read, total: read, result: { read, written, failed } };
}

function atLeast(total: number | null, done: number): number | null {
  return total === null ? null : Math.max(total, done);
}

/** Adds nothing while a job is under way. */
export async function requestTexts(pool: pg.Pool, accountId: number): Promise<void> {
  await inTransaction(pool, async (client) => {
    if ((await lockActiveJob(client, accountId, SUBJECT)) !== null) return;
    const title = 'Read the text of earlier calls';
    await insertJob(client, { accountId, kind: KIND, subject: SUBJECT, title, unit: 'bodies', input: {} });
  });
}

async function areKept(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query("select from deployment_settings where name = 'search' and value = 'off'");
  return rowCount === 0;
}

/** By the statistics; null where there are none yet. */
async function estimateBodies(client: pg.ClientBase): Promise<number | null> {
  const { rows } = await client.query<{ estimate: number }>(
    `select coalesce(sum(greatest(c.reltuples, 0)), 0)::int8 as estimate
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'llm_bodies'::regclass`,
  );
  return rows[0]?.estimate || null;
}

interface ListedBody {
  readonly id: string;
  readonly requested_at: Date;
  readonly bytes: number;
  readonly is_missing: boolean;
}

/** Ids go with time; the bound on it leaves out later days. */
const LIST_BODIES = `
  select b.id, b.requested_at, t.id is null as is_missing,
    coalesce(octet_length(b.request), 0) + coalesce(octet_length(b.response), 0) as bytes
  from llm_bodies b left join llm_texts t on t.id = b.id and t.requested_at = b.requested_at
  where b.id < $1 and b.requested_at <= $2::timestamptz order by b.id desc limit $3`;

/** Returns where the next chunk begins, or null when nothing was left. */
async function readChunk(client: pg.ClientBase, job: Job, cursor: Cursor): Promise<Cursor | null> {
  const startedMs = performance.now();
  const rows = chunkRows(cursor.rows, job.failures, MAX_ROWS);
  // The planner must not read whole days for a few calls.
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const { rows: listed } = await client.query<ListedBody>(LIST_BODIES, [cursor.id, cursor.requestedAt, rows]);
  const last = listed.at(-1);
  if (last === undefined) return null;
  let { written, failed } = cursor;
  for (const group of groupByBytes(listed.filter((body) => body.is_missing))) {
    const texts = await readTextRows(await readBodies(client, group));
    if (texts.rows.length > 0) {
      await ensurePartitions(client, [...new Set(group.map((body) => dayOf(body.requested_at.getTime())))]);
      await copyIn(client, COPY_TEXTS, encodeTextRows(texts.rows));
    }
    written += texts.rows.length;
    failed += texts.failed.length;
  }
  return {
    requestedAt: last.requested_at.toISOString(),
    id: last.id,
    rows: nextChunkRows(rows, performance.now() - startedMs, MAX_ROWS),
    read: cursor.read + listed.length,
    written,
    failed,
  };
}

function groupByBytes(bodies: readonly ListedBody[]): readonly (readonly ListedBody[])[] {
  const groups: ListedBody[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const body of bodies) {
    bytes += body.bytes;
    if (bytes > MAX_PACKED_BYTES) {
      groups.push([]);
      bytes = body.bytes;
    }
    groups.at(-1)?.push(body);
  }
  return groups;
}

const SIDES = ['request', 'response'] as const;
const SIDE_FIELDS = ['packing', 'content_type', 'content_encoding', 'total_bytes', 'head_bytes'] as const;

/** The lock keeps who removes calls waiting, so that no text stays behind. */
const READ_BODIES = `
  select b.id, b.requested_at, r.account_id, ${SIDES.map(
    (side) =>
      `case when b.${side} is not null then jsonb_build_object(${SIDE_FIELDS.map((name) => `'${name}', b.${side}_${name}`).join(', ')}) end
      as ${side}_about, b.${side}`,
  ).join(', ')}
  from llm_bodies b join llm_requests r on r.id = b.id and r.requested_at = b.requested_at
  where b.id = any ($1::uuid[]) and b.requested_at between $2 and $3 for key share of b`;

const About = z
  .object({
    packing: z.string().nullable(),
    content_type: z.string().nullable(),
    content_encoding: z.string().nullable(),
    total_bytes: z.number().nullable(),
    head_bytes: z.number().nullable(),
  })
  .nullable();

interface BodyRow {
  readonly id: string;
  readonly requested_at: Date;
  readonly account_id: number;
  readonly request_about: unknown;
  readonly request: Buffer | null;
  readonly response_about: unknown;
  readonly response: Buffer | null;
}

async function readBodies(client: pg.ClientBase, group: readonly ListedBody[]): Promise<readonly CallBodies[]> {
  const times = group.map(({ requested_at }) => requested_at.getTime());
  const { rows } = await client.query<BodyRow>(READ_BODIES, [
    group.map(({ id }) => id),
    new Date(Math.min(...times)),
    new Date(Math.max(...times)),
  ]);
  return rows.map((row) => ({
    id: row.id,
    requestedAt: row.requested_at,
    accountId: row.account_id,
    request: readSide(row.request, row.request_about),
    response: readSide(row.response, row.response_about),
  }));
}

/** Null for a side that was not kept, or that is damaged. */
function readSide(packed: Buffer | null, about: unknown): KeptBody | null {
  const facts = About.parse(about);
  if (packed === null || facts === null) return null;
  const bytes = facts.packing === 'zstd' ? unpack(packed) : packed;
  if (bytes === null) return null;
  return {
    bytes,
    contentType: facts.content_type,
    contentEncoding: facts.content_encoding,
    totalBytes: facts.total_bytes ?? bytes.length,
    headBytes: facts.head_bytes ?? bytes.length,
  };
}

function unpack(packed: Buffer): Buffer | null {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: MAX_BODY_BYTES });
  } catch {
    return null;
  }
}
