/** `tollgate runs group|ungroup`: runs of stored calls by their agents' sessions; a dry run unless told to apply. */
import type { Command } from 'commander';
import { z } from 'zod';
import { repeatable } from './command-options.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { followJob, StartedJob } from './watch-job.ts';

interface GroupFlags extends ClientFlags {
  readonly from?: string;
  readonly to?: string;
  readonly filter: readonly string[];
  readonly apply?: true;
}

const Ended = z.object({ result: z.object({ calls: z.number(), runs: z.number() }) });

async function groupRuns(action: 'group' | 'ungroup', flags: GroupFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const { from, to, filter, apply } = flags;
  const body = { action, from, to, f: filter, dry_run: apply !== true };
  const { job_id: id } = await client.ask(StartedJob, '/api/v1/runs/grouping', { method: 'POST', body });
  const { result } = Ended.parse(await followJob(client, id));
  if (flags.json) return output.json({ job_id: id, dry_run: apply !== true, ...result });
  const what = `${result.calls} calls of ${result.runs} runs`;
  const verb = action === 'group' ? 'put into their runs' : 'taken out of their runs';
  if (apply === true) return output.line(`${what} ${verb}.`);
  return output.line(
    result.calls === 0 ? 'Nothing would change.' : `${what} would be ${verb}. No changes yet: give --apply to do it.`,
  );
}

export function addGroupRunsCommands(runs: Command, addClientOptions: (command: Command) => Command): void {
  const texts = {
    group: 'put stored calls without a run into the runs of their agents’ sessions; a dry run unless --apply is given',
    ungroup: 'take apart what `runs group` has put together; a dry run unless --apply is given',
  } as const;
  for (const action of ['group', 'ungroup'] as const) {
    addClientOptions(runs.command(action))
      .description(texts[action])
      .option('--from <time>', 'calls at or after, e.g. 2026-11-28T12:00:00Z; else from the first on')
      .option('--to <time>', 'calls before; else up to now')
      .addOption(repeatable('--filter <column:op:value>', 'repeatable, as in `tollgate logs`'))
      .option('--apply', 'do it')
      .addHelpText('after', `\nExample:\n  tollgate runs ${action} --filter client:eq:codex`)
      .action((_: unknown, command: Command) => groupRuns(action, command.optsWithGlobals<GroupFlags>()));
  }
}
