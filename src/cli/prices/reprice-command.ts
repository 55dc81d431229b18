/** `tollgate reprice`: prices stored calls again with current prices; a dry run unless told to apply. */

import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';
import { repeatable, requireProvider } from '../command-options.ts';
import { canAsk, confirm } from '../confirm.ts';
import { type ClientFlags, createGatewayClient, type GatewayClient, readList } from '../gateway-client.ts';
import { ownCommand } from '../hints.ts';
import { createOutput, type Output } from '../output.ts';
import { quoteForShell } from '../terminal-text.ts';
import { followJob, StartedJob } from '../watch-job.ts';
import { formatDays, RepriceDay, RepriceTotals } from './format-days.ts';
import { withFlagNames } from './name-flags.ts';

interface RepriceFlags extends ClientFlags {
  readonly from?: string;
  readonly to?: string;
  readonly filter: readonly string[];
  readonly provider?: string;
  readonly model?: string;
  readonly only: string;
  readonly apply?: true;
  readonly reason?: string;
  readonly yes?: true;
  readonly wait: boolean;
}

const DaysPage = z.object({ totals: RepriceTotals });
const JobResult = z.object({ result: z.looseObject({ price_versions: z.array(z.string()) }) });

/** Rows of one job; the totals are right beyond it. */
const MAX_DAYS = 100_000;
const PAGE_ROWS = 5_000;

function toBody(flags: RepriceFlags, isDryRun: boolean) {
  if (flags.only !== 'unpriced' && flags.only !== 'all')
    throw new OperatorError(`--only: "${flags.only}" is neither unpriced nor all`);
  return {
    f: [...flags.filter, ...(flags.provider === undefined ? [] : [`provider:eq:${requireProvider(flags.provider)}`])],
    from: flags.from,
    to: flags.to,
    model: flags.model,
    reason: flags.reason,
    only: flags.only,
    dry_run: isDryRun,
  };
}

interface Outcome {
  readonly totals: RepriceTotals;
  readonly days: readonly RepriceDay[];
}

async function readOutcome(client: GatewayClient, jobId: number): Promise<Outcome> {
  const path = `/api/v1/reprice/${jobId}/days`;
  const { totals } = await client.ask(DaysPage, `${path}?limit=1`);
  const days: RepriceDay[] = [];
  for await (const day of readList(client, path, new URLSearchParams(), MAX_DAYS, PAGE_ROWS))
    days.push(RepriceDay.parse(day));
  return { totals, days };
}

async function run(
  client: GatewayClient,
  flags: RepriceFlags,
  isDryRun: boolean,
  output: Output,
): Promise<Outcome | null> {
  const body = toBody(flags, isDryRun);
  const { job_id: id } = await client.ask(StartedJob, '/api/v1/reprice', { method: 'POST', body });
  if (!flags.wait) {
    if (flags.json) await output.json({ job_id: id });
    else await output.say(`Job ${id} is under way; \`tollgate jobs watch ${id}\` shows it.`);
    return null;
  }
  const job = await followJob(client, id);
  const outcome = await readOutcome(client, id);
  if (flags.json) {
    for (const day of outcome.days) await output.json(day);
    await output.json({ job_id: id, dry_run: isDryRun, ...outcome.totals });
  } else {
    await output.lines(formatDays(outcome.days, outcome.totals));
  }
  const ended = JobResult.safeParse(job);
  if (ended.success && ended.data.result.price_versions.length > 1)
    process.stderr.write('Prices were changed meanwhile: run it again, so that all calls have the latest.\n');
  return outcome;
}

function applyCommand(flags: RepriceFlags): string {
  const given: readonly (readonly [string, string | undefined])[] = [
    ['--from', flags.from],
    ['--to', flags.to],
    ...flags.filter.map((filter) => ['--filter', filter] as const),
    ['--provider', flags.provider],
    ['--model', flags.model],
    ['--only', flags.only === 'all' ? 'all' : undefined],
  ];
  const parts = given.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${quoteForShell(value)}`]));
  return ownCommand(['reprice', ...parts, "--apply --reason 'why'"].join(' '));
}

async function reprice(flags: RepriceFlags): Promise<void> {
  const output = createOutput(process.stdout);
  if (flags.apply === true && (flags.reason ?? '').trim() === '')
    throw new OperatorError('--apply needs --reason: it stands in the history of every call that changes');
  const client = withFlagNames(createGatewayClient(flags));
  if (flags.apply === true) {
    const asks = canAsk() && flags.yes !== true && flags.json !== true && flags.wait;
    if (asks) {
      const found = await run(client, flags, true, output);
      if (found === null || found.totals.changed === 0) return;
      const calls = found.totals.changed === 1 ? '1 call' : `${found.totals.changed} calls`;
      if (!(await confirm(`Change the cost of ${calls}?`, 'give --yes')))
        throw new OperatorError('nothing was changed');
    }
    const applied = await run(client, flags, false, output);
    if (applied !== null && !flags.json)
      await output.line(`${applied.totals.changed} of ${applied.totals.calls} calls changed.`);
    return;
  }
  const found = await run(client, flags, true, output);
  if (found === null || flags.json) return;
  await output.line(
    found.totals.calls === 0
      ? 'No call matches; nothing would change.'
      : found.totals.changed === 0
        ? 'Nothing would change.'
        : `No changes yet. To do it:\n  ${applyCommand(flags)}`,
  );
}

export function addRepriceCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('reprice'))
    .description(
      'price stored calls again, each at its own time with the prices of now; a dry run unless --apply is given',
    )
    .option('--from <time>', 'calls at or after, e.g. 2026-11-28T12:00:00Z; else from the first on')
    .option('--to <time>', 'calls before; else up to now')
    .addOption(repeatable('--filter <column:op:value>', 'repeatable, as in `tollgate logs`'))
    .option('--provider <name>', 'only calls of this provider')
    .option('--model <id>', 'only calls of this model: that served, else that was requested')
    .option('--only <unpriced|all>', 'calls without a total cost, or every call that has a price', 'unpriced')
    .option('--apply', 'change the calls, and keep what they were in their history')
    .option('--reason <text>', 'why, with --apply')
    .option('--yes', 'with --apply: do not show the difference and ask first')
    .option('--no-wait', 'only begin')
    .addHelpText(
      'after',
      "\nExamples:\n  tollgate reprice --model my-model\n  tollgate reprice --only all --provider openai --from 2026-11-01 --apply --reason 'discount of November'",
    )
    .action((flags: RepriceFlags) => reprice(flags));
}
