/** Two nodes on one database with scripted providers behind them, and every installed front before them. */
import { afterAll, beforeAll } from 'vitest';
import { findFreePort, makeDataDir, startGateway, type TestGateway, waitUntil } from '../gateway/start-gateway.ts';
import { startWebsocketProvider, type WebsocketProvider } from '../proxy/websocket-provider.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { DASHBOARD_NAME, type Front, type FrontKind, GATEWAY_NAME, isInstalled, startFront } from './front.ts';
import { FRONT_KINDS } from './front-kinds.ts';
import { type Call, type OpenCall, openCall } from './open-call.ts';

/** Those that can be tried here. What is missing is said, so that nobody takes silence for success. */
export function installedFronts(): readonly FrontKind[] {
  return FRONT_KINDS.filter((kind) => {
    if (isInstalled(kind)) return true;
    process.stderr.write(
      `NOT TRIED: ${kind.name} is not installed. On Debian or Ubuntu: apt-get install -y ${kind.debianPackage}\n`,
    );
    return false;
  });
}

export interface FrontStage {
  readonly provider: ScriptedProvider;
  readonly nodes: readonly [TestGateway, TestGateway];
  readonly fronts: readonly Front[];
  readonly front: (name: string) => Front;
  /** A call with the gateway's key. */
  readonly open: (front: Front, call: Omit<Call, 'port'>) => OpenCall;
  readonly restartNode: (index: 0 | 1) => Promise<void>;
}

/** Opens before the tests of a file and closes after them; what it returns may be used within tests. */
export function openFrontStage(kinds: readonly FrontKind[]): () => FrontStage {
  let postgres: TestPostgres | null = null;
  let provider: ScriptedProvider | null = null;
  let voice: WebsocketProvider | null = null;
  const nodes: TestGateway[] = [];
  const fronts: Front[] = [];
  let env: Readonly<Record<string, string>> = {};
  /** Of the first start; another start makes another one. */
  let key = '';

  beforeAll(async () => {
    const [kind] = POSTGRES_KINDS;
    if (kind === undefined) throw new Error('no PostgreSQL to test with');
    postgres = await startPostgres(kind);
    provider = await startScriptedProvider();
    voice = await startWebsocketProvider((session) => {
      session.on('message', (data, isBinary) => session.send(data, { binary: isBinary }));
    });
    env = {
      DATABASE_URL: await postgres.createDatabase('fronts'),
      TOLLGATE_UPSTREAM_OPENAI: provider.origin,
      TOLLGATE_UPSTREAM_OPENAI_VOICE: voice.origin,
      TOLLGATE_PUBLIC_URL: `https://${GATEWAY_NAME}`,
      TOLLGATE_ADMIN_PUBLIC_URL: `https://${DASHBOARD_NAME}`,
      TOLLGATE_TRUSTED_PROXIES: '127.0.0.1',
      // As where there is no terminal.
      TOLLGATE_STOP_DELAY_SECONDS: '5',
    };
    for (const name of ['one', 'two'])
      nodes.push(await startGateway({ env: { ...env, TOLLGATE_NODE: name }, dataDir: makeDataDir() }));
    key = nodes[0]?.key ?? '';
    await waitUntil('both nodes know the key', knowsKey);
    const ports = { nodes: nodes.map(({ port }) => port), dashboard: nodes[0]?.adminPort ?? 0 };
    for (const front of kinds) fronts.push(await startFront(front, { ...ports, port: await findFreePort() }));
    for (const front of fronts) await waitUntil(`${front.name} leads to a node`, () => isThrough(front));
  });

  afterAll(async () => {
    for (const front of fronts) await front.stop();
    await Promise.all(nodes.map((node) => node.stop()));
    await Promise.all([provider?.close(), voice?.close()]);
    await postgres?.remove();
  });

  async function knowsKey(): Promise<true | undefined> {
    const headers = { 'x-gateway-key': key, 'x-gateway-provider': 'openai' };
    const answers = await Promise.all(nodes.map(({ base }) => fetch(`${base}/v1/models`, { headers })));
    return answers.every(({ status }) => status === 200) ? true : undefined;
  }

  async function isThrough(front: Front): Promise<true | undefined> {
    const call = { port: front.port, version: 'HTTP/1.1', name: GATEWAY_NAME, method: 'GET', path: '/readyz' } as const;
    const answer = await openCall({ ...call, body: '' }).answer.catch(() => null);
    await answer?.whole();
    return answer?.status === 200 ? true : undefined;
  }

  return () => {
    const [one, two] = nodes;
    if (provider === null || one === undefined || two === undefined) throw new Error('the stage is not open');
    return {
      provider,
      nodes: [one, two],
      fronts,
      front: (name) => {
        const found = fronts.find((front) => front.name === name);
        if (found === undefined) throw new Error(`no front ${name}`);
        return found;
      },
      open: (front, call) =>
        openCall({
          ...call,
          port: front.port,
          headers: { 'x-gateway-key': key, 'x-gateway-provider': 'openai', ...call.headers },
        }),
      restartNode: async (index) => {
        const { dataDir, port, adminPort } = index === 0 ? one : two;
        nodes[index] = await startGateway({
          dataDir,
          ports: { port, adminPort },
          env: { ...env, TOLLGATE_NODE: index === 0 ? 'one' : 'two' },
        });
      },
    };
  };
}
