/** `tollgate erase run|metadata|list`. */
import type { Command } from 'commander';
import { z } from 'zod';
import { numberField, textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { followJob, StartedJob } from './watch-job.ts';

const PATH = '/api/v1/erasures';

interface EraseFlags extends ClientFlags {
  readonly apply?: true;
}

const Ended = z.object({ result: z.object({ calls: z.number() }) });

async function erase(target: Readonly<Record<string, string>>, flags: EraseFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const isDryRun = flags.apply !== true;
  const body = { ...target, dry_run: isDryRun };
  const { job_id: id } = await client.ask(StartedJob, PATH, { method: 'POST', body });
  const { result } = Ended.parse(await followJob(client, id));
  if (flags.json) return output.json({ job_id: id, dry_run: isDryRun, ...result });
  if (!isDryRun) return output.line(`${result.calls} calls were erased: what they cost stays, what they said is gone.`);
  await output.line(
    result.calls === 0
      ? 'No call is meant.'
      : `${result.calls} calls would be erased, for good. No changes yet: give --apply to do it.`,
  );
}

async function listErasures(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((erasure) => [
    textField(erasure, 'id'),
    timeField(erasure, 'asked_at').slice(0, 16),
    textField(erasure, 'asked_by'),
    textField(erasure, 'metadata_key') || textField(erasure, 'kind'),
    textField(erasure, 'target_sha256').slice(0, 12),
    String(numberField(erasure, 'calls') ?? 0),
    erasure['dry_run'] === true ? 'dry run' : erasure['ended_at'] === null ? 'under way' : 'erased',
  ]);
  await output.lines(formatTable(['id', 'asked (UTC)', 'by', 'what', 'SHA-256', 'calls', 'state'], rows));
}

export function addEraseCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const erasing = program
    .command('erase')
    .description('erase what one run’s or one user’s calls say, for good (docs/erasure.md)');
  addClientOptions(erasing.command('run <trace>'))
    .description('the calls of one run; a dry run unless --apply is given')
    .option('--apply', 'do it')
    .addHelpText('after', '\nExample:\n  tollgate erase run checkout-4711 --apply')
    .action((trace: string, flags: EraseFlags) => erase({ trace_id: trace }, flags));
  addClientOptions(erasing.command('metadata <key> <value>'))
    .description('all calls with this value of a metadata key, such as a user’s; a dry run unless --apply is given')
    .option('--apply', 'do it')
    .addHelpText('after', '\nExample:\n  tollgate erase metadata User ann@example.com --apply')
    .action((key: string, value: string, flags: EraseFlags) => erase({ metadata_key: key, value }, flags));
  addClientOptions(erasing.command('list'))
    .description('what was erased')
    .addHelpText('after', '\nExample:\n  tollgate erase list')
    .action((flags: ClientFlags) => listErasures(flags));
}
