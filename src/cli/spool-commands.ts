/** `tollgate spool import`: takes in the spool of a node that is gone, from its disk or a copy. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { findNodeId } from '../spool/find-node-id.ts';
import { type FoundProcess, findProcesses, inspectProcess } from '../spool/inspect-spool.ts';
import { packSpool } from '../spool/spool-package.ts';
import { OperatorError } from '../vocabulary/errors.ts';
import { formatBytes, formatCount } from '../vocabulary/format-amounts.ts';
import { type ClientFlags, createGatewayClient, type GatewayClient } from './gateway-client.ts';
import { ownCommand } from './hints.ts';
import { createOutput, type Output } from './output.ts';
import { readNodes } from './read-nodes.ts';
import { quoteForShell, terminalText } from './terminal-text.ts';

/** The spool must be unchanged for this long, since a copy may pause. */
const QUIET_MS = 15_000;
const POLL_MS = 500;
/** A longer copy is not waited for. */
const PATIENCE_MS = 10 * 60_000;
const GONE_PATIENCE_MS = 60_000;
const STORE_LIMIT_MS = 60 * 60_000;

interface ImportFlags extends ClientFlags {
  readonly asIs?: true;
  readonly unknownNode?: true;
  readonly wait?: boolean;
}

const Received = z.object({ names: z.array(z.string()), bytes: z.number() });
const State = z.object({
  waiting: z.array(z.string()),
  live_node: z.string().nullable(),
  unknown: z.array(z.string()),
});

function describe(processes: readonly FoundProcess[]): string {
  return JSON.stringify(processes.map(({ name, files }) => [name, files]));
}

async function findQuiet(dir: string, tell: (line: string) => void): Promise<readonly FoundProcess[]> {
  const endMs = performance.now() + PATIENCE_MS;
  let found = await findProcesses(dir);
  let sinceMs = performance.now();
  let isTold = false;
  while (performance.now() - sinceMs < QUIET_MS) {
    if (found.length === 0)
      throw new OperatorError(
        `there is no spool in ${dir}: give the data directory of the node, its folder spool, or one folder in that`,
      );
    if (performance.now() > endMs)
      throw new OperatorError(`${dir} goes on changing: is the node alive, or is it being copied? Nothing was taken`);
    if (!isTold) tell(`Waiting until nothing in ${dir} has changed for ${QUIET_MS / 1_000} s…`);
    isTold = true;
    await sleep(POLL_MS);
    const next = await findProcesses(dir);
    if (describe(next) !== describe(found)) sinceMs = performance.now();
    found = next;
  }
  return found;
}

async function inspectAll(processes: readonly FoundProcess[], isAsIs: boolean): Promise<number> {
  const inspections = await Promise.all(processes.map(inspectProcess));
  const problems = inspections.flatMap((inspection) => inspection.problems);
  const [first] = problems;
  if (first !== undefined && !isAsIs) {
    const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
    throw new OperatorError(
      `it is not whole: ${first}${more}. Nothing was taken. Copy it again; if this is all that is left of it (a power cut does that), add --as-is`,
    );
  }
  return inspections.reduce((sum, { endings }) => sum + endings, 0);
}

function readState(
  client: GatewayClient,
  names: readonly string[],
  nodeId: string | null = null,
): Promise<z.infer<typeof State>> {
  const query = new URLSearchParams(names.map((name) => ['name', name]));
  if (nodeId !== null) query.set('node', nodeId);
  return client.ask(State, `/api/v1/spool/import?${query}`);
}

/** Keys are numbers: the calls of another deployment would be attributed to keys of this one. */
async function refuseUnknown(client: GatewayClient, dir: string, names: readonly string[]): Promise<void> {
  const { unknown } = await readState(client, names, findNodeId(dir));
  const [first] = unknown;
  if (first === undefined) return;
  throw new OperatorError(
    `no node of this database is known to have had ${terminalText(first)}: in the spool of another deployment the keys have other numbers, and its calls would be put on wrong ones. Nothing was taken. If it is of a node that was forgotten, or of an older release, or began seconds before its end, add --unknown-node`,
  );
}

/** A node that has just died may still look alive. */
async function waitUntilGone(
  client: GatewayClient,
  names: readonly string[],
  tell: (line: string) => void,
): Promise<void> {
  const endMs = performance.now() + GONE_PATIENCE_MS;
  let isTold = false;
  for (;;) {
    const { live_node: node } = await readState(client, names);
    if (node === null) return;
    if (performance.now() > endMs)
      throw new OperatorError(
        `the node ${terminalText(node)} lives, and stores this spool by itself; nothing was taken`,
      );
    if (!isTold) tell(`Waiting whether the node ${terminalText(node)} gives another sign of life…`);
    isTold = true;
    await sleep(POLL_MS);
  }
}

async function waitUntilStored(client: GatewayClient, names: readonly string[]): Promise<void> {
  const endMs = performance.now() + STORE_LIMIT_MS;
  while (performance.now() < endMs) {
    const { waiting } = await readState(client, names);
    if (waiting.length === 0) return;
    await sleep(POLL_MS);
  }
  throw new OperatorError(
    'it was taken in, and is not all stored after an hour; `tollgate doctor` says what it waits for',
  );
}

async function importSpool(dir: string, flags: ImportFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const tell = (line: string): void => void process.stderr.write(`${line}\n`);
  const processes = await findQuiet(dir, tell);
  await waitUntilGone(
    client,
    processes.map(({ name }) => name),
    tell,
  );
  if (flags.unknownNode !== true)
    await refuseUnknown(
      client,
      dir,
      processes.map(({ name }) => name),
    );
  const records = await inspectAll(processes, flags.asIs === true);
  const before = describe(processes);
  const confirm = async (): Promise<void> => {
    if (describe(await findProcesses(dir)) === before) return;
    throw new OperatorError(`${dir} has changed while it was read; nothing was taken. Try again when that is over`);
  };
  const { names, bytes } = await client.upload(Received, '/api/v1/spool/import', packSpool(processes, confirm));
  const isStored = flags.wait !== false;
  if (isStored) await waitUntilStored(client, names);
  if (flags.json) return output.json({ directories: names, records, bytes, is_stored: isStored });
  const what = `${formatCount(records)} records that waited in ${names.length} process directories (${formatBytes(bytes)})`;
  await output.say(
    isStored
      ? `Stored: ${what}. The files in ${dir} are not needed any more; \`tollgate verify\` accounts for their calls.`
      : `Taken in: ${what}; they are stored by themselves.`,
  );
  if (isStored) await tellHowToForget(client, dir, output);
}

/** The node may have several spool folders, so only the operator knows when all are here. */
async function tellHowToForget(client: GatewayClient, dir: string, output: Output): Promise<void> {
  const id = findNodeId(dir);
  const gone = (await readNodes(client)).data.find(
    (node) => node.id === id && !node.is_self && node.state !== 'stopped',
  );
  if (gone === undefined) return;
  await output.line(
    `The list of nodes has what ${terminalText(gone.name)} said last. When all of its spool is here: ${ownCommand(`nodes forget ${quoteForShell(terminalText(gone.name))}`)}`,
  );
}

export function addSpoolCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const spool = program.command('spool').description('records that wait in files');
  addClientOptions(spool.command('import'))
    .argument('<dir>', 'its data directory, the folder spool in that, or one folder in there')
    .description('take in the spool of a node that is gone, whole or not at all; twice is once')
    .option('--as-is', 'also when files end in the middle of a record, or are missing')
    .option('--unknown-node', 'also of a node of which this database does not know; not for another deployment')
    .option('--no-wait', 'only take it in, and do not wait until it is stored')
    .addHelpText('after', '\nThe files are only read.\n\nExample:\n  tollgate spool import /mnt/disk-of-n3/tollgate')
    .action((dir: string, flags: ImportFlags) => importSpool(dir, flags));
}
