/** `tollgate logs ID`: one call with the lines of its cost and its former costs. */
import { z } from 'zod';
import { formatAtLeast, formatMoney } from '../vocabulary/format-amounts.ts';
import { moneyField, numberField, textField, timeField } from './fields.ts';
import { formatTable, right } from './format-table.ts';
import { AnyRecord, type ApiRecord, type GatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';

const Records = z.array(AnyRecord);

const FIELDS = [
  ['id', 'id'],
  ['time (UTC)', 'requested_at'],
  ['provider', 'provider'],
  ['model', 'model'],
  ['requested', 'model_requested'],
  ['billed as', 'billing_model'],
  ['outcome', 'outcome'],
  ['left before', 'closed_before'],
  ['status', 'status'],
  ['run', 'trace_id'],
  ['connection', 'connection_id'],
  ['run by', 'trace_source'],
  ['answer', 'answer_id'],
  ['client', 'client'],
  ['session', 'agent_session'],
  ['agent', 'agent_path'],
  ['agent turn', 'agent_turn'],
  ['address', 'client_address'],
] as const;

const LINE_COLUMNS = ['class', right('quantity'), right('rate'), right('amount'), 'from'] as const;

const REVISION_COLUMNS = ['priced again (UTC)', right('before'), right('after'), 'why'] as const;

/** `$0.00019875`, or `≥ $0.0001 (partial)`. */
function costText(record: ApiRecord, prefix: '' | 'old_' | 'new_'): string {
  const total = moneyField(record, `${prefix}total_cost`);
  if (total !== null) return formatMoney(total);
  const status = textField(record, `${prefix}cost_status`);
  const known = moneyField(record, `${prefix}known_cost`);
  return status === 'partial' && known !== null ? `${formatAtLeast(known)} (partial)` : status;
}

/** `1M`, `1k`, `60000`. */
function perText(per: number): string {
  if (per >= 1_000_000 && per % 1_000_000 === 0) return `${per / 1_000_000}M`;
  return per === 1_000 ? '1k' : String(per);
}

function formatLine(line: ApiRecord): string[] {
  const multiplier = textField(line, 'multiplier');
  return [
    textField(line, 'class'),
    textField(line, 'quantity'),
    `$${textField(line, 'rate')} / ${perText(numberField(line, 'per') ?? 1)}${multiplier === '1' ? '' : ` × ${multiplier}`}`,
    formatMoney(moneyField(line, 'amount')),
    textField(line, 'row'),
  ];
}

export async function showCall(client: GatewayClient, id: string, isJson: boolean): Promise<void> {
  const output = createOutput(process.stdout);
  const path = `/api/v1/logs/${encodeURIComponent(id)}`;
  const call = await client.ask(AnyRecord, path);
  const { data: revisions } = await client.ask(RecordList, `${path}/revisions`);
  if (isJson) return output.json({ ...call, revisions });
  for (const [title, name] of FIELDS) {
    const value = name === 'requested_at' ? timeField(call, name) : textField(call, name);
    if (value !== '') await output.line(`${title.padEnd(11)}  ${value}`);
  }
  await output.line(`${'cost'.padEnd(11)}  ${costText(call, '')}`);
  const lines = Records.safeParse(call['cost_lines']);
  if (lines.success && lines.data.length > 0) {
    await output.line('');
    await output.lines(formatTable(LINE_COLUMNS, lines.data.map(formatLine)));
  }
  if (revisions.length === 0) return;
  await output.line('');
  const rows = revisions.map((revision) => [
    timeField(revision, 'revised_at').slice(0, 19),
    costText(revision, 'old_'),
    costText(revision, 'new_'),
    textField(revision, 'reason'),
  ]);
  await output.lines(formatTable(REVISION_COLUMNS, rows));
}
