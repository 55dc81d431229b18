/** Bifrost (Go), without a log and with its log in SQLite. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFreePort } from '../proxy/peer.ts';
import { findProgram, readVersion } from './find-program.ts';
import { launch, ofOneKind, type PeerKind } from './peer-gateway.ts';

function configuration(directory: string, providerPort: number, hasLog: boolean): string {
  const store = (file: string) => ({ enabled: hasLog, type: 'sqlite', config: { path: join(directory, file) } });
  const openai = {
    keys: [{ name: 'k', value: 'sk-bench', models: ['gpt-4o-mini'], weight: 1 }],
    network_config: { base_url: `http://127.0.0.1:${providerPort}`, max_retries: 0 },
    concurrency_and_buffer_size: { concurrency: 1_000, buffer_size: 5_000 },
  };
  return JSON.stringify({
    client: { enable_logging: hasLog, initial_pool_size: 300 },
    providers: { openai },
    config_store: store('config.db'),
    logs_store: store('logs.db'),
  });
}

function createKind(name: string, keeps: string, hasLog: boolean): PeerKind {
  const { path, missing } = findProgram('TOLLGATE_BENCH_BIFROST', 'bifrost-http');
  return {
    name,
    missing,
    async start(directory, providerPort) {
      const port = await readFreePort();
      writeFileSync(join(directory, 'config.json'), configuration(directory, providerPort, hasLog));
      const args = ['-port', String(port), '-host', '127.0.0.1', '-app-dir', directory, '-log-level', 'error'];
      const child = await launch({ command: path, args, directory, port });
      const asked = { path: '/openai/v1/chat/completions', headers: [] };
      return ofOneKind(child, { name, version: readVersion(path, '-version'), keeps, port, asked });
    },
  };
}

export const BIFROST = createKind('Bifrost, no log', 'nothing', false);
export const BIFROST_ROWS = createKind('Bifrost, SQLite', 'bodies and cost; SQLite', true);
