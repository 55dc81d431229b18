/**
 * `npm run bench:backup`: a large log from a gateway with the embedded PostgreSQL into one with a served PostgreSQL 15, and
 * from there into a fresh embedded one. Exit code 1 when the three do not hold the same.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startGateway, type TestGateway } from '../../test/gateway/start-gateway.ts';
import { POSTGRES_KINDS, startPostgres } from '../../test/postgres.ts';
import { embeddedUrl } from '../kill/gateway-database.ts';
import { fillLog } from './fill-log.ts';
import { type Measured, runCommand } from './run-command.ts';
import { type Content, sumContent } from './sum-content.ts';

const USAGE = `npm run bench:backup -- [options]
  --calls N      calls in the log, one in five with bodies (1000000)
  --json         the results as JSON on standard output`;

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const MIB = 1_048_576;
const say = (text: string) => process.stderr.write(`${text}\n`);

interface Step extends Measured {
  readonly name: string;
  readonly fileBytes: number;
}

interface Results {
  readonly server: string;
  readonly steps: readonly Step[];
  /** By place: the first gateway, the served database, the second gateway. */
  readonly contents: readonly [string, Content][];
}

async function withGateway<T>(env: Readonly<Record<string, string>>, work: (g: TestGateway) => Promise<T>): Promise<T> {
  const gateway = await startGateway({ env });
  try {
    return await work(gateway);
  } finally {
    await gateway.stop();
  }
}

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const startedMs = performance.now();
  await fillLog(client, Number(options.calls));
  await client.end();
  say(`${options.calls} calls made in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
}

async function measure(dir: string): Promise<Results> {
  const steps: Step[] = [];
  const contents: [string, Content][] = [];
  const step = async (name: string, file: string, gateway: TestGateway, args: readonly string[]): Promise<void> => {
    const measured = await runCommand(gateway, args);
    steps.push({ name, ...measured, fileBytes: statSync(file).size });
    say(`${name}: ${measured.seconds.toFixed(1)} s`);
  };
  const note = async (place: string, url: string): Promise<void> => {
    contents.push([place, await sumContent(url)]);
  };
  const first = join(dir, 'first.backup');
  const second = join(dir, 'second.backup');

  await withGateway({}, async (gateway) => {
    const url = embeddedUrl(gateway.dataDir);
    await fill(url);
    await step('backup, embedded', first, gateway, ['backup', first]);
    await note('embedded', url);
  });

  // Where version 15 is not installed, another server of the embedded version stands for it.
  const kind = POSTGRES_KINDS.find(({ name }) => name.includes('15')) ?? POSTGRES_KINDS[0];
  if (kind === undefined) throw new Error('no PostgreSQL');
  const server = await startPostgres(kind, []);
  try {
    const url = await server.createDatabase('tollgate');
    await withGateway({ DATABASE_URL: url }, async (gateway) => {
      await step(`restore, ${kind.name}`, first, gateway, ['restore', first, '--replace', '--yes']);
      await note(kind.name, url);
      await step(`backup, ${kind.name}`, second, gateway, ['backup', second]);
    });
  } finally {
    await server.remove();
  }

  await withGateway({}, async (gateway) => {
    await step('restore, embedded', second, gateway, ['restore', second, '--replace', '--yes']);
    await note('embedded again', embeddedUrl(gateway.dataDir));
  });
  return { server: kind.name, steps, contents };
}

function formatStep({ name, seconds, rows, bytes, fileBytes, peakMb, startMb }: Step): string {
  return [
    name,
    `  time           ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s (${rows} rows)`,
    `  size           ${(fileBytes / MIB).toFixed(1)} MiB of ${(bytes / MIB).toFixed(1)} MiB of text (${(bytes / fileBytes).toFixed(1)}×)`,
    `  control, peak  ${Math.round(peakMb)} MB of ${Math.round(startMb)} MB (${(peakMb / startMb).toFixed(2)}× of its start)`,
  ].join('\n');
}

/** Of each sum and each table: the values, which should be one. */
function listDifferences(contents: Results['contents']): readonly string[] {
  const names = new Set(contents.flatMap(([, { sums, tables }]) => [...Object.keys(sums), ...Object.keys(tables)]));
  const unequal = [...names].flatMap((name) => {
    const values = contents.map(([, { sums, tables }]) => `${sums[name]} ${tables[name]}`);
    return new Set(values).size === 1 ? [] : [`${name}: ${values.join(' | ')}`];
  });
  const rollups = contents.flatMap(([place, { differences }]) =>
    differences === 0 ? [] : [`${place}: ${differences} roll-ups do not equal the records`],
  );
  return [...unequal, ...rollups];
}

async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-backup-'));
  try {
    const results = await measure(dir);
    const differences = listDifferences(results.contents);
    const sums = Object.entries(results.contents[0]?.[1].sums ?? {});
    const text = [
      ...results.steps.map(formatStep),
      `sums of the first, each the same in all ${results.contents.length} databases unless named below`,
      ...sums.map(([name, value]) => `  ${name.padEnd(29)} ${value}`),
      differences.length === 0
        ? 'every row of every table is the same, and roll-ups equal the records'
        : differences.join('\n'),
    ].join('\n');
    process.stdout.write(`${options.json ? JSON.stringify({ ...results, differences }, null, 2) : text}\n`);
    process.exitCode = differences.length === 0 ? 0 : 1;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

if (options.help) process.stdout.write(`${USAGE}\n`);
else await run();
