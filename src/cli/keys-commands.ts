/** `tollgate keys create|list|edit|rotate|revoke`. */
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { formatCount, formatMoney, formatSum } from '../vocabulary/format-amounts.ts';
import { parseSeconds } from './duration.ts';
import { moneyField, numberField, textField, timeField } from './fields.ts';
import { formatTable, right } from './format-table.ts';
import { AnyRecord, type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';

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

function describeState(key: ApiRecord, nowMs: number): string {
  if (key['revoked_at'] !== null) return `revoked ${timeField(key, 'revoked_at').slice(0, 16)}`;
  if (key['expires_at'] === null) return 'valid';
  const expiresAt = timeField(key, 'expires_at');
  return `${Date.parse(String(key['expires_at'])) <= nowMs ? 'expired' : 'valid until'} ${expiresAt.slice(0, 16)}`;
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
    describeState(key, Date.now()),
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

interface EditFlags extends ClientFlags {
  readonly name?: string;
  readonly allowInAddress?: boolean;
  readonly runsFrom?: string;
}

const RUNS_FROM =
  'where the run of a call without X-Gateway-Trace-Id comes from, in this order: agents, traceparent, metadata.KEY, … (docs/agents.md); headers: from nowhere else';

/** `agents,traceparent`; the gateway checks the names. */
function parseRunsFrom(text: string | undefined): readonly string[] | undefined {
  return text === 'headers' ? [] : text?.split(',').map((source) => source.trim());
}

async function editKey(id: string, flags: EditFlags): Promise<void> {
  const { name, allowInAddress } = flags;
  const runsFrom = parseRunsFrom(flags.runsFrom);
  if (name === undefined && allowInAddress === undefined && runsFrom === undefined)
    throw new OperatorError('nothing to change: give --name, --runs-from, --allow-in-address or --no-allow-in-address');
  const output = createOutput(process.stdout);
  const body = { name, allow_in_address: allowInAddress, runs_from: runsFrom };
  const key = await createGatewayClient(flags).ask(AnyRecord, `/api/v1/keys/${parseId(id)}`, { method: 'PATCH', body });
  if (flags.json) return output.json(key);
  const place = key['allow_in_address'] === true ? 'may' : 'may not';
  const sources = z.array(z.string()).parse(key['runs_from']).join(', ') || 'no other source';
  return output.line(
    `Key ${id} (${textField(key, 'name')}) ${place} stand in an address (/@KEY); runs come from X-Gateway-Trace-Id and ${sources}.`,
  );
}

export function addKeysCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const keys = program.command('keys').description('gateway keys: what clients send as X-Gateway-Key');
  addClientOptions(keys.command('create <name>'))
    .description('make a key and show it, once')
    .option('--allow-in-address', 'it may stand in a base address, as http://gateway/@KEY/v1')
    .option('--runs-from <sources>', RUNS_FROM)
    .addHelpText('after', '\nExample:\n  export TOLLGATE_KEY=$(tollgate keys create "my laptop" --runs-from agents)')
    .action((name: string, flags: EditFlags) =>
      showNewKey(flags, '/api/v1/keys', {
        name,
        allow_in_address: flags.allowInAddress,
        runs_from: parseRunsFrom(flags.runsFrom),
      }),
    );
  addClientOptions(keys.command('list'))
    .description('all keys, without the keys themselves')
    .addHelpText('after', '\nExample:\n  tollgate keys list --json | jq .name')
    .action((flags: ClientFlags) => listKeys(flags));
  addClientOptions(keys.command('edit <id>'))
    .description('change a key; the key itself stays as it is')
    .option('--name <name>', 'a new name')
    .option('--allow-in-address', 'it may stand in a base address, as http://gateway/@KEY/v1')
    .option('--no-allow-in-address', 'it may not: in the header X-Gateway-Key only')
    .option('--runs-from <sources>', RUNS_FROM)
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate keys edit 3 --allow-in-address\n  tollgate keys edit 3 --runs-from agents',
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
