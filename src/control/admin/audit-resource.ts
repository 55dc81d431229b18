/** The audit log over HTTP: a filtered list, the whole chain as a file, and whether it holds. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { ACTOR_KINDS, type AuditEntry } from '../audit/audit-entry.ts';
import { listEntries, readChainEnds, readEntriesAfter } from '../audit/list-entries.ts';
import { verifyLog } from '../audit/verify-log.ts';
import { inSnapshot } from '../store/pool.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { bindingsOf } from './bindings-of.ts';
import { decodeCursor, encodeCursor, hashQuestion } from './cursor.ts';
import { accountOf } from './principal.ts';
import { createPulledStream, describeFailure } from './pulled-stream.ts';
import {
  COMMON_ERRORS,
  CursorParameter,
  jsonAnswer,
  limitParameter,
  listOf,
  Time,
  TimeParameter,
  toDate,
} from './schemas.ts';

const ROWS_PER_PIECE = 500;
const STALL_LIMIT_MS = 60_000;

const Hash = z.string().describe('SHA-256, hex');
const State = z.any().openapi({ type: 'object', description: 'JSON without secrets; null for nothing' });

const EntryBody = z
  .object({
    seq: z.number().int().describe('Place in the one chain of the deployment'),
    account_id: z.number().int(),
    at: Time,
    actor_kind: z.enum(ACTOR_KINDS).describe('`process`: the gateway itself; `nobody`: a sign-in that was refused'),
    actor_name: z.string(),
    from_address: z.string().nullable(),
    action: z.string().describe('What was done: `key.create`, `setting.change`, …'),
    subject_kind: z.string(),
    subject_id: z.string().nullable(),
    before: State,
    after: State,
    previous_hash: Hash,
    hash: Hash,
  })
  .openapi('AuditEntry');

const text = (about: string) => z.string().min(1).max(500).optional().describe(about);

const ListQuery = z.strictObject({
  from: TimeParameter.optional(),
  to: TimeParameter.optional(),
  actor: text('A part of the name of who did it, in any case'),
  action: text('An action such as `key.create`, or what precedes its dot'),
  subject_kind: text('Such as `key`'),
  subject_id: text('Such as the number of the key'),
  cursor: CursorParameter,
  limit: limitParameter(500, 50),
});

const VerificationBody = z
  .object({
    holds: z.boolean(),
    entries: z.number().int().describe('Rows that hold, from the oldest on'),
    first_seq: z.number().int().nullable(),
    last_seq: z.number().int().nullable(),
    last_hash: Hash.nullable().describe(
      'Keep it elsewhere: with it a later verification shows that all before is as it was',
    ),
    broken: z
      .object({ seq: z.number().int(), why: z.string() })
      .nullable()
      .describe('The first row that does not hold'),
    has_expected: z.boolean().nullable().describe('Whether the hash of `expect` is in the chain; null without one'),
  })
  .openapi('AuditVerification');

export const auditRoute = createRoute({
  method: 'get',
  path: '/api/v1/audit',
  summary: 'Who changed what, the newest first',
  request: { query: ListQuery },
  responses: { 200: jsonAnswer(listOf(EntryBody), 'A page of rows'), ...COMMON_ERRORS },
});

export const auditVerificationRoute = createRoute({
  method: 'get',
  path: '/api/v1/audit/verification',
  summary: 'Whether the audit log is as it was written: reads all of it',
  request: {
    query: z.strictObject({
      expect: z
        .string()
        .regex(/^[\da-f]{64}$/, '64 hexadecimal digits')
        .optional()
        .describe('A hash that was kept elsewhere'),
    }),
  },
  responses: { 200: jsonAnswer(VerificationBody, 'What was found'), ...COMMON_ERRORS },
});

const exportRoute = createRoute({
  method: 'get',
  path: '/api/v1/audit/export',
  summary: 'The whole audit log of all accounts, the oldest row first; `tollgate audit verify --file` checks it',
  responses: {
    200: { description: 'JSON, one row a line', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...COMMON_ERRORS,
  },
});

function toLines(entries: readonly AuditEntry[]): Uint8Array {
  return Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

export function addAuditRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(auditRoute, async (c) => {
    const { cursor, limit, ...asked } = c.req.valid('query');
    const question = hashQuestion(['audit', asked]);
    const before = cursor === undefined ? null : decodeCursor(cursor, question, z.number().int());
    const filter = {
      from: toDate(asked.from),
      to: toDate(asked.to),
      actor: asked.actor ?? null,
      action: asked.action ?? null,
      subjectKind: asked.subject_kind ?? null,
      subjectId: asked.subject_id ?? null,
    };
    const entries = await listEntries(requireDatabase(deps), accountOf(c), filter, before, limit + 1);
    const page = entries.slice(0, limit);
    const last = entries.length > limit ? page.at(-1) : undefined;
    return c.json({ data: page, next_cursor: last === undefined ? null : encodeCursor(question, last.seq) }, 200);
  });

  app.openapi(auditVerificationRoute, async (c) => {
    const { expect } = c.req.valid('query');
    const verdict = await inSnapshot(requireDatabase(deps), (client) => verifyLog(client, expect ?? null));
    return c.json(
      {
        holds: verdict.broken === null && (expect === undefined || verdict.hasExpected),
        entries: verdict.entries,
        first_seq: verdict.firstSeq,
        last_seq: verdict.lastSeq,
        last_hash: verdict.lastHash,
        broken: verdict.broken,
        has_expected: expect === undefined ? null : verdict.hasExpected,
      },
      200,
    );
  });

  app.openAPIRegistry.registerPath(exportRoute);
  app.get('/api/v1/audit/export', async (c) => {
    const pool = requireDatabase(deps);
    // Rows are only added, so pages of the rows up to the present end are a whole.
    const ends = await readChainEnds(pool);
    const { outgoing } = bindingsOf(c.env);
    let after = 0;
    const stream = createPulledStream({
      head: new Uint8Array(),
      next: async () => {
        const entries = (await readEntriesAfter(pool, after, ROWS_PER_PIECE)).filter(({ seq }) => seq <= ends.seq);
        const last = entries.at(-1);
        if (last === undefined) return null;
        after = last.seq;
        return toLines(entries);
      },
      stallLimitMs: STALL_LIMIT_MS,
      destroy: () => outgoing.destroy(),
      onEnd: (failure) => {
        if (failure !== null && failure.kind !== 'client-gone')
          deps.log.error(describeFailure(failure), 'an export of the audit log broke off');
      },
    });
    return c.body(stream, 200, {
      'content-type': 'application/x-ndjson',
      'content-disposition': 'attachment; filename="tollgate-audit.ndjson"',
      'cache-control': 'no-store',
    });
  });
}
