/** Every place that a gateway writes to or answers from, read as text, to be searched for what must not be there. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { asRecord, COMPILE_CACHE, readAdminFile, type TestGateway } from './start-gateway.ts';

const root = join(import.meta.dirname, '..', '..');

export interface Sink {
  readonly name: string;
  readonly content: Buffer;
}

export function openDatabase(dataDir: string): pg.Client {
  const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim();
  const socket = encodeURIComponent(join(dataDir, 'socket'));
  return new pg.Client({ connectionString: `postgresql://tollgate:${password}@/tollgate?host=${socket}` });
}

/** Each table that is no part of another, whole, as text; partitions are in theirs. */
export async function readTables(dataDir: string): Promise<Sink[]> {
  const client = openDatabase(dataDir);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const sinks: Sink[] = [];
    for (const { name } of rows) {
      const { rows: texts } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      sinks.push({ name: `table ${name}`, content: Buffer.from(texts.map(({ text }) => text).join('\n')) });
    }
    return sinks;
  } finally {
    await client.end();
  }
}

/** All files below the data directory: spool, quarantine, keys, notes, the cluster of PostgreSQL with its log. */
export function readDataFiles(dataDir: string): Sink[] {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(dataDir, name);
    const isCode = name.startsWith('compile-cache') || name.startsWith('postgres-binaries');
    if (isCode || !statSync(path, { throwIfNoEntry: false })?.isFile()) return [];
    return [{ name: `file ${name}`, content: readFileSync(path) }];
  });
}

/** The answers of all routes that can be asked without an argument, and of all calls with their bodies. */
export async function readApi(gateway: TestGateway, ids: readonly string[]): Promise<Sink[]> {
  const { token } = readAdminFile(gateway.dataDir);
  const document = asRecord(await gateway.api('/api/v1/openapi.json'));
  const plain = Object.entries(asRecord(document['paths']))
    .filter(([path, methods]) => 'get' in asRecord(methods) && !/[{}]|stream/.test(path))
    .map(([path]) => path);
  const paths = [
    ...plain,
    '/healthz',
    '/readyz',
    '/metrics',
    '/api/v1/openapi.json',
    '/api/v1/export?kind=logs&format=csv',
    '/api/v1/export?kind=logs&format=ndjson',
    '/api/v1/export?kind=runs&format=csv',
    '/api/v1/export?kind=run&trace_id=canary&format=ndjson',
    '/api/v1/run?trace_id=canary',
    '/api/v1/run/calls?trace_id=canary',
    '/api/v1/costs?group_by=model',
    ...ids.flatMap((id) => ['', '/request', '/response'].map((part) => `/api/v1/logs/${id}${part}`)),
  ];
  const sinks: Sink[] = [];
  for (const path of paths) {
    const answer = await fetch(gateway.adminBase + path, { headers: { authorization: `Bearer ${token}` } });
    const heads = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    sinks.push({ name: `GET ${path}`, content: Buffer.from(`${heads}\n${await answer.text()}`) });
  }
  return sinks;
}

/** What the command line prints, on both of its streams. */
export async function readCommands(gateway: TestGateway): Promise<Sink[]> {
  const commands = [['doctor'], ['doctor', '--json'], ['logs', '--json'], ['runs'], ['keys', 'list']];
  return Promise.all(
    commands.map(async (command): Promise<Sink> => {
      const content = await new Promise<string>((resolve) => {
        const env = {
          PATH: process.env['PATH'],
          TOLLGATE_DATA_DIR: gateway.dataDir,
          NODE_COMPILE_CACHE: COMPILE_CACHE,
        };
        const args = [join(root, 'src/main.ts'), ...command];
        execFile(process.execPath, args, { env }, (_error, stdout, stderr) => resolve(stdout + stderr));
      });
      return { name: `tollgate ${command.join(' ')}`, content: Buffer.from(content) };
    }),
  );
}

/** Names of the sinks that contain the text. */
export function findIn(sinks: readonly Sink[], text: string): string[] {
  return sinks.filter(({ content }) => content.includes(text)).map(({ name }) => name);
}

const SHOWN_BEFORE = 80;

/** The same with what stands around each hit, so that a failure says what leaked. */
export function showIn(sinks: readonly Sink[], text: string): string[] {
  return sinks.flatMap(({ name, content }) => {
    const at = content.indexOf(text);
    return at === -1 ? [] : [`${name}: ${content.toString('latin1', Math.max(0, at - SHOWN_BEFORE), at + 60)}`];
  });
}
