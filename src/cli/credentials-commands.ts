/** `tollgate credentials set|list|delete|rotate-key`: providers' credentials that the gateway keeps. */
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { AnyRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';

const PATH = '/api/v1/credentials';
const COLUMNS = ['provider', 'alias', 'credential', 'sent to', 'set (UTC)', 'by', 'state'] as const;

function pathOf(provider: string, alias: string): string {
  return `${PATH}/${encodeURIComponent(provider.toLowerCase())}/${encodeURIComponent(alias.toLowerCase())}`;
}

/** From standard input: an argument would stand in the list of processes and in the shell's history. */
async function readValue(): Promise<string> {
  if (process.stdin.isTTY)
    throw new OperatorError('give the credential on standard input, e.g. from a file: … credentials set … < key.txt');
  const value = (await readText(process.stdin)).trim();
  if (value === '') throw new OperatorError('standard input is empty; give the credential there');
  return value;
}

async function setCredential(provider: string, alias: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const value = await readValue();
  const client = createGatewayClient(flags);
  const kept = await client.ask(AnyRecord, pathOf(provider, alias), { method: 'PUT', body: { value } });
  if (flags.json) return output.json(kept);
  await output.line(
    `Kept for ${textField(kept, 'provider')} ${textField(kept, 'alias')} (…${textField(kept, 'last4')}): calls with X-Gateway-Provider-Alias: ${textField(kept, 'alias')} and no credential of their own have it, sent to ${textField(kept, 'origin')} alone.`,
  );
}

async function listCredentials(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((kept) => [
    textField(kept, 'provider'),
    textField(kept, 'alias'),
    `…${textField(kept, 'last4')}`,
    textField(kept, 'origin'),
    timeField(kept, 'changed_at').slice(0, 16),
    textField(kept, 'changed_by'),
    textField(kept, 'problem') || 'usable',
  ]);
  await output.lines(formatTable(COLUMNS, rows));
}

async function deleteCredential(provider: string, alias: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  await createGatewayClient(flags).ask(z.object({ deleted: z.boolean() }), pathOf(provider, alias), {
    method: 'DELETE',
  });
  if (flags.json) return output.json({ provider, alias, deleted: true });
  await output.line(`Nothing is kept for ${provider} ${alias} any more; its calls need a credential of their own.`);
}

const Rotated = z.object({ rewrapped: z.number(), left: z.number() });

async function rotateKey(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const result = await createGatewayClient(flags).ask(Rotated, `${PATH}/rotate-key`, { method: 'POST' });
  if (result.left > 0) process.exitCode = 1;
  if (flags.json) return output.json(result);
  const left = result.left === 0 ? '' : ` ${result.left} could not be opened by any key and stay as they were.`;
  await output.line(`${result.rewrapped} kept credentials need only the first key now.${left}`);
}

export function addCredentialsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const credentials = program
    .command('credentials')
    .description('credentials of providers that the gateway keeps for calls by an alias (docs/credentials.md)');
  addClientOptions(credentials.command('set <provider> <alias>'))
    .description('keep the credential that stands on standard input')
    .addHelpText('after', '\nExample:\n  tollgate credentials set openai team < key.txt')
    .action((provider: string, alias: string, flags: ClientFlags) => setCredential(provider, alias, flags));
  addClientOptions(credentials.command('list'))
    .description('all of them, without the credentials themselves')
    .addHelpText('after', '\nExample:\n  tollgate credentials list')
    .action((flags: ClientFlags) => listCredentials(flags));
  addClientOptions(credentials.command('delete <provider> <alias>'))
    .description('forget a credential')
    .addHelpText('after', '\nExample:\n  tollgate credentials delete openai team')
    .action((provider: string, alias: string, flags: ClientFlags) => deleteCredential(provider, alias, flags));
  addClientOptions(credentials.command('rotate-key'))
    .description('wrap all with the first key of TOLLGATE_CREDENTIALS_KEY, after which the former keys can go')
    .addHelpText('after', '\nExample:\n  tollgate credentials rotate-key')
    .action((flags: ClientFlags) => rotateKey(flags));
}
