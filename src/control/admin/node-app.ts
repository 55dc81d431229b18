/** The admin port of a node that only takes calls: how it is, and its restart. Without a token its answers do not name the database. */
import { v7 as createUuid } from 'uuid';
import type { AdminDeps } from './admin-deps.ts';
import type { AdminApp } from './admin-server.ts';
import { isDatabaseUp } from './database-answer.ts';
import type { MetricsDeps } from './metrics/metrics-snapshot.ts';
import { createMetricsText } from './metrics/metrics-text.ts';
import { type Peer, readPeer } from './peer.ts';
import { formatProcess } from './status-body.ts';
import { createTokenCheck } from './token-check.ts';

export interface NodeAppDeps
  extends MetricsDeps,
    Pick<AdminDeps, 'adminToken' | 'metricsToken' | 'isStopping' | 'log' | 'requestRestart'> {
  /** Its proxies have a snapshot of the keys. */
  readonly hasKeys: () => boolean;
  /** Null when nothing is wrong. */
  readonly readProblem: () => Promise<string | null>;
}

const ELSEWHERE =
  'This node only takes calls (TOLLGATE_ROLE=proxy). Dashboard, API and commands are at the admin port of a node whose role is "control" or "all"; give commands its --url and --token.';
const NO_KEYS = 'There are no keys yet: this node has to reach its database once. Its log says why it does not.';

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

export function createNodeApp(deps: NodeAppDeps): AdminApp {
  const tokens = createTokenCheck(deps.access);
  const readMetrics = createMetricsText(deps);
  const known = [deps.adminToken, deps.metricsToken].filter((token) => token !== null);

  function isKnown(request: Request, { client, prove }: Peer, expected = known): boolean {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    if (token === undefined || tokens.judge(token, expected, client).kind !== 'right') return false;
    prove();
    return true;
  }

  async function answerReadiness(isTrusted: boolean): Promise<Response> {
    if (deps.isStopping()) return json(503, { status: 'stopping' });
    const database = (await isDatabaseUp(deps)) ? 'up' : 'down';
    const problem = isTrusted ? await deps.readProblem() : null;
    if (!deps.hasKeys()) return json(503, { status: 'no_keys', database, problem: problem ?? NO_KEYS });
    return json(200, { status: database === 'up' ? 'ok' : 'degraded', database, problem });
  }

  async function answerMetrics(isTrusted: boolean): Promise<Response> {
    if (!isTrusted) return refuse(401, 'unauthorized', 'Send TOLLGATE_METRICS_TOKEN as Authorization: Bearer.');
    const { contentType, text } = await readMetrics();
    return new Response(text, { headers: { ...HEADERS, 'content-type': contentType } });
  }

  /** For `tollgate restart`, which asks again until it is over: of this node alone, so no other can answer it. */
  async function answerRestart(request: Request, isOperator: boolean): Promise<Response> {
    if (!isOperator) return refuse(401, 'unauthorized', 'Send the admin token of this node as Authorization: Bearer.');
    const status = request.method === 'POST' ? await deps.requestRestart() : null;
    if (status !== null && status.finished >= status.requested) return refuseStarting();
    if (status !== null) deps.log.info({ restart: status.requested }, 'a restart was asked for');
    const supervisor = await deps.readSupervisorStatus();
    if (supervisor === null) return refuse(503, 'supervisor_unavailable', 'The supervisor process does not answer.');
    const processes = supervisor.children.map(formatProcess);
    return json(status === null ? 200 : 202, { ...(status ?? supervisor.restart), processes });
  }

  async function answer(request: Request, bindings: object | undefined): Promise<Response> {
    const peer = readPeer(bindings);
    if (isRestart(request)) return answerRestart(request, isKnown(request, peer, [deps.adminToken]));
    const isTrusted = isKnown(request, peer);
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    const path = isReading ? new URL(request.url).pathname : '';
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz') return answerReadiness(isTrusted);
    if (path === '/metrics') return answerMetrics(isTrusted);
    const problem = isTrusted ? await deps.readProblem() : null;
    return refuse(404, 'not_found', problem === null ? ELSEWHERE : `${ELSEWHERE} Of this node: ${problem}`);
  }

  return {
    fetch: (request, bindings) =>
      answer(request, bindings).catch((error: unknown) => {
        deps.log.error({ err: error }, 'a request to the admin port failed');
        return refuse(500, 'internal_error', 'This failed; the log of the node says why.');
      }),
  };
}

function isRestart({ method, url }: Request): boolean {
  return (method === 'GET' || method === 'POST') && new URL(url).pathname === '/api/v1/restart';
}

function refuseStarting(): Response {
  return refuse(409, 'not_restarted', 'The gateway is starting or stopping; ask again when it runs.');
}

function json(status: number, body: object): Response {
  return Response.json(body, { status, headers: HEADERS });
}

function refuse(status: number, code: string, message: string): Response {
  return json(status, { error: { code, message, request_id: createUuid() } });
}
