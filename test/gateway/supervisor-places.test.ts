/** Where a gateway must work: as root, as another user, from a long path, with data under a closed home. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyBinaries, findBinaries } from '../../src/supervisor/postgres/postgres-binaries.ts';
import { createTestDir, type GatewayOptions, listProcesses, removeTestDir, runGateway } from './run-gateway.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

let dir = '';
beforeEach(() => {
  dir = createTestDir();
});
afterEach(() => removeTestDir(dir));

/** Starts and stops; gives back as whom PostgreSQL ran. */
async function startAndStop(options: GatewayOptions): Promise<unknown> {
  const run = runGateway(options);
  const { runsAs } = await run.logged('PostgreSQL ready');
  await run.logged('ready');
  run.kill('SIGTERM');
  expect(await run.exited).toEqual({ code: 0, signal: null });
  expect(listProcesses(options.dataDir)).toEqual([]);
  return runsAs;
}

test('from a path of more than 150 characters the socket is in a short folder, which is removed', async () => {
  const dataDir = join(dir, 'a'.repeat(80), 'b'.repeat(80));
  await startAndStop({ dataDir });
});

test('a path with spaces, quotes and letters beyond ASCII works', async () => {
  await startAndStop({ dataDir: join(dir, `it's "my" dätä`) });
});

test('a copy of the binaries runs from where it was copied to', () => {
  const copy = copyBinaries(findBinaries(dir), dir);
  expect(copy.postgres).toBe(join(dir, `postgres-binaries-${copy.version}`, 'bin', 'postgres'));
  expect(execFileSync(copy.postgres, ['--version'], { encoding: 'utf8' })).toBe(
    `postgres (PostgreSQL) ${copy.version}\n`,
  );
});

// The rest needs root to become somebody else; continuous integration runs as root in a container.
if (isRoot) {
  test('as root, PostgreSQL runs as nobody', async () => {
    const dataDir = join(dir, 'data');
    expect(await startAndStop({ dataDir })).toBe('nobody');
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(NOBODY);
    expect(statSync(dataDir).mode & 0o777).toBe(0o711);
  });

  test('as another user, PostgreSQL runs as that user', async () => {
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, NOBODY, NOBODY);
    const prefix = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    expect(await startAndStop({ dataDir, prefix, env: { HOME: '/nonexistent' } })).toBe('own user');
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  test('with data under a home that is closed to others, root uses a user namespace, and changes owners when it opens', async () => {
    const home = join(dir, 'home');
    mkdirSync(home, { mode: 0o700 });
    const dataDir = join(home, 'data');
    expect(await startAndStop({ dataDir })).toBe('user namespace');
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(0);
    chmodSync(home, 0o755);
    expect(await startAndStop({ dataDir })).toBe('nobody');
    expect(statSync(join(dataDir, 'postgres', 'base')).uid).toBe(NOBODY);
    chmodSync(home, 0o700);
    expect(await startAndStop({ dataDir })).toBe('user namespace');
    expect(statSync(join(dataDir, 'postgres', 'base')).uid).toBe(0);
  });

  test('without user namespaces, data that nobody can reach are refused in one line with both ways out', async () => {
    const home = join(dir, 'home');
    mkdirSync(home, { mode: 0o700 });
    const run = runGateway({ dataDir: join(home, 'data'), env: { PATH: dir } });
    expect(await run.exited).toEqual({ code: 1, signal: null });
    expect(run.stderr()).toMatch(/^tollgate: DATABASE_URL is not set, .* set TOLLGATE_DATA_DIR .*$/m);
  });

  test('a user without a name (a bare number) uses a user namespace', async () => {
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, 54_321, 54_321);
    const prefix = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'];
    expect(await startAndStop({ dataDir, prefix })).toBe('user namespace');
  });
}
