/** `tollgate run -- COMMAND…`: any program in a run of its own, with what it cost in one line at its end. */

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { messageOf, OperatorError } from '../../vocabulary/errors.ts';
import { repeatable, requireProvider } from '../command-options.ts';
import type { AddClientOptions } from '../commands.ts';
import { AnyRecord, type ClientFlags, createGatewayClient, type GatewayClient } from '../gateway-client.ts';
import { withOwnCommands } from '../hints.ts';
import { describeEnd } from './closing-line.ts';
import { readGitMetadata } from './git-metadata.ts';
import { keepToken, TOKEN_SECONDS } from './keep-token.ts';
import { planRun } from './plan-run.ts';
import { runProgram } from './run-program.ts';
import { removeLeftStartFiles } from './start-files.ts';

const MAX_NAME_CHARS = 80;
const ELSEWHERE = 'not led here, since the address is neither a provider’s usual one nor a gateway’s';

interface RunFlags extends ClientFlags {
  readonly name?: string;
  readonly meta: readonly string[];
  readonly key?: string;
  readonly provider?: string;
  readonly alias?: string;
  readonly quiet?: true;
}

const MadeToken = z.object({ id: z.number(), token: z.string(), address: z.string() });

function parseMetadata(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      if (equals < 1) throw new OperatorError(`--meta: "${pair}" is not NAME=VALUE`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

/** `claude-20261129-174501-3f9c`: a run of its own, also for equal names. */
function nameRun(name: string, now: Date): string {
  const plain = name.replaceAll(/[^\w.-]+/g, '-').slice(0, MAX_NAME_CHARS) || 'run';
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${plain}-${time}-${randomBytes(2).toString('hex')}`;
}

function readKey(text: string | undefined): { readonly key?: string; readonly key_id?: number } {
  if (text === undefined || text === '') return {};
  return /^\d{1,10}$/.test(text) ? { key_id: Number(text) } : { key: text };
}

/** A name of git's or the user's own; an empty one is left out, and what is too long is cut. */
async function readMetadata(flags: RunFlags): Promise<Readonly<Record<string, string>>> {
  const all = { ...(await readGitMetadata(process.cwd())), ...parseMetadata(flags.meta) };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === '' ? [] : [[name, value.slice(0, 500)]])),
  );
}

async function renewToken(client: GatewayClient, id: number): Promise<void> {
  await client.ask(AnyRecord, `/api/v1/run-tokens/${id}`, { method: 'PATCH', body: { ttl_seconds: TOKEN_SECONDS } });
}

async function endToken(client: GatewayClient, id: number): Promise<void> {
  await client.ask(AnyRecord, `/api/v1/run-tokens/${id}`, { method: 'DELETE' });
}

async function run(command: readonly string[], flags: RunFlags): Promise<void> {
  const [file = ''] = command;
  const client = createGatewayClient(flags);
  const ownDir = join(homedir(), '.config', 'tollgate');
  const name = flags.name ?? basename(file);
  const traceId = nameRun(name, new Date());
  const made = await client.ask(MadeToken, '/api/v1/run-tokens', {
    method: 'POST',
    body: {
      ...readKey(flags.key ?? process.env['TOLLGATE_KEY']),
      name,
      trace_id: traceId,
      provider: flags.provider === undefined ? null : requireProvider(flags.provider),
      provider_alias: flags.alias ?? null,
      metadata: await readMetadata(flags),
      ttl_seconds: TOKEN_SECONDS,
    },
  });
  removeLeftStartFiles(ownDir);
  const plan = planRun(command, process.env, {
    address: made.address,
    token: made.token,
    others: [client.url],
    hasAlias: flags.alias !== undefined,
    traceId,
    home: homedir(),
    cwd: process.cwd(),
    ownDir,
  });
  const say = (text: string) => flags.quiet !== true && process.stderr.write(`tollgate: ${withOwnCommands(text)}\n`);
  if (plan.left.length > 0) say(`${plan.left.join(', ')}: ${ELSEWHERE}`);
  for (const note of plan.notes) say(note);
  const stopKeeping = keepToken({ nowMs: Date.now, renew: () => renewToken(client, made.id) });
  const status = await runProgram({ file, args: plan.args, env: plan.env });
  stopKeeping();
  for (const path of plan.files) rmSync(path, { force: true });
  try {
    await endToken(client, made.id);
    if (flags.quiet !== true) say(await describeEnd(client, traceId));
  } catch (error) {
    say(`${traceId}: what it cost could not be read: ${messageOf(error)}`);
  }
  process.exitCode = status;
}

export function addRunCommand(program: Command, addClientOptions: AddClientOptions): void {
  // What stands behind the program is the program's.
  program.enablePositionalOptions();
  addClientOptions(program.command('run <command...>'), 'json')
    .description('run a program so that all its model calls are one run, and say at its end what it cost')
    .passThroughOptions()
    .option('--name <name>', 'a name for the run (the program)')
    .addOption(
      repeatable('--meta <name=value>', 'metadata of its calls; Developer, Repo, Branch and Commit come from git'),
    )
    .option('--key <key>', 'the gateway key that its calls count for, or its id (TOLLGATE_KEY; else the only one)')
    .option('--provider <name>', 'the provider of all its calls')
    .option('--alias <name>', 'the provider alias of all its calls, such as demo')
    .option('--quiet', 'say nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate run -- claude\n  tollgate run --name nightly --meta Team=search -- python app.py',
    )
    .action(run);
}
