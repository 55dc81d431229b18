/** `tollgate prices`: declared prices, the prices of a model, and the history of changes. */
import type { Command } from 'commander';
import { OperatorError } from '../../vocabulary/errors.ts';
import { requireProvider } from '../command-options.ts';
import {
  type ApiRecord,
  type ClientFlags,
  createGatewayClient,
  RecordList,
  readList,
  toQuery,
} from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { terminalText } from '../terminal-text.ts';
import { addCatalogCommands } from './catalog-commands.ts';
import { addDeclareCommands } from './declare-commands.ts';
import { pathOf } from './declared-kinds.ts';
import {
  formatChanges,
  formatDiscounts,
  formatMappings,
  formatOverrides,
  formatRows,
  RowsAnswer,
} from './format-prices.ts';

interface ShowFlags extends ClientFlags {
  readonly at?: string;
  readonly alias?: string;
}

interface HistoryFlags extends ClientFlags {
  readonly limit: string;
}

const PAGE_ROWS = 500;
const MAX_CHANGES = 10_000;

const LISTS = [
  { kind: 'override', title: 'Declared prices', format: formatOverrides },
  { kind: 'mapping', title: 'Ids that stand for a model', format: formatMappings },
  { kind: 'multiplier', title: 'Discounts on list prices', format: formatDiscounts },
] as const;

async function listPrices(flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  let isFirst = true;
  for (const { kind, title, format } of LISTS) {
    const { data } = await client.ask(RecordList, pathOf(kind));
    if (flags.json) {
      for (const declared of data) await output.json({ kind, ...declared });
      continue;
    }
    if (data.length === 0) continue;
    await output.line(`${isFirst ? '' : '\n'}${title}`);
    await output.lines(format(data));
    isFirst = false;
  }
  if (isFirst && !flags.json)
    process.stderr.write('Nothing is declared: calls are priced by what comes with the gateway.\n');
}

async function showPrices(provider: string, model: string, flags: ShowFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const query = toQuery({ provider: requireProvider(provider), model, at: flags.at, provider_alias: flags.alias });
  const client = createGatewayClient(flags);
  const found = await client.ask(RowsAnswer, `/api/v1/prices/rows?${query}`);
  if (flags.json) return output.json(found);
  const mapped = found.billing_model === model ? '' : `, billed as ${found.billing_model}`;
  if (found.rows.length === 0)
    throw new OperatorError(
      `${provider} ${terminalText(model)}${terminalText(mapped)} has no price; \`tollgate prices set\` declares one`,
    );
  await output.line(terminalText(`${provider} ${model}${mapped}`));
  await output.lines(formatRows(found));
}

async function showHistory(flags: HistoryFlags): Promise<void> {
  const limit = Number(flags.limit);
  if (!/^\d{1,5}$/.test(flags.limit) || limit < 1 || limit > MAX_CHANGES)
    throw new OperatorError(`--limit: "${flags.limit}" is not a number from 1 to ${MAX_CHANGES}`);
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const changes: ApiRecord[] = [];
  for await (const change of readList(client, '/api/v1/prices/changes', new URLSearchParams(), limit, PAGE_ROWS)) {
    if (flags.json) await output.json(change);
    else changes.push(change);
  }
  if (flags.json) return;
  if (changes.length === 0) {
    process.stderr.write('No price was declared or imported yet.\n');
    return;
  }
  await output.lines(formatChanges(changes));
}

export function addPricesCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const prices = program.command('prices').description('what calls are priced with, and your own prices');
  addClientOptions(prices.command('list'))
    .description('declared prices, mappings and discounts, with their ids')
    .addHelpText('after', '\nExample:\n  tollgate prices list --json | jq -c \'select(.kind == "override")\'')
    .action((flags: ClientFlags) => listPrices(flags));
  addClientOptions(prices.command('show <provider> <model>'))
    .description('the prices and rules that count for a model, and where each is from')
    .option('--at <time>', 'at that time, e.g. 2026-08-01; else now')
    .option('--alias <name>', 'for calls with this X-Gateway-Provider-Alias')
    .addHelpText('after', '\nExample:\n  tollgate prices show openai gpt-5 --at 2026-08-01')
    .action((provider: string, model: string, flags: ShowFlags) => showPrices(provider, model, flags));
  addDeclareCommands(prices, addClientOptions);
  addCatalogCommands(prices, addClientOptions);
  addClientOptions(prices.command('history'))
    .description('who changed what about prices, the newest first')
    .option('-n, --limit <number>', 'so many', '20')
    .addHelpText('after', '\nExample:\n  tollgate prices history -n 5')
    .action((flags: HistoryFlags) => showHistory(flags));
}
