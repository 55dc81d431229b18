/** Tollgate as a user starts it; nginx beside it is what the ratios are to. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { startGateway } from '../proxy/gateway.ts';
import { isNginxInstalled, NGINX_MISSING, startNginx } from '../proxy/nginx.ts';
import { listDescendants } from '../proxy/process-figures.ts';
import { LOAD_CORE, PROXY_CORE, place } from '../proxy/programs.ts';
import { readVersion } from './find-program.ts';
import type { PeerKind } from './peer-gateway.ts';

const Package = z.object({ version: z.string() });

export const TOLLGATE: PeerKind = {
  name: 'Tollgate',
  missing: null,
  async start(directory, providerPort) {
    const gateway = await startGateway(directory, providerPort);
    const [supervisor = 0] = gateway.otherPids;
    const proxyPids = () => gateway.proxyPids;
    const allPids = () => [supervisor, ...listDescendants(supervisor)];
    const file = join(import.meta.dirname, '..', '..', 'package.json');
    return {
      name: 'Tollgate',
      version: Package.parse(JSON.parse(readFileSync(file, 'utf8'))).version,
      keeps: 'everything: both bodies, usage, exact cost, run; in PostgreSQL; on file before the last byte',
      jsonPort: gateway.jsonPort,
      ssePort: gateway.ssePort,
      gatewayKey: gateway.gatewayKey,
      proxyPids,
      allPids,
      pin: () => {
        place(allPids(), LOAD_CORE);
        place(proxyPids(), PROXY_CORE);
      },
      stop: gateway.stop,
    };
  },
};

export const NGINX: PeerKind = {
  name: 'nginx',
  missing: isNginxInstalled() ? null : NGINX_MISSING,
  async start(directory, providerPort) {
    const nginx = await startNginx('nginx', directory, providerPort);
    const pids = () => nginx.proxyPids;
    return {
      name: 'nginx',
      version: readVersion('nginx', '-v'),
      keeps: 'one line',
      jsonPort: nginx.jsonPort,
      ssePort: nginx.ssePort,
      gatewayKey: nginx.gatewayKey,
      proxyPids: pids,
      allPids: pids,
      pin: () => place(pids(), PROXY_CORE),
      stop: nginx.stop,
    };
  },
};
