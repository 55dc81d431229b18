import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultDataDir } from '../vocabulary/default-data-dir.ts';
import { createOwnCommand, type StartedProgram } from './own-command.ts';

let folder: string;
let started: StartedProgram;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tollgate-command-')));
  mkdirSync(join(folder, 'opt/tollgate/bin'), { recursive: true });
  mkdirSync(join(folder, 'usr/bin'), { recursive: true });
  writeFileSync(join(folder, 'opt/tollgate/bin/tollgate'), '#!/bin/sh\n');
  chmodSync(join(folder, 'opt/tollgate/bin/tollgate'), 0o755);
  symlinkSync(join(folder, 'opt/tollgate/bin/tollgate'), join(folder, 'usr/bin/tollgate'));
  started = {
    root: join(folder, 'opt/tollgate'),
    isClone: false,
    isService: false,
    cwd: '/',
    hostname: '3f2a9c',
    dataDir: defaultDataDir({}),
    env: { PATH: '/nowhere' },
    hasFile: () => false,
  };
});
afterAll(() => rmSync(folder, { recursive: true }));

test('in the folder of a clone it is the link that lies there, elsewhere its whole path, and never npx', () => {
  const clone = { ...started, root: '/src/my tollgate', isClone: true };
  expect(createOwnCommand({ ...clone, cwd: '/src/my tollgate' })('login')).toBe('./tollgate login');
  expect(createOwnCommand({ ...clone, cwd: '/home/me' })('login')).toBe("'/src/my tollgate/tollgate' login");
});

test('an installed program is named by its name only where the shell finds this very one', () => {
  expect(createOwnCommand(started)('login')).toBe(`${folder}/opt/tollgate/bin/tollgate login`);
  expect(createOwnCommand({ ...started, env: { PATH: `/nowhere:${folder}/usr/bin` } })('login')).toBe('tollgate login');
});

test('a data directory that the next shell would not look for stands behind it', () => {
  const elsewhere = {
    ...started,
    env: { PATH: `${folder}/usr/bin`, TOLLGATE_DATA_DIR: '/srv/x y' },
    dataDir: '/srv/x y',
  };
  expect(createOwnCommand(elsewhere)('keys create laptop')).toBe("tollgate keys create laptop --data-dir '/srv/x y'");
});

test('a service is asked as root, for whom its usual directory is the default', () => {
  const service = { ...started, isService: true, env: { PATH: `${folder}/usr/bin` } };
  expect(createOwnCommand({ ...service, dataDir: '/var/lib/tollgate' })('login')).toBe('sudo tollgate login');
  expect(createOwnCommand({ ...service, dataDir: '/var/lib/tollgate-eu' })('login')).toBe(
    'sudo tollgate login --data-dir /var/lib/tollgate-eu',
  );
});

test('in a container it is typed from outside, by the name that the container has there', () => {
  const container = { ...started, dataDir: '/data' };
  expect(createOwnCommand({ ...container, hasFile: (path) => path === '/.dockerenv' })('login')).toBe(
    'docker exec 3f2a9c tollgate login',
  );
  expect(createOwnCommand({ ...container, hasFile: (path) => path === '/run/.containerenv' })('login')).toBe(
    'podman exec 3f2a9c tollgate login',
  );
  expect(createOwnCommand({ ...container, env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } })('login')).toBe(
    'kubectl exec 3f2a9c -- tollgate login',
  );
});
