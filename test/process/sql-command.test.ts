/** `tollgate sql --remove` for a reader and for a program; what the route does is in test/database/sql-door.test.ts. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { runTollgate } from '../gateway/run-tollgate.ts';
import { makeDataDir } from '../gateway/start-gateway.ts';

test('with --json it answers in JSON', async () => {
  const asked: string[] = [];
  const api = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ role: 'tollgate_reader' }));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const address = api.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const flags = ['sql', '--remove', '--url', url, '--token', 'x'];
  const dataDir = makeDataDir();
  expect(await runTollgate(dataDir, flags)).toMatchObject({
    code: 0,
    stdout: 'The login for SQL is gone, and its sessions have ended.\n',
  });
  expect(await runTollgate(dataDir, [...flags, '--json'])).toMatchObject({
    code: 0,
    stdout: '{"role":"tollgate_reader"}\n',
  });
  expect(asked).toEqual(['DELETE /api/v1/sql-access', 'DELETE /api/v1/sql-access']);
  api.close();
});
