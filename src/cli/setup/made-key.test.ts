/** Two gateways that both have a key with the same id; stand-ins for their admin APIs. */
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createGatewayKey, keyHints } from '../../keys/gateway-key.ts';
import { createGatewayClient, type GatewayClient } from '../gateway-client.ts';
import { keepKey, revokeMadeKey } from './made-key.ts';
import type { SetupRecord } from './setup-record.ts';

const servers: (() => void)[] = [];
afterEach(() => {
  for (const close of servers.splice(0)) close();
});

interface StandIn {
  readonly client: GatewayClient;
  readonly deleted: readonly string[];
}

async function startGateway(...keys: readonly object[]): Promise<StandIn> {
  const deleted: string[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'DELETE') deleted.push(request.url ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.method === 'GET' ? { data: keys } : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(() => server.close());
  const place = server.address();
  const port = typeof place === 'object' && place !== null ? place.port : 0;
  return { client: createGatewayClient({ url: `http://127.0.0.1:${port}`, token: 'x' }, {}), deleted };
}

function listed(text: string, fields: object = {}): object {
  return { id: 3, ...keyHints(text), revoked_at: null, expires_at: null, allow_in_address: false, ...fields };
}

const KEY = createGatewayKey();
const OTHER = createGatewayKey();
const RECORD: SetupRecord = { key: KEY, key_id: 3, address: 'http://a:4141', files: [] };
const KEPT = { text: KEY, id: 3 };

test('a key is revoked by its own gateway alone, whatever id another has for one of its own', async () => {
  const a = await startGateway(listed(OTHER, { id: 2 }), listed(KEY));
  const b = await startGateway(listed(OTHER));
  expect(await revokeMadeKey(() => b.client, KEPT, 'http://a:4141')).toEqual({
    isRevoked: false,
    text: 'Key 3, which was made for it, is still valid: it is a key of http://a:4141, which was not asked. There `tollgate keys revoke 3` ends it.',
  });
  expect(b.deleted).toEqual([]);
  expect(await revokeMadeKey(() => a.client, KEPT, 'http://a:4141')).toEqual({
    isRevoked: true,
    text: 'Key 3, which was made for it, is revoked.',
  });
  expect(a.deleted).toEqual(['/api/v1/keys/3']);
  expect(await revokeMadeKey(() => a.client, { text: KEY, id: null }, undefined)).toBeNull();
});

test('a gateway that cannot be asked leaves the key valid, and it is said', async () => {
  const find = () => {
    throw new Error('no gateway has run here');
  };
  expect(await revokeMadeKey(find, KEPT, undefined)).toEqual({
    isRevoked: false,
    text: 'Key 3, which was made for it, is still valid: no gateway has run here. `tollgate keys revoke 3` ends it.',
  });
});

test.each([
  ['its own gateway', listed(KEY), {}, KEPT],
  ['another gateway with that id', listed(OTHER), {}, null],
  ['one that has revoked it', listed(KEY, { revoked_at: '2026-11-29T12:00:00Z' }), {}, null],
  ['one at which it has expired', listed(KEY, { expires_at: '2020-01-01T00:00:00Z' }), {}, null],
  ['one that refuses it in addresses, where it stands there', listed(KEY), { hasKeyInAddress: true } as const, null],
  ['one that allows that', listed(KEY, { allow_in_address: true }), { hasKeyInAddress: true } as const, KEPT],
])('a kept key at %s', async (_what, key, client, kept) => {
  expect(await keepKey((await startGateway(key)).client, client, RECORD)).toEqual(kept);
});
