/** `tollgate costs unpriced`: models without a price, the reason, and the command that helps. */

import type { Command } from 'commander';
import { z } from 'zod';
import { formatCount } from '../../vocabulary/format-amounts.ts';
import { formatTable, right } from '../format-table.ts';
import { type ClientFlags, createGatewayClient, toQuery } from '../gateway-client.ts';
import { ownCommand } from '../hints.ts';
import { createOutput } from '../output.ts';
import { terminalText } from '../terminal-text.ts';
import { withFlagNames } from './name-flags.ts';

/** What a suggestion begins with that is one. */
const COMMAND = 'tollgate ';

interface UnpricedFlags extends ClientFlags {
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
  searched_to: z.string().nullable().default(null),
});

/** Nobody waits for it in vain: it is the most that the gateway takes. */
const WAIT_MS = '15000';
type Unpriced = z.infer<typeof UnpricedList>['data'][number];

const COLUMNS = [
  right('calls'),
  right('tokens in'),
  right('out'),
  'provider',
  'model',
  'endpoint',
  'why',
  'without a price',
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
  const query = toQuery({ from: flags.from, to: flags.to, wait_ms: WAIT_MS });
  const client = withFlagNames(createGatewayClient(flags));
  const { data, searched_to: searchedTo } = await client.ask(UnpricedList, `/api/v1/prices/unpriced?${query}`);
  if (searchedTo !== null)
    process.stderr.write(
      `Only calls since ${searchedTo.slice(0, 16).replace('T', ' ')} UTC: for earlier ones give that as --to.\n`,
    );
  const output = createOutput(process.stdout);
  if (flags.json) return output.jsonLines(data);
  if (data.length === 0) {
    process.stderr.write('Every call in this time range has a price.\n');
    return;
  }
  await output.lines(formatTable(COLUMNS, data.map(formatUnpriced)));
  const noted = data.filter(({ note }) => note !== null);
  if (noted.length > 0) await output.line('\nWhat the price book says of them:');
  for (const { provider, model, note } of noted)
    await output.line(terminalText(`  ${provider} ${model ?? '—'}: ${note ?? ''}`));
  await output.line('\nWhat to do, with the words in capitals filled in:');
  for (const { suggestion } of data) {
    const text = terminalText(suggestion);
    await output.line(`  ${text.startsWith(COMMAND) ? ownCommand(text.slice(COMMAND.length)) : text}`);
  }
}

/** `costs` has the same options and takes them first, so they are read from both. */
export function addUnpricedCommand(costs: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(costs.command('unpriced'))
    .description('the models without a price, why, and what to do about it')
    .option('--from <time>', 'at or after; else the last 30 days')
    .option('--to <time>', 'before; else up to now')
    .addHelpText('after', '\nExample:\n  tollgate costs unpriced --from 2026-11-01')
    .action((_flags: UnpricedFlags, command: Command) => showUnpriced(command.optsWithGlobals()));
}
