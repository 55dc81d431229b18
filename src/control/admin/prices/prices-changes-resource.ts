/** The read-only audit trail of prices. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { CHANGE_ACTIONS, CHANGE_SUBJECTS, listPriceChanges } from '../../prices/declared/price-changes.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { accountOf } from '../principal.ts';
import { COMMON_ERRORS, CursorParameter, jsonAnswer, limitParameter, listOf, Time } from '../schemas.ts';

const QUESTION = 'price_changes';

const Declared = z.any().openapi({ type: 'object', description: 'The declaration; null when there was, or is, none' });

export const PriceChangeBody = z
  .object({
    id: z.number().int(),
    changed_at: Time,
    actor: z
      .string()
      .describe('How the request signed in, and after "as stated by" the name that the command line gave'),
    subject: z.enum(CHANGE_SUBJECTS),
    action: z.enum(CHANGE_ACTIONS),
    summary: z.string().describe('In one line'),
    before: Declared,
    after: Declared,
  })
  .openapi('PriceChange');
export type PriceChangeBody = z.infer<typeof PriceChangeBody>;

const ListQuery = z.strictObject({ cursor: CursorParameter, limit: limitParameter(500, 50) });

export const priceChangesRoute = createRoute({
  method: 'get',
  path: '/api/v1/prices/changes',
  summary: 'Who changed what about prices, and when; the newest first',
  request: { query: ListQuery },
  responses: { 200: jsonAnswer(listOf(PriceChangeBody), 'A page of changes'), ...COMMON_ERRORS },
});

export function addPriceChangeRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(priceChangesRoute, async (c) => {
    const { cursor, limit } = c.req.valid('query');
    const before = cursor === undefined ? null : decodeCursor(cursor, QUESTION, z.number().int());
    const changes = await listPriceChanges(requireDatabase(deps), accountOf(c), before, limit + 1);
    const page = changes.slice(0, limit);
    const last = changes.length > limit ? page.at(-1) : undefined;
    return c.json({ data: page, next_cursor: last === undefined ? null : encodeCursor(QUESTION, last.id) }, 200);
  });
}
