/** `tollgate costs`: what calls cost, by model, provider, key or metadata, and by time. */

import type { Command } from 'commander';
import { z } from 'zod';
import { COST_GROUP_COLUMNS } from '../control/log/cost-query.ts';
import { OperatorError } from '../vocabulary/errors.ts';
import { repeatable } from './command-options.ts';
import { CostsAnswer } from './costs-answer.ts';
import { formatCosts } from './format-costs.ts';
import { type ClientFlags, createGatewayClient, type GatewayClient, toQuery } from './gateway-client.ts';
import { withOwnCommands } from './hints.ts';
import { createOutput } from './output.ts';
import { addUnpricedCommand } from './prices/unpriced-command.ts';

interface CostFlags extends ClientFlags {
  readonly by: string;
  readonly interval: string;
  readonly tz: string;
  readonly limit: string;
  readonly filter: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

const KeyList = z.object({ data: z.array(z.object({ id: z.number(), name: z.string() })) });

const COLUMNS: readonly string[] = COST_GROUP_COLUMNS;

/** `Feature` is short for `metadata.Feature`. */
function groupBy(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => (COLUMNS.includes(name) || name.startsWith('metadata.') ? name : `metadata.${name}`));
}

async function readKeyNames(client: GatewayClient): Promise<ReadonlyMap<string, string>> {
  const { data } = await client.ask(KeyList, '/api/v1/keys');
  return new Map(data.map(({ id, name }) => [String(id), name]));
}

async function showCosts(flags: CostFlags): Promise<void> {
  if (!/^\d{1,3}$/.test(flags.limit))
    throw new OperatorError(`--limit: "${flags.limit}" is not a number from 1 to 200`);
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const groups = groupBy(flags.by);
  const { interval, tz, limit, from, to, filter } = flags;
  const query = toQuery({ group_by: groups.join(','), interval, tz, limit, from, to }, filter);
  const path = `/api/v1/costs?${query}`;
  if (flags.json) return output.json(await client.ask(z.json(), path));
  const costs = await client.ask(CostsAnswer, path);
  if (costs.totals.calls === 0) {
    process.stderr.write('No calls in this time.\n');
    return;
  }
  const keyNames = groups.includes('key') ? await readKeyNames(client) : new Map<string, string>();
  await output.lines(formatCosts(costs, groups, keyNames).map(withOwnCommands));
}

export function addCostsCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  const costs = addClientOptions(program.command('costs'))
    .description('what calls cost, by model, provider, key or metadata, and by time')
    .option('--by <dimension[,second]>', `${COLUMNS.join(', ')}, or metadata.Key (Key for short)`, 'model')
    .option('--interval <width>', 'also by time: hour, day, week, month, auto', 'none')
    .option('--tz <zone>', 'whose clocks cut days and hours, e.g. Europe/Berlin', 'UTC')
    .option('-n, --limit <groups>', 'tell so many groups apart, at most 200', '20')
    .addOption(repeatable('--filter <column:op:value>', 'repeatable; as in `tollgate logs`'))
    .option('--from <time>', 'at or after, e.g. 2026-11-28T12:00:00Z; else from the first call on')
    .option('--to <time>', 'before; else up to now')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate costs --by Feature --from 2026-11-01\n  tollgate costs --by key,model --interval day --tz Europe/Berlin\n  tollgate costs --json | jq .totals.total_cost',
    )
    .action((flags: CostFlags) => showCosts(flags));
  addUnpricedCommand(costs, addClientOptions);
}
