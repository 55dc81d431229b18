/** `tollgate runs [TRACE]`: the latest runs, or one as a tree. */
import type { Command } from 'commander';
import { TreeLeaf, toRunCall } from '../control/log/leaf-record.ts';
import { buildRunTree, type RunCall } from '../control/log/run-tree.ts';
import { formatCount, formatDuration, formatSum } from '../vocabulary/format-amounts.ts';
import { parseLimit } from './command-options.ts';
import { inputTokens, moneyField, numberField, textField, timeField } from './fields.ts';
import { type Column, formatTable, right } from './format-table.ts';
import { AnyRecord, type ClientFlags, createGatewayClient, readList, toQuery } from './gateway-client.ts';
import { addGroupRunsCommands } from './group-runs-command.ts';
import { createOutput } from './output.ts';
import { searchList } from './search-list.ts';
import { cutText } from './terminal-text.ts';
import { formatWaterfall } from './waterfall.ts';

interface RunFlags extends ClientFlags {
  readonly limit: string;
  readonly from?: string;
  readonly to?: string;
  readonly search?: string;
}

const PAGE_ROWS = 500;
const CALL_PAGE_ROWS = 5_000;
/** More calls make no sense on a terminal; `--json` has all. */
const MAX_DRAWN_CALLS = 50_000;

const COLUMNS: readonly Column[] = [
  'run',
  'state',
  'started (UTC)',
  right('duration'),
  right('calls'),
  right('errors'),
  right('cost'),
  right('in'),
  right('out'),
];

async function listRuns(flags: RunFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const query = toQuery({ from: flags.from, to: flags.to, q: flags.search });
  const rows: string[][] = [];
  for await (const run of searchList(client, '/api/v1/runs', query, parseLimit(flags.limit), PAGE_ROWS)) {
    if (flags.json) {
      await output.json(run);
      continue;
    }
    const open = numberField(run, 'open_calls') ?? 0;
    rows.push([
      cutText(textField(run, 'trace_id'), 48),
      textField(run, 'state'),
      timeField(run, 'started_at').slice(0, 19),
      formatDuration(numberField(run, 'duration_ms')),
      `${textField(run, 'calls')}${open > 0 ? ` +${open} open` : ''}`,
      textField(run, 'errors'),
      formatSum(moneyField(run, 'total_cost') ?? 0n, numberField(run, 'unpriced_calls') ?? 0),
      formatCount(inputTokens(run)),
      formatCount(numberField(run, 'output_tokens')),
    ]);
  }
  if (flags.json) return;
  if (rows.length === 0)
    process.stderr.write(
      flags.search === undefined
        ? 'No runs. Calls become a run when they send the same X-Gateway-Trace-Id.\n'
        : 'No run has this text in its trace id or in the name of a step.\n',
    );
  else await output.lines(formatTable(COLUMNS, rows));
}

async function showRun(traceId: string, flags: RunFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const query = new URLSearchParams({ trace_id: traceId });
  const run = await client.ask(AnyRecord, `/api/v1/run?${query}`);
  if (flags.json) return output.json(run);
  const calls: RunCall[] = [];
  for await (const record of readList(client, '/api/v1/run/calls', query, MAX_DRAWN_CALLS, CALL_PAGE_ROWS))
    calls.push(toRunCall(TreeLeaf.parse(record)));
  await output.lines(formatWaterfall(traceId, buildRunTree(calls)));
  const all = numberField(run, 'calls') ?? 0;
  const open = numberField(run, 'open_calls') ?? 0;
  if (all > MAX_DRAWN_CALLS)
    await output.line(`Drawn are the first ${MAX_DRAWN_CALLS} of ${all} calls; --json has the sums of all steps.`);
  if (open > 0) await output.line(`${open} calls are still open and not in the sums.`);
  if (typeof run['cut_at'] === 'string') await output.line(describeCut(all, calls.length));
}

/** Otherwise a run without remaining calls would seem to have cost nothing. */
function describeCut(allCalls: number, callsLeft: number): string {
  return callsLeft === 0
    ? `None of the ${allCalls} calls is left: they are past the retention limit. The list of runs has their sums.`
    : 'Earlier calls of this run are past the retention limit and not shown.';
}

export function addRunsCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  const runs = addClientOptions(program.command('runs [trace]'))
    .description('the latest runs; with a trace id, that run as a tree with costs and times')
    .option('-n, --limit <rows>', 'at most so many', '50')
    .option('--from <time>', 'active at or after, e.g. 2026-11-28T12:00:00Z')
    .option('--to <time>', 'last active before')
    .option('--search <text>', 'with this text in the trace id or in the name of a step')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate runs --limit 10\n  tollgate runs --search "check facts"\n  tollgate runs nightly-report-17',
    )
    .action((trace: string | undefined, flags: RunFlags) =>
      trace === undefined ? listRuns(flags) : showRun(trace, flags),
    );
  addGroupRunsCommands(runs, addClientOptions);
}
