/** `tollgate keys create|list|rotate|revoke`. */
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../errors.ts';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';

interface KeyFlags extends ClientFlags {
  readonly json?: true;
}

const AnyRecord = z.record(z.string(), z.json());
const KeyList = z.object({ data: z.array(AnyRecord) });

function parseId(text: string): string {
  if (!/^\d{1,10}$/.test(text))
    throw new OperatorError(`"${text}" is not the id of a key; \`tollgate keys list\` shows them`);
  return text;
}

async function showNewKey(flags: KeyFlags, path: string, body: unknown): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags, process.env);
  const created = await client.ask(AnyRecord, path, { method: 'POST', body });
  if (flags.json) return output.json(created);
  process.stderr.write(`Key ${textField(created, 'id')} (${textField(created, 'name')}). It is shown only now:\n`);
  return output.line(textField(created, 'key'));
}

async function listKeys(flags: KeyFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags, process.env).ask(KeyList, '/api/v1/keys');
  if (flags.json) {
    for (const key of data) await output.json(key);
    return;
  }
  const rows = data.map((key) => [
    textField(key, 'id'),
    textField(key, 'name'),
    `${textField(key, 'prefix')}…${textField(key, 'last4')}`,
    timeField(key, 'created_at').slice(0, 16),
    timeField(key, 'last_used_at').slice(0, 16) || 'never',
    key['revoked_at'] === null ? 'valid' : `revoked ${timeField(key, 'revoked_at').slice(0, 16)}`,
  ]);
  const titles = ['id', 'name', 'key', 'created (UTC)', 'last used', 'state'];
  for (const line of formatTable(
    titles.map((title) => ({ title })),
    rows,
  ))
    await output.line(line);
}

async function revokeKey(id: string, flags: KeyFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags, process.env);
  const key = await client.ask(AnyRecord, `/api/v1/keys/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(key);
  return output.line(`Key ${id} (${textField(key, 'name')}) is revoked; no proxy accepts it any more.`);
}

export function addKeysCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const keys = program.command('keys').description('gateway keys: what clients send as X-Gateway-Key');
  addClientOptions(keys.command('create <name>'))
    .description('make a key and show it, once')
    .addHelpText('after', '\nExample:\n  export TOLLGATE_KEY=$(tollgate keys create "my laptop")')
    .action((name: string, flags: KeyFlags) => showNewKey(flags, '/api/v1/keys', { name }));
  addClientOptions(keys.command('list'))
    .description('all keys, without the keys themselves')
    .addHelpText('after', '\nExample:\n  tollgate keys list --json | jq .name')
    .action((flags: KeyFlags) => listKeys(flags));
  addClientOptions(keys.command('rotate <id>'))
    .description('replace a key by a new one of the same name; the old one is refused from then on')
    .addHelpText('after', '\nExample:\n  tollgate keys rotate 3')
    .action((id: string, flags: KeyFlags) => showNewKey(flags, `/api/v1/keys/${parseId(id)}/rotate`, undefined));
  addClientOptions(keys.command('revoke <id>'))
    .description('refuse a key from now on')
    .addHelpText('after', '\nExample:\n  tollgate keys revoke 3')
    .action((id: string, flags: KeyFlags) => revokeKey(id, flags));
}
