/** agentgateway (Rust), with a line for each call, and with a row in SQLite and its cost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFreePort } from '../proxy/peer.ts';
import { findProgram, readVersion } from './find-program.ts';
import { launch, ofOneKind, type PeerKind } from './peer-gateway.ts';

const RATES = { input: '0.15', output: '0.60', cacheRead: '0.075' };
const CATALOGUE = {
  providers: { openai: { models: { 'gpt-4o-mini': { rates: RATES }, 'gpt-4o-mini-2024-07-18': { rates: RATES } } } },
};

/** As JSON, which is YAML too. */
function configuration(directory: string, port: number, providerPort: number, hasRows: boolean): string {
  const database = { url: `sqlite://${directory}/calls.db` };
  const config = {
    enableIpv6: false,
    adminAddr: 'off',
    statsAddr: 'off',
    readinessAddr: 'off',
    logging: { level: 'info', format: 'text' },
    ...(hasRows ? { database, modelCatalog: [{ file: `${directory}/catalogue.json` }] } : {}),
  };
  // `detect` reads bodies without converting them.
  const routes = hasRows ? { '*': 'detect' } : { '/v1/chat/completions': 'completions', '*': 'passthrough' };
  const backend = {
    ai: { name: 'mock', provider: { openAI: {} }, hostOverride: `127.0.0.1:${providerPort}` },
    policies: { backendAuth: { key: 'sk-bench' }, ai: { routes } },
  };
  const route = { name: 'bench', backends: [backend] };
  return JSON.stringify({ config, binds: [{ port, listeners: [{ name: 'llm', protocol: 'HTTP', routes: [route] }] }] });
}

function createKind(name: string, keeps: string, hasRows: boolean): PeerKind {
  const { path, missing } = findProgram('TOLLGATE_BENCH_AGENTGATEWAY', 'agentgateway');
  return {
    name,
    missing,
    async start(directory, providerPort) {
      const port = await readFreePort();
      const file = join(directory, 'agentgateway.yaml');
      writeFileSync(file, configuration(directory, port, providerPort, hasRows));
      writeFileSync(join(directory, 'catalogue.json'), JSON.stringify(CATALOGUE));
      const child = await launch({ command: path, args: ['-f', file], directory, port, env: { WORKER_THREADS: '1' } });
      return ofOneKind(child, { name, version: readVersion(path, '--version'), keeps, port, asked: { headers: [] } });
    },
  };
}

export const AGENTGATEWAY = createKind('agentgateway, line', 'tokens; one line', false);
export const AGENTGATEWAY_ROWS = createKind('agentgateway, SQLite', 'tokens and cost; SQLite', true);
