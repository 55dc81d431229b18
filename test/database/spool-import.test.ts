/** The spool of a node that is gone on its way into another: found, looked at, sent, taken in whole or not at all. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openLedgerFile } from '../../src/control/ledger/ledger-file.ts';
import { createSpoolImports } from '../../src/control/process/spool-imports.ts';
import { CallTally } from '../../src/spool/call-tally.ts';
import { findNodeId } from '../../src/spool/find-node-id.ts';
import { watchForeignDirectories } from '../../src/spool/foreign-directories.ts';
import { findProcesses, inspectProcess } from '../../src/spool/inspect-spool.ts';
import { finishReceived, receivePackage } from '../../src/spool/receive-package.ts';
import { packSpool } from '../../src/spool/spool-package.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import { callBegin, callEnd } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { quietLog } from '../support/quiet-log.ts';

let root: string;
let importDir: string;
let spoolDir: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-import-'));
  importDir = join(root, 'own', 'spool-import');
  spoolDir = join(root, 'own', 'spool');
  for (const dir of [spoolDir, importDir]) mkdirSync(dir, { recursive: true });
  return () => rmSync(root, { recursive: true, force: true });
});

/** A data directory `gone` whose spool has one process with three calls that ended, and one that is open. */
async function writeGone(): Promise<string> {
  const dir = join(root, 'gone', 'spool', 'p-1');
  const spool = openSpoolWriter({ dir, preparedDir: join(root, 'standby'), durability: 'process', log: quietLog() });
  for (const number of [1, 2, 3, 4]) {
    const begin = callBegin(number, { ordinal: number });
    await new Promise((resolve) => spool.begin(begin, resolve));
    if (number < 4) await new Promise((resolve) => spool.end(begin, callEnd(number), [], resolve));
  }
  await spool.close();
  return dir;
}

function segmentOf(dir: string): string {
  const name = readdirSync(dir).find((file) => file.startsWith('seg-'));
  return join(dir, name ?? 'none');
}

const problemsOf = async (dir: string) =>
  (await Promise.all((await findProcesses(dir)).map(inspectProcess))).flatMap(({ problems }) => problems);

const receive = (source: AsyncIterable<Uint8Array>) =>
  receivePackage(source, { importDir, spoolDir, check: async () => {} });

async function* chopped(source: AsyncIterable<Uint8Array>, most: number, until = Number.POSITIVE_INFINITY) {
  let sent = 0;
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += most) {
      const part = chunk.subarray(at, at + most);
      if (sent + part.length > until) return;
      sent += part.length;
      yield part;
    }
}

test('a disk that is full meanwhile is said as such, and nothing is left', async () => {
  const imports = createSpoolImports({
    importDir,
    spoolDir,
    nodeId: '0b0c7d5e-6d6f-4c1a-9a53-0d6a4c1f2b3e',
    onReceived: () => {},
    pool: openTestPool('postgresql://127.0.0.1:1/none'),
    listLiveSpools: () => [],
  });
  async function* brokenOff() {
    yield Buffer.from('{"format":');
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  }
  await expect(imports.receive(brokenOff())).rejects.toMatchObject({
    status: 503,
    code: 'disk_full',
    message: 'The disk of the data directory is full. Nothing was taken; make room, or import into another node.',
  });
  expect(readdirSync(importDir)).toEqual([]);
});

test('of which node a spool is, its data directory says, also by its folder and by one folder in there', async () => {
  const dir = await writeGone();
  const id = '0b0c7d5e-6d6f-4c1a-9a53-0d6a4c1f2b3e';
  expect(findNodeId(dir)).toBeNull();
  writeFileSync(join(root, 'gone', 'node.json'), JSON.stringify({ id }));
  for (const given of [join(root, 'gone'), join(root, 'gone', 'spool'), dir]) expect(findNodeId(given)).toBe(id);
  cpSync(dir, join(root, 'gone', 'copy'), { recursive: true });
  expect(findNodeId(join(root, 'gone', 'copy'))).toBeNull();
});

test('a spool is found by the data directory, by its folder and by one folder in there, and nowhere else', async () => {
  const dir = await writeGone();
  for (const given of [join(root, 'gone'), join(root, 'gone', 'spool'), dir])
    expect((await findProcesses(given)).map(({ name }) => name)).toEqual(['p-1']);
  expect(await findProcesses(root)).toEqual([]);
  expect(await findProcesses(join(root, 'nowhere'))).toEqual([]);
});

test('what is whole has no problem and says how many endings wait; what was laid out and never written is whole', async () => {
  const dir = await writeGone();
  appendFileSync(segmentOf(dir), Buffer.alloc(100_000));
  const [process] = await findProcesses(dir);
  if (process === undefined) throw new Error('not found');
  expect(await inspectProcess(process)).toEqual({ problems: [], endings: 3 });
});

test('a file that ends in a record, a file that is missing, and a beginning that is missing are found', async () => {
  const dir = await writeGone();
  const segment = segmentOf(dir);
  cpSync(segment, join(dir, 'seg-00000003.log'));
  expect(await problemsOf(dir)).toEqual(['p-1: seg-00000002.log is missing']);
  rmSync(join(dir, 'seg-00000003.log'));
  const { length } = readFileSync(segment);
  for (const cut of [1, 7, Math.floor(length / 3), length - 15]) {
    const copy = join(root, `cut-${cut}`);
    cpSync(dir, copy, { recursive: true });
    truncateSync(segmentOf(copy), length - cut);
    expect([cut, await problemsOf(copy)]).toEqual([
      cut,
      [`cut-${cut}: seg-00000001.log ends in the middle of a record`],
    ]);
  }
  cpSync(segment, join(dir, 'seg-00000002.log'));
  rmSync(segment);
  expect(await problemsOf(dir)).toEqual([
    'p-1: its beginning is missing: there is no cursor.json, and no seg-00000001.log',
  ]);
});

test.each([1, 7, 65_536])('what is sent in pieces of %i bytes is taken in as it was', async (most) => {
  const dir = await writeGone();
  const received = await receive(
    chopped(
      packSpool(await findProcesses(dir), async () => {}),
      most,
    ),
  );
  expect(received.names).toEqual(['p-1']);
  expect(readFileSync(segmentOf(join(spoolDir, 'p-1')))).toEqual(readFileSync(segmentOf(dir)));
  expect(readdirSync(importDir)).toEqual([]);
});

test('of what breaks off, wherever that is, nothing is taken and nothing is left', async () => {
  const dir = await writeGone();
  const whole: Uint8Array[] = [];
  for await (const chunk of packSpool(await findProcesses(dir), async () => {})) whole.push(chunk);
  const { length } = Buffer.concat(whole);
  for (const until of [0, 10, 400, Math.floor(length / 2), length - 7, length - 1]) {
    const source = chopped(
      packSpool(await findProcesses(dir), async () => {}),
      1,
      until,
    );
    await expect(receive(source)).rejects.toThrow('The end is missing');
    expect([until, readdirSync(spoolDir), readdirSync(importDir)]).toEqual([until, [], []]);
  }
});

test('of what has changed while it was sent nothing is taken', async () => {
  const dir = await writeGone();
  const changed = packSpool(await findProcesses(dir), () => Promise.reject(new Error('it has changed')));
  await expect(receive(changed)).rejects.toThrow('it has changed');
  expect(readdirSync(spoolDir)).toEqual([]);
});

test.each(['../evil', '/etc', '.', '..', 'a/b', '', '.hidden'])('a directory named %j is refused', async (name) => {
  const list = { format: 'tollgate spool', version: 1, processes: [{ name, files: [] }] };
  async function* send() {
    yield Buffer.from(`${JSON.stringify(list)}\nwhole\n`);
  }
  await expect(receive(send())).rejects.toThrow('This is not the spool of a node');
  expect([readdirSync(spoolDir), readdirSync(importDir)]).toEqual([[], []]);
});

test('what was received when its gateway died is brought in at the next start, what was half received is removed', async () => {
  const dir = await writeGone();
  cpSync(dir, join(importDir, 'first', 'p-1'), { recursive: true });
  writeFileSync(join(importDir, 'first', 'whole'), '');
  cpSync(dir, join(importDir, 'second', 'p-2'), { recursive: true });
  expect(await finishReceived(importDir, spoolDir)).toEqual(['p-1']);
  expect(readdirSync(spoolDir)).toEqual(['p-1']);
  expect(readdirSync(importDir)).toEqual([]);
});

test('a folder that somebody puts into a spool is left alone while it changes, and while a file ends in a record', async () => {
  const dir = await writeGone();
  const quietMs = 150;
  const foreign = watchForeignDirectories(spoolDir, quietMs);
  expect(await foreign.look(['own-1'])).toEqual({ settled: ['own-1'], isHolding: false });
  const bytes = readFileSync(segmentOf(dir));
  const copy = join(spoolDir, 'p-1');
  mkdirSync(copy);
  writeFileSync(join(copy, 'seg-00000001.log'), bytes.subarray(0, bytes.length - 20));
  const look = () => foreign.look(['own-1', 'p-1']);
  const held = { settled: ['own-1'], isHolding: true };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 2 * quietMs));
  expect(await look()).toEqual(held);
  await pause();
  expect(await look()).toEqual(held);
  appendFileSync(join(copy, 'seg-00000001.log'), bytes.subarray(bytes.length - 20));
  expect(await look()).toEqual(held);
  await pause();
  expect(await look()).toEqual({ settled: ['own-1', 'p-1'], isHolding: false });
  foreign.know(['p-2']);
  // A folder without a file of a spool has nothing that waits.
  expect(await foreign.look(['p-2', 'p-3'])).toEqual({ settled: ['p-2'], isHolding: false });
});

test('a directory that comes a second time is accounted for once, by the more complete of the two', async () => {
  const accounts = openLedgerFile(join(root, 'call-accounts.json'));
  const tallyOf = (calls: number) => {
    const tally = CallTally.empty();
    for (let ordinal = 1; ordinal <= calls; ordinal += 1) {
      tally.note({ ordinal, outcome: 'ok' });
      tally.store({ ordinal, outcome: 'ok' });
    }
    return tally;
  };
  const take = (name: string, calls: number) =>
    accounts.takeIn({ name, tally: tallyOf(calls), losses: { calls: 0, entries: [] } }, 0);
  await take('p-0', 5);
  await take('p-1', 143);
  await take('p-1', 400);
  await take('p-1', 400);
  await take('p-1', 0);
  expect(await accounts.read()).toMatchObject({ accepted: 405, stored: 405, lost: 0, outcomes: { ok: 405 } });
});
