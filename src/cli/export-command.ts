/** `tollgate export`: calls or runs as CSV or JSON lines, whole or not at all. */
import { Argument, type Command, Option } from 'commander';
import { OperatorError } from '../vocabulary/errors.ts';
import { repeatable } from './command-options.ts';
import { type ClientFlags, createGatewayClient, toQuery } from './gateway-client.ts';
import { copyBody, copyToFile } from './save-answer.ts';

interface ExportFlags extends ClientFlags {
  readonly format?: string;
  readonly output?: string;
  readonly filter: readonly string[];
  readonly search?: string;
  readonly from?: string;
  readonly to?: string;
  readonly excludeRuns?: true;
  readonly sort?: string;
  readonly columns?: string;
}

function questionOf(kind: string, trace: string | undefined, flags: ExportFlags): URLSearchParams {
  const fields = {
    kind,
    format: flags.format ?? (flags.json ? 'ndjson' : 'csv'),
    trace_id: trace,
    q: flags.search,
    from: flags.from,
    to: flags.to,
    sort: flags.sort,
    columns: flags.columns,
    exclude_runs: flags.excludeRuns ? 'true' : undefined,
  };
  return toQuery(fields, flags.filter);
}

async function runExport(kind: string, trace: string | undefined, flags: ExportFlags): Promise<void> {
  if ((kind === 'run') !== (trace !== undefined))
    throw new OperatorError(
      kind === 'run' ? 'name the run: tollgate export run TRACE' : `${kind} takes no trace id; use: export run TRACE`,
    );
  const client = createGatewayClient(flags);
  const path = `/api/v1/export?${questionOf(kind, trace, flags)}`;
  const response = await client.open(path, {}, new AbortController().signal);
  if (flags.output === undefined) await copyBody(response, process.stdout);
  else await copyToFile(response, flags.output);
}

export function addExportCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('export'))
    .description('all calls, all runs, or the calls of one run, as CSV or JSON lines')
    .addArgument(new Argument('<kind>', 'what to export').choices(['logs', 'runs', 'run']))
    .argument('[trace]', 'the trace id, for `run`')
    .addOption(new Option('--format <format>', 'csv unless --json is given').choices(['csv', 'ndjson']))
    .option('-o, --output <file>', 'into this file instead of the terminal; it appears when it is whole')
    .addOption(repeatable('--filter <column:op:value>', 'repeatable, as for logs; for runs also run.total_cost:gt:1'))
    .option('--search <text>', 'free text, in any case')
    .option('--from <time>', 'at or after, e.g. 2026-11-28T12:00:00Z')
    .option('--to <time>', 'before')
    .option('--exclude-runs', 'only calls that belong to no run')
    .option('--sort <column>', 'e.g. -total_cost: the most first')
    .option('--columns <names>', 'with commas, in this order; of calls also metadata.Key')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate export logs --from 2026-11-01 --output november.csv\n  tollgate export runs --filter run.total_cost:gt:1 --json | jq .trace_id',
    )
    .action((kind: string, trace: string | undefined, flags: ExportFlags) => runExport(kind, trace, flags));
}
