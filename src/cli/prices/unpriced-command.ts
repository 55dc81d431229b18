/** `tollgate costs unpriced`: the models without a price, why, and the command that would end it. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatCount } from '../../format-amounts.ts';
import { formatTable } from '../format-table.ts';
import { type ClientFlags, createGatewayClient } from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { terminalText } from '../terminal-text.ts';
import { withFlagNames } from './name-flags.ts';

interface UnpricedFlags extends ClientFlags {
  readonly json?: true;
  readonly from?: string;
  readonly to?: string;
}

const UnpricedList = z.object({
  data: z.array(
    z.looseObject({
      provider: z.string(),
      model: z.string().nullable(),
      endpoint: z.string(),
      reason: z.string(),
      terms: z.string().nullable(),
      calls: z.number(),
      missing: z.array(z.string()),
      input_tokens: z.number(),
      cache_read_input_tokens: z.number(),
      cache_creation_input_tokens: z.number(),
      output_tokens: z.number(),
      suggestion: z.string(),
      note: z.string().nullable().default(null),
    }),
  ),
});
type Unpriced = z.infer<typeof UnpricedList>['data'][number];

const COLUMNS = [
  { title: 'calls', align: 'right' },
  { title: 'tokens in', align: 'right' },
  { title: 'out', align: 'right' },
  { title: 'provider' },
  { title: 'model' },
  { title: 'endpoint' },
  { title: 'why' },
  { title: 'without a price' },
] as const;

const REASONS: Readonly<Record<string, string>> = {
  unknown_model: 'unknown model',
  opaque_id: 'id that stands for a model',
  no_rate_for_class: 'no rate for a class',
  unknown_endpoint: 'unknown endpoint',
  result_unread: 'a result that could not be read',
  no_model: 'no model named',
  priced_by_now: 'priced by now',
};

function formatUnpriced(found: Unpriced): string[] {
  const input = found.input_tokens + found.cache_read_input_tokens + found.cache_creation_input_tokens;
  return [
    formatCount(found.calls),
    formatCount(input),
    formatCount(found.output_tokens),
    found.provider,
    terminalText(found.model ?? '—'),
    terminalText(found.endpoint),
    terminalText(found.terms ?? REASONS[found.reason] ?? found.reason),
    found.missing.join(', '),
  ];
}

async function showUnpriced(flags: UnpricedFlags): Promise<void> {
  const query = new URLSearchParams();
  if (flags.from !== undefined) query.set('from', flags.from);
  if (flags.to !== undefined) query.set('to', flags.to);
  const client = withFlagNames(createGatewayClient(flags, process.env));
  const { data } = await client.ask(UnpricedList, `/api/v1/prices/unpriced?${query}`);
  const output = createOutput(process.stdout);
  if (flags.json) {
    for (const found of data) await output.json(found);
    return;
  }
  if (data.length === 0) {
    process.stderr.write('Every call of this time has its price.\n');
    return;
  }
  for (const line of formatTable(COLUMNS, data.map(formatUnpriced))) await output.line(line);
  const noted = data.filter(({ note }) => note !== null);
  if (noted.length > 0) await output.line('\nWhat the price book says of them:');
  for (const { provider, model, note } of noted)
    await output.line(terminalText(`  ${provider} ${model ?? '—'}: ${note ?? ''}`));
  await output.line('\nWhat to do, with the words in capitals filled in:');
  for (const { suggestion } of data) await output.line(`  ${terminalText(suggestion)}`);
}

/** Below `costs`, whose own options would take those of a command below it: they come from both. */
export function addUnpricedCommand(costs: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(costs.command('unpriced'))
    .description('the models without a price, why, and what to do about it')
    .option('--from <time>', 'at or after; else the last 30 days')
    .option('--to <time>', 'before; else up to now')
    .addHelpText('after', '\nExample:\n  tollgate costs unpriced --from 2026-11-01')
    .action((_flags: UnpricedFlags, command: Command) => showUnpriced(command.optsWithGlobals()));
}
