/** `tollgate setup CLIENT`: the lasting configuration of a client, shown before it is written, and taken back by `--undo`. */
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { isWellFormedKey } from '../../keys/gateway-key.ts';
import { messageOf, OperatorError } from '../../vocabulary/errors.ts';
import type { AddClientOptions } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { type ClientFlags, createGatewayClient } from '../gateway-client.ts';
import { holdSignals } from '../hold-signals.ts';
import { createOutput } from '../output.ts';
import { carryOut, listAboutToWrite } from './carry-out.ts';
import { type ChosenKey, keepKey, keyOf, revokeMadeKey } from './made-key.ts';
import { isChange, type PlannedFile, planSetup, planUndo } from './plan-setup.ts';
import { requireSetupClient, SETUP_CLIENTS } from './registry.ts';
import type { SetupClient } from './setup-client.ts';
import {
  listSetupAddresses,
  readSetupRecord,
  removeSetupRecord,
  type SetupRecord,
  writeSetupRecord,
} from './setup-record.ts';
import { showChanges } from './show-changes.ts';

interface SetupFlags extends ClientFlags {
  readonly print?: true;
  readonly undo?: true;
  readonly yes?: true;
  readonly key?: string;
  readonly address?: string;
}

const SessionBody = z.object({ base_url: z.string() });
const MadeKey = z.object({ id: z.number(), key: z.string() });
/** Stands in the shown change for a key that is made once it is agreed to. */
const KEY_TO_COME = 'tgk_to-be-made';

const output = createOutput(process.stdout);
const ownDir = () => join(homedir(), '.config', 'tollgate');

async function readOrigin(flags: SetupFlags): Promise<string> {
  if (flags.address === undefined)
    return (await createGatewayClient(flags).ask(SessionBody, '/api/v1/session')).base_url;
  const url = URL.parse(flags.address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new OperatorError(`--address: "${flags.address}" is no address like http://127.0.0.1:4141`);
  return flags.address.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** The user's own, or the one that was made for this client before; null where one is to be made. */
async function chooseKey(
  client: SetupClient,
  flags: SetupFlags,
  record: SetupRecord | null,
  origin: string,
): Promise<ChosenKey | null> {
  const text = flags.key ?? process.env['TOLLGATE_KEY'];
  if (text !== undefined && text !== '') {
    if (!isWellFormedKey(text)) throw new OperatorError('the key of --key or TOLLGATE_KEY is no gateway key (tgk_…)');
    return { text, id: text === record?.key ? record.key_id : null };
  }
  if (record === null) return null;
  if (record.key_id !== null) return keepKey(createGatewayClient(flags), client, record);
  // The user's own needs no asking, as it needed none when it was given.
  if ((record.address ?? origin) === origin) return keyOf(record);
  await output.say(
    `The key that you gave ${client.title} before is of ${record.address}, so a key is made here. \`--key\` takes one of yours.`,
  );
  return null;
}

async function makeKey(flags: SetupFlags, client: SetupClient): Promise<ChosenKey> {
  const body = {
    name: `${client.name} on ${hostname()}`,
    runs_from: ['agents', 'tool_calls'],
    ...(client.hasKeyInAddress === true ? { allow_in_address: true } : {}),
  };
  const { id, key } = await createGatewayClient(flags).ask(MadeKey, '/api/v1/keys', { method: 'POST', body });
  return { text: key, id };
}

async function sayLeft(files: readonly PlannedFile[]): Promise<void> {
  for (const { path, left } of files)
    for (const place of left)
      await output.line(
        `${path}: ${place.map((one) => (typeof one === 'string' ? one : Object.values(one)[0])).join('.')} was changed since and stays as it is`,
      );
}

/** Credentials stay where they are in a file, so it matters which server each of them is for. */
async function sayServers(files: readonly PlannedFile[]): Promise<void> {
  for (const { path, foreign, replaced } of files) {
    for (const one of foreign)
      await output.line(
        `${path}: ${one} is neither a provider’s usual address nor a gateway’s and stays as it is: its credential is for there`,
      );
    for (const one of replaced)
      await output.line(
        `${path}: ATTENTION: this replaces ${one}, another server. The credential for that server stays where it is, and would go to the gateway and on to the provider: put the provider’s own in its place`,
      );
  }
}

async function isAgreed(flags: SetupFlags): Promise<boolean> {
  if (flags.yes === true) return true;
  const isRight = await confirm('Write this?', 'write `--yes`, or `--print` to see it alone');
  if (!isRight) await output.line('Nothing was changed.');
  return isRight;
}

interface Agreed {
  readonly origin: string;
  readonly chosen: ChosenKey | null;
  readonly record: SetupRecord | null;
  readonly plan: (key: string) => readonly PlannedFile[];
}

/** The record comes first: whatever happens to the files, `--undo` knows of them and of the key. */
async function writeAll(
  client: SetupClient,
  flags: SetupFlags,
  { origin, chosen, record, plan }: Agreed,
): Promise<ChosenKey> {
  const key = chosen ?? (await makeKey(flags, client));
  const remember = (files: SetupRecord['files']) =>
    writeSetupRecord(ownDir(), client.name, { key: key.text, key_id: key.id, address: origin, files });
  const files = plan(key.text);
  try {
    remember([...listAboutToWrite(files, record)]);
  } catch (error) {
    if (chosen === null) await revokeKey(flags, key, origin);
    throw new OperatorError(`nothing was changed: what was to be changed cannot be noted: ${messageOf(error)}`);
  }
  try {
    remember([...carryOut(files, record)]);
  } catch (error) {
    throw new OperatorError(
      `${client.title} is set up in part: ${messageOf(error)}. \`tollgate setup ${client.name}\` tries again, with \`--undo\` it takes back what was written`,
    );
  }
  return key;
}

async function setUp(client: SetupClient, flags: SetupFlags): Promise<void> {
  const record = readSetupRecord(ownDir(), client.name);
  const origin = await readOrigin(flags);
  const chosen = await chooseKey(client, flags, record, origin);
  const gateways = listSetupAddresses(ownDir());
  const plan = (key: string) =>
    planSetup(client, { origin, key, home: homedir(), env: process.env, ownDir: ownDir() }, record, gateways);
  const shown = plan(chosen?.text ?? KEY_TO_COME);
  await sayServers(shown);
  if (!shown.some(({ changes }) => changes.length > 0) && shown.some(({ foreign }) => foreign.length > 0))
    throw new OperatorError(`${client.title} has nothing that could be led here, and nothing was changed`);
  if (!shown.some(isChange)) return output.line(`${client.title} is set up for ${origin} already.`);
  await output.lines(showChanges(shown));
  if (flags.print === true || !(await isAgreed(flags))) return;
  const key = await holdSignals(() => writeAll(client, flags, { origin, chosen, record, plan }));
  const made = key.id === null ? '' : ` with key ${key.id}`;
  await output.say(`${client.title} calls ${origin}${made}. \`tollgate setup ${client.name} --undo\` takes it back.`);
  if (record !== null && record.key !== key.text) await revokeKey(flags, keyOf(record), record.address);
  for (const note of client.notes ?? []) await output.say(note);
}

async function revokeKey(flags: SetupFlags, key: ChosenKey, address: string | undefined): Promise<void> {
  const ended = await revokeMadeKey(() => createGatewayClient(flags), key, address);
  if (ended !== null) await (ended.isRevoked ? output.line(ended.text) : output.say(ended.text));
}

async function undo(client: SetupClient, flags: SetupFlags): Promise<void> {
  const record = readSetupRecord(ownDir(), client.name);
  if (record === null) throw new OperatorError(`${client.title} was not set up by this command`);
  const files = planUndo(record);
  await output.lines(showChanges(files));
  await sayLeft(files);
  if (flags.print === true || !(await isAgreed(flags))) return;
  await holdSignals(async () => {
    carryOut(files, record);
    removeSetupRecord(ownDir(), client.name);
    await output.line(`${client.title} is as it was before.`);
    await revokeKey(flags, keyOf(record), record.address);
  });
}

async function listClients(): Promise<void> {
  const rows = SETUP_CLIENTS.map(({ name, title }) => {
    const state = readSetupRecord(ownDir(), name) === null ? '' : ' (set up)';
    return `${name.padEnd(10)}${title}${state}`;
  });
  await output.lines(rows);
}

export function addSetupCommand(program: Command, addClientOptions: AddClientOptions): void {
  addClientOptions(program.command('setup [client]'), 'json')
    .description(
      'lead a client here for good: shows the change to its configuration, asks, writes; without a client: which there are',
    )
    .option('--print', 'show the change, and write nothing')
    .option('--undo', 'take back what was set up, and nothing else')
    .option('--yes', 'write without asking')
    .option('--key <key>', 'the gateway key that it gets (TOLLGATE_KEY; else one is made)')
    .option('--address <url>', 'the gateway’s address for clients (else the gateway is asked)')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate setup claude\n  tollgate setup codex --print\n  tollgate setup codex --undo',
    )
    .action((name: string | undefined, flags: SetupFlags) => {
      if (name === undefined) return listClients();
      const client = requireSetupClient(name);
      return flags.undo === true ? undo(client, flags) : setUp(client, flags);
    });
}
