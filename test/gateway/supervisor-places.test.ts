/** Where a gateway must work: as root, as another user, from a long path, with data under a closed home. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync } from 'node:fs';
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
if (!isRoot) process.stderr.write('NOT RUN, for want of root: how a gateway works as other users, and in containers\n');
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

  const OTHER = 23_456;
  const asOther = (uid = OTHER) => ['setpriv', `--reuid=${uid}`, `--regid=${OTHER}`, '--clear-groups'];

  test('a volume that a group may write is enough, also when its files are opened to the group before each start', async () => {
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, 0, OTHER);
    chmodSync(dataDir, 0o2770);
    const env = { HOME: '', TMPDIR: '' };
    await startAndStop({ dataDir, prefix: asOther(), env });
    expect(statSync(dataDir).mode & 0o7777).toBe(0o2770);
    expect(statSync(join(dataDir, 'admin.json')).mode & 0o777).toBe(0o600);
    // As Kubernetes does for `fsGroup`.
    execFileSync('chgrp', ['-R', String(OTHER), dataDir]);
    execFileSync('chmod', ['-R', 'g+rwX', dataDir]);
    await startAndStop({ dataDir, prefix: asOther(), env });
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
  });

  test('a folder that everybody may write works, with a warning', async () => {
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o777);
    const run = runGateway({ dataDir, prefix: asOther() });
    await run.logged('ready');
    const warned = run.log().filter(({ msg }) => String(msg).startsWith('TOLLGATE_DATA_DIR: '));
    expect(warned.map(({ msg }) => msg)).toEqual([
      `TOLLGATE_DATA_DIR: everybody on this machine may replace files in ${dataDir}; let its owner close it (chmod o-rwx)`,
    ]);
    run.kill('SIGTERM');
    expect(await run.exited).toEqual({ code: 0, signal: null });
  });

  test('files of another user of the volume are named, with both ways out', async () => {
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, 0, OTHER);
    chmodSync(dataDir, 0o2770);
    await startAndStop({ dataDir, prefix: asOther() });
    const closed = runGateway({ dataDir, prefix: asOther(34_567) });
    expect(await closed.exited).toEqual({ code: 1, signal: null });
    expect(closed.stderr()).toContain(
      `tollgate: TOLLGATE_DATA_DIR: ${join(dataDir, 'keys.json')} belongs to user 23456, and user 34567 may not use it: start Tollgate as user 23456, or give it the files (chown -R 34567 ${dataDir})`,
    );
    execFileSync('chmod', ['-R', 'g+rwX', dataDir]);
    const open = runGateway({ dataDir, prefix: asOther(34_567) });
    expect(await open.exited).toEqual({ code: 1, signal: null });
    expect(open.stderr()).toContain(`${join(dataDir, 'postgres')} belongs to user 23456, and PostgreSQL runs only as`);
  });

  test('a user without a name, where there are no user namespaces, is told what to do; not once there is a cluster', async () => {
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, OTHER, OTHER);
    // A `mkfifo` and a `setpriv`, but no `unshare`.
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    for (const name of ['mkfifo', 'setpriv']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    const refused = runGateway({ dataDir, prefix: asOther(), env: { PATH: bin } });
    expect(await refused.exited).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(
      /^tollgate: DATABASE_URL is not set, .*user, 23456, has no name here.*\/etc\/passwd.*$/m,
    );
    expect(await startAndStop({ dataDir, prefix: asOther() })).toBe('user namespace');
    expect(await startAndStop({ dataDir, prefix: asOther(), env: { PATH: bin } })).toBe('own user');
  });

  test('with a tiny /dev/shm PostgreSQL keeps its shared memory in files', async () => {
    // The folders of the tests may lie in /dev/shm themselves.
    const outside = mkdtempSync('/var/tmp/tg-');
    chmodSync(outside, 0o755);
    try {
      const dataDir = join(outside, 'data');
      const shell = 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"';
      await startAndStop({ dataDir, prefix: ['unshare', '--mount', 'sh', '-c', shell, 'sh'] });
      const settings = readFileSync(join(dataDir, 'postgres', 'postgresql.conf'), 'utf8');
      expect(settings).toContain("dynamic_shared_memory_type = 'mmap'");
      await startAndStop({ dataDir });
    } finally {
      removeTestDir(outside);
    }
  });

  test('a user without a name (a bare number) uses a user namespace', async () => {
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, 54_321, 54_321);
    const prefix = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'];
    expect(await startAndStop({ dataDir, prefix })).toBe('user namespace');
  });
}
