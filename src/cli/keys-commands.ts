/** `tollgate keys create|list|show|edit|rotate|revoke`. */
import type { Command } from 'commander';
import { OperatorError } from '../vocabulary/errors.ts';
import { formatCount, formatMoney, formatSum } from '../vocabulary/format-amounts.ts';
import { parseSeconds } from './duration.ts';
import { moneyField, numberField, textField, timeField } from './fields.ts';
import { formatTable, right } from './format-table.ts';
import { AnyRecord, type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { addKeyOptions, type KeyFlags, readKeyFlags } from './key-options.ts';
import { createOutput } from './output.ts';
import { describeKey, describeRotation, describeState } from './show-key.ts';

const COLUMNS = [
  'id',
  'name',
  'key',
  'created (UTC)',
  'last used',
  right('calls 30 d'),
  right('cost 30 d'),
  'state',
] as const;

function parseId(text: string): string {
  if (!/^\d{1,10}$/.test(text))
    throw new OperatorError(`"${text}" is not the id of a key; \`tollgate keys list\` shows them`);
  return text;
}

async function showNewKey(flags: ClientFlags, path: string, body: unknown): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const created = await client.ask(AnyRecord, path, { method: 'POST', body });
  if (flags.json) return output.json(created);
  process.stderr.write(`Key ${textField(created, 'id')} (${textField(created, 'name')}). It is shown only now:\n`);
  return output.line(textField(created, 'key'));
}

function formatCost(key: ApiRecord): string {
  const cost = moneyField(key, 'cost_30d');
  return cost === null ? formatMoney(null) : formatSum(cost, numberField(key, 'unpriced_calls_30d') ?? 0);
}

async function listKeys(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, '/api/v1/keys');
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((key) => [
    textField(key, 'id'),
    textField(key, 'name'),
    `${textField(key, 'prefix')}…${textField(key, 'last4')}`,
    timeField(key, 'created_at').slice(0, 16),
    timeField(key, 'last_used_at').slice(0, 16) || 'never',
    formatCount(numberField(key, 'calls_30d')),
    formatCost(key),
    [describeState(key, Date.now()), describeRotation(key)].filter((part) => part !== null).join('; replaced by '),
  ]);
  await output.lines(formatTable(COLUMNS, rows));
}

async function revokeKey(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const key = await client.ask(AnyRecord, `/api/v1/keys/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(key);
  return output.line(
    `Key ${id} (${textField(key, 'name')}) is revoked; no proxy of this node accepts it any more, and those of others within a second.`,
  );
}

async function showKey(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, '/api/v1/keys');
  const wanted = parseId(id);
  const key = data.find((one) => textField(one, 'id') === wanted);
  if (key === undefined) throw new OperatorError(`there is no key ${wanted}; \`tollgate keys list\` shows them`);
  return flags.json ? output.json(key) : printKey(key);
}

function printKey(key: ApiRecord): Promise<void> {
  const lines = describeKey(key, Date.now()).map(([name, value]) => `${name.padEnd(13)} ${value}`);
  return createOutput(process.stdout).lines([`Key ${textField(key, 'id')}`, ...lines]);
}

async function editKey(id: string, flags: KeyFlags & { readonly name?: string }): Promise<void> {
  const body = { name: flags.name, ...readKeyFlags(flags) };
  if (Object.values(body).every((value) => value === undefined))
    throw new OperatorError('nothing to change: give at least one option; `tollgate keys edit --help` lists them');
  const key = await createGatewayClient(flags).ask(AnyRecord, `/api/v1/keys/${parseId(id)}`, { method: 'PATCH', body });
  return flags.json ? createOutput(process.stdout).json(key) : printKey(key);
}

export function addKeysCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const keys = program.command('keys').description('gateway keys: what clients send as X-Gateway-Key');
  addKeyOptions(addClientOptions(keys.command('create <name>')))
    .description('make a key and show it, once')
    .addHelpText(
      'after',
      '\nExamples:\n  export TOLLGATE_KEY=$(tollgate keys create "my laptop" --runs-from agents)\n  tollgate keys create "nightly report" --models "gpt-5-mini*" --networks 10.0.0.0/8 --expires 90d',
    )
    .action((name: string, flags: KeyFlags) => showNewKey(flags, '/api/v1/keys', { name, ...readKeyFlags(flags) }));
  addClientOptions(keys.command('list'))
    .description('all keys, without the keys themselves')
    .addHelpText('after', '\nExample:\n  tollgate keys list --json | jq .name')
    .action((flags: ClientFlags) => listKeys(flags));
  addClientOptions(keys.command('show <id>'))
    .description('what a key may do, and how it is used')
    .addHelpText('after', '\nExample:\n  tollgate keys show 3')
    .action(showKey);
  addKeyOptions(addClientOptions(keys.command('edit <id>')).option('--name <name>', 'a new name'))
    .description('change a key; the key itself stays as it is')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate keys edit 3 --runs-from agents\n  tollgate keys edit 3 --models any --providers anthropic',
    )
    .action(editKey);
  addClientOptions(keys.command('rotate <id>'))
    .description('replace a key by a new one of the same name; the old one is refused from then on')
    .option('--overlap <duration>', 'let the old one work for so long: 30m, 24h, 7d')
    .addHelpText('after', '\nExample:\n  tollgate keys rotate 3 --overlap 24h')
    .action((id: string, flags: ClientFlags & { readonly overlap?: string }) =>
      showNewKey(flags, `/api/v1/keys/${parseId(id)}/rotate`, {
        overlap_seconds: parseSeconds(flags.overlap ?? '0s', '--overlap'),
      }),
    );
  addClientOptions(keys.command('revoke <id>'))
    .description('refuse a key from now on')
    .addHelpText('after', '\nExample:\n  tollgate keys revoke 3')
    .action((id: string, flags: ClientFlags) => revokeKey(id, flags));
}
