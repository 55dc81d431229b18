/** What the gateway put aside because it could not be stored or read: reasons, not contents. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { QuarantinedItem } from '../../vocabulary/quarantined-item.ts';
import type { AdminDeps } from './admin-deps.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { COMMON_ERRORS, CursorParameter, jsonAnswer, limitParameter, listOf, Time } from './schemas.ts';

const QUESTION = 'quarantine';

const QuarantinedBody = z
  .object({
    file: z.string().describe('In the folder `quarantine` of the data directory'),
    kind: z
      .enum(['record', 'segment'])
      .describe('A call, or a damaged file of the spool (what was readable is stored)'),
    bytes: z.number().int(),
    set_aside_at: Time,
    reason: z.string().nullable().describe('What the database said, without the values that it quoted'),
    id: z.string().nullable().describe('Of the call'),
    requested_at: Time.nullable(),
    provider: z.string().nullable(),
    outcome: z.string().nullable(),
    status: z.number().int().nullable(),
  })
  .openapi('Quarantined');
export type QuarantinedBody = z.infer<typeof QuarantinedBody>;

export const QuarantineBody = listOf(QuarantinedBody).extend({ total: z.number().int() });
export type QuarantineBody = z.infer<typeof QuarantineBody>;

const Position = z.tuple([z.number(), z.string()]);

function formatItem({ setAsideMs, requestedAtMs, ...item }: QuarantinedItem): QuarantinedBody {
  return { ...item, set_aside_at: new Date(setAsideMs).toISOString(), requested_at: formatTime(requestedAtMs) };
}

function formatTime(ms: number | null): string | null {
  const time = new Date(ms ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function isBehind({ setAsideMs, file }: QuarantinedItem, [lastMs, lastFile]: z.infer<typeof Position>): boolean {
  return setAsideMs < lastMs || (setAsideMs === lastMs && file > lastFile);
}

export const quarantineRoute = createRoute({
  method: 'get',
  path: '/api/v1/quarantine',
  summary: 'What was put aside and why, the latest first',
  request: { query: z.strictObject({ cursor: CursorParameter, limit: limitParameter(500, 50) }) },
  responses: { 200: jsonAnswer(QuarantineBody, 'Also while the database is down'), ...COMMON_ERRORS },
});

export function addQuarantineRoute(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(quarantineRoute, async (c) => {
    const { cursor, limit } = c.req.valid('query');
    const after = cursor === undefined ? null : decodeCursor(cursor, QUESTION, Position);
    const items = await deps.ledger.listQuarantine();
    const rest = after === null ? items : items.filter((item) => isBehind(item, after));
    const page = rest.slice(0, limit);
    const last = rest.length > limit ? page.at(-1) : undefined;
    const nextCursor = last === undefined ? null : encodeCursor(QUESTION, [last.setAsideMs, last.file]);
    return c.json({ data: page.map(formatItem), next_cursor: nextCursor, total: items.length }, 200);
  });
}
