/** `doctor` names headers that are nearly the gateway's own, and steps without a run, asked of a real log. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGatewayClient } from '../../src/cli/gateway-client.ts';
import { judgeSlips } from '../../src/cli/judge-slips.ts';
import { ADMIN_TOKEN, type AdminDatabase, endedCall, startAdminDatabase } from '../support/admin-database.ts';
import { NOON_MS } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const [kind] = POSTGRES_KINDS;
let db: AdminDatabase;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
}, 60_000);
afterAll(() => db.stop());

test('slips of the last day are named with what was meant; older ones are not', async () => {
  const client = createGatewayClient({ url: db.url, token: ADMIN_TOKEN }, {});
  const flags = ['header_misspelt'] as const;
  await db.store(
    endedCall(1, {}, {}),
    endedCall(2, { flags, metadata: [['Trace', 't1']] }, { flags, requestHeaders: [['x-gatway-key', '***']] }),
    endedCall(3, { spanPath: 'a/b' }, { flags: ['span_without_trace'] }),
  );
  expect(await judgeSlips(client, NOON_MS + 60_000)).toEqual([
    {
      level: 'note',
      text: 'headers: 1 call of the last day (latest 2026-11-28T12:00:00.002Z from openai-node) had a header that is nearly the gateway’s own: x-gatway-key (meant: x-gateway-key?), x-gateway-trace (meant: x-gateway-trace-id?); it was taken as it was written',
    },
    {
      level: 'note',
      text: 'headers: 1 call of the last day (latest 2026-11-28T12:00:00.003Z from openai-node) had X-Gateway-Span-Path without X-Gateway-Trace-Id, so they are in no run',
    },
  ]);
  expect(await judgeSlips(client, NOON_MS + 2 * 86_400_000)).toEqual([]);
}, 60_000);
