/** The restart of a node that only takes calls; its other answers are in test/gateway/roles.test.ts. */
import { expect, test } from 'vitest';
import { bareAdminDeps } from '../../../test/support/admin-deps.ts';
import type { RestartStatus } from '../../vocabulary/channel.ts';
import { createNodeApp } from './node-app.ts';

const adminToken = 'an-admin-token-of-thirty-two-chars';
const metricsToken = 'a-metrics-token-of-thirty-two-chars';

function ask(method: string, token: string | null, requested: RestartStatus): Promise<Response> {
  const app = createNodeApp({
    ...bareAdminDeps({ adminToken, metricsToken }),
    hasKeys: () => true,
    readProblem: async () => null,
    requestRestart: async () => requested,
    readSupervisorStatus: async () => ({
      startedAtMs: 0,
      restart: { requested: 1, finished: 1, problem: null },
      children: [],
      attempts: [],
      attemptsTotal: 0,
      attemptsNotShown: 0,
    }),
  });
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const request = new Request('http://127.0.0.1:4142/api/v1/restart', { method, headers });
  return Promise.resolve(app.fetch(request, undefined));
}

const BEGUN = { requested: 1, finished: 0, problem: null };

test('a proxy node restarts for its admin token alone, and says then how far it is', async () => {
  const begun = await ask('POST', adminToken, BEGUN);
  expect([begun.status, JSON.parse(await begun.text())]).toEqual([202, { ...BEGUN, processes: [] }]);
  const over = await ask('GET', adminToken, BEGUN);
  expect([over.status, JSON.parse(await over.text())]).toEqual([
    200,
    { requested: 1, finished: 1, problem: null, processes: [] },
  ]);
  for (const token of [null, metricsToken, 'wrong'])
    for (const method of ['GET', 'POST']) expect((await ask(method, token, BEGUN)).status).toBe(401);
});

test('one that is starting or stopping says so', async () => {
  const answer = await ask('POST', adminToken, { requested: 0, finished: 0, problem: null });
  expect([answer.status, JSON.parse(await answer.text()).error.code]).toEqual([409, 'not_restarted']);
});
