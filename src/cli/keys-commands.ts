/** `tollgate keys create|list|rotate|revoke`. */
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../errors.ts';
import { formatCount, formatMoney, formatSum } from '../format-amounts.ts';
import { moneyField, numberField, textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';

const COLUMNS = [
  { title: 'id' },
  { title: 'name' },
  { title: 'key' },
  { title: 'created (UTC)' },
  { title: 'last used' },
  { title: 'calls 30 d', align: 'right' },
  { title: 'cost 30 d', align: 'right' },
  { title: 'state' },
] as const;

interface KeyFlags extends ClientFlags {
  readonly json?: true;
}

const AnyRecord = z.record(z.string(), z.json());
const KeyList = z.object({ data: z.array(AnyRecord) });

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `30m`, `24h`, `7d`; the gateway says what is too long. */
function parseSeconds(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,8})([smhd])$/.exec(text) ?? [];
  if (digits === undefined) throw new OperatorError(`--overlap: "${text}" is no duration; write 30m, 24h or 7d`);
  return Number(digits) * (SECONDS[unit] ?? 1);
}

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

function describeState(key: z.infer<typeof AnyRecord>, nowMs: number): string {
  if (key['revoked_at'] !== null) return `revoked ${timeField(key, 'revoked_at').slice(0, 16)}`;
  if (key['expires_at'] === null) return 'valid';
  const expiresAt = timeField(key, 'expires_at');
  return `${Date.parse(String(key['expires_at'])) <= nowMs ? 'expired' : 'valid until'} ${expiresAt.slice(0, 16)}`;
}

/** With calls that have no price it is "at least". */
function formatCost(key: z.infer<typeof AnyRecord>): string {
  const cost = moneyField(key, 'cost_30d');
  return cost === null ? formatMoney(null) : formatSum(cost, numberField(key, 'unpriced_calls_30d') ?? 0);
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
    formatCount(numberField(key, 'calls_30d')),
    formatCost(key),
    describeState(key, Date.now()),
  ]);
  for (const line of formatTable(COLUMNS, rows)) await output.line(line);
}

async function revokeKey(id: string, flags: KeyFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags, process.env);
  const key = await client.ask(AnyRecord, `/api/v1/keys/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(key);
  return output.line(
    `Key ${id} (${textField(key, 'name')}) is revoked; no proxy of this node accepts it any more, and those of others within a second.`,
  );
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
    .option('--overlap <duration>', 'let the old one work for so long: 30m, 24h, 7d')
    .addHelpText('after', '\nExample:\n  tollgate keys rotate 3 --overlap 24h')
    .action((id: string, flags: KeyFlags & { readonly overlap?: string }) =>
      showNewKey(flags, `/api/v1/keys/${parseId(id)}/rotate`, { overlap_seconds: parseSeconds(flags.overlap ?? '0s') }),
    );
  addClientOptions(keys.command('revoke <id>'))
    .description('refuse a key from now on')
    .addHelpText('after', '\nExample:\n  tollgate keys revoke 3')
    .action((id: string, flags: KeyFlags) => revokeKey(id, flags));
}
