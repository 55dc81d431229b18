/** Rules of safety that can be read off the sources: who may open connections, start programs, or set HTML. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listSourceFiles } from './import-table.ts';

const root = join(import.meta.dirname, '../..');

/** The files that match, tests aside. Comments are no code. */
function filesWith(folder: string, pattern: RegExp): string[] {
  return listSourceFiles(join(root, folder))
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) =>
      pattern.test(readFileSync(join(root, folder, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')),
    )
    .sort();
}

test('connections are opened in few places: to providers, to the database, to ourselves, and for prices, reports, alerts and sign-ins', () => {
  const opening =
    /(?<!\.)\bfetch\(|\b(?:net|tls|http|https|http2)\.(?:connect|request|get)\(|\bnew (?:Socket|WebSocket|EnvHttpProxyAgent|pg\.Pool|pg\.Client)\b|'undici'|'node:https'|connectTls\(/;
  expect(filesWith('src', opening)).toEqual([
    'cli/doctor-command.ts',
    'cli/gateway-client.ts',
    'cli/reconcile/fetch-report.ts',
    'cli/upload.ts',
    'control/admin/oidc/fetch-by-proxy.ts',
    'control/alerts/post-json.ts',
    'control/prices/declared/fetch-feed.ts',
    'control/store/pool.ts',
    'control/store/single-connection.ts',
    'proxy/upstream/upstream-connector.ts',
    'supervisor/admin-access.ts',
    'supervisor/postgres/postgres-connection.ts',
  ]);
});

test('connections to the database are handed out in one folder, which sees to it that one that breaks ends no process', () => {
  const taking = /\bpool\.connect\(|\bclient\.connect\(|Pool\)?\.connect\(|\bnew (?:pg\.)?(?:Pool|Client)\(/;
  expect(filesWith('src', taking)).toEqual([
    'control/store/pool.ts',
    'control/store/single-connection.ts',
    // Asks whether the server answers, while there may be none.
    'supervisor/postgres/postgres-connection.ts',
  ]);
});

test('programs are started by the supervisor, to make it a service, and by `tollgate run`; no text is ever run as code', () => {
  expect(filesWith('src', /node:child_process|node:cluster/).filter((file) => !file.startsWith('supervisor/'))).toEqual(
    ['cli/run/git-metadata.ts', 'cli/run/run-program.ts', 'cli/systemd/machine.ts'],
  );
  for (const folder of ['src', 'dashboard/src'])
    expect(filesWith(folder, /\beval\(|new Function\b|node:vm|setTimeout\(\s*['"`]|javascript:/)).toEqual([]);
});

test('the dashboard sets no HTML and keeps no token', () => {
  const html = /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|srcdoc/i;
  expect(filesWith('dashboard/src', html)).toEqual([]);
  expect(filesWith('dashboard/src', /(?:local|session)Storage[^\n]*(?:token|key|secret)/i)).toEqual([]);
});

test('answers of providers are not cached, and no certificate goes unchecked', () => {
  expect(filesWith('src', /rejectUnauthorized:\s*false|NODE_TLS_REJECT_UNAUTHORIZED|checkServerIdentity:/)).toEqual([]);
  expect(filesWith('src/proxy', /Cache\b|cacheable/)).toEqual([]);
});
