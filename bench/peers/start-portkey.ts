/** Portkey's gateway (TypeScript). It runs on Node 20; a newer one may be named all the same. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { readFreePort } from '../proxy/peer.ts';
import { findProgram } from './find-program.ts';
import { launch, ofOneKind, type PeerKind } from './peer-gateway.ts';

const Package = z.object({ version: z.string() });
/** `start-server.js` in the `build` of the package `@portkey-ai/gateway`. */
const { path, missing } = findProgram('TOLLGATE_BENCH_PORTKEY', null);
const node = process.env['TOLLGATE_BENCH_PORTKEY_NODE'] ?? 'node';

function readPackageVersion(): string {
  try {
    return Package.parse(JSON.parse(readFileSync(join(dirname(path), '..', 'package.json'), 'utf8'))).version;
  } catch {
    return '';
  }
}

export const PORTKEY: PeerKind = {
  name: 'Portkey',
  missing,
  async start(directory, providerPort) {
    const port = await readFreePort();
    const args = [path, `--port=${port}`, '--headless'];
    const child = await launch({ command: node, args, directory, port, env: { NODE_ENV: 'production' } });
    const headers = ['x-portkey-provider: openai', `x-portkey-custom-host: http://127.0.0.1:${providerPort}/v1`];
    return ofOneKind(child, {
      name: 'Portkey',
      version: readPackageVersion(),
      keeps: 'nothing',
      port,
      asked: { headers },
    });
  },
};
