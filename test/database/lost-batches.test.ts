/** `doctor` names the batches whose results went around the gateway, asked of a real log. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGatewayClient } from '../../src/cli/gateway-client.ts';
import { judgeBatches } from '../../src/cli/judge-batches.ts';
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

function batchCall(number: number, path: string, flags: readonly 'leads_away'[], status = 200) {
  const begin = { provider: 'anthropic' as const, endpoint: 'messages.batches', method: 'GET', path, billed: false };
  return endedCall(number, begin, { status, flags, usage: null, usageSource: 'none' });
}

test('a batch that has ended and of which no results came through is named, once; one whose results came is not', async () => {
  const client = createGatewayClient({ url: db.url, token: ADMIN_TOKEN }, {});
  expect(await judgeBatches(client, NOON_MS + 60_000)).toEqual([]);
  await db.store(
    batchCall(1, '/v1/messages/batches/msgbatch_lost', ['leads_away']),
    batchCall(2, '/v1/messages/batches/msgbatch_lost?beta=true', ['leads_away']),
    batchCall(3, '/v1/messages/batches/msgbatch_lost/results', [], 401),
    batchCall(4, '/v1/messages/batches/msgbatch_fetched', ['leads_away']),
    batchCall(5, '/v1/messages/batches/msgbatch_fetched/results', []),
    batchCall(6, '/v1/messages/batches/msgbatch_running', []),
    // The list names many, and each is asked for by itself.
    batchCall(7, '/v1/messages/batches?limit=20', ['leads_away']),
  );
  const findings = await judgeBatches(client, NOON_MS + 60_000);
  expect(findings.map(({ level }) => level)).toEqual(['note']);
  expect(findings[0]?.text).toContain('is not in the log: msgbatch_lost. Fetch ');
}, 60_000);
