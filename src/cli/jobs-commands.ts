/** `tollgate jobs list|watch|cancel|resume`. */
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { timeField } from './fields.ts';
import { formatProgress } from './format-progress.ts';
import { formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { WatchedJob, watchJob } from './watch-job.ts';

const JobList = z.object({ data: z.array(WatchedJob.extend({ created_at: z.string() })) });

function parseId(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new OperatorError(`"${text}" is not the id of a job; \`tollgate jobs list\` shows them`);
  return Number(text);
}

async function listJobs(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(JobList, '/api/v1/jobs');
  if (flags.json) return output.jsonLines(data);
  if (data.length === 0) {
    process.stderr.write('There was no long work yet.\n');
    return;
  }
  const rows = data.map((job) => [
    String(job.id),
    job.state,
    timeField({ at: job.created_at }, 'at').slice(0, 16),
    formatProgress(job),
  ]);
  await output.lines(formatTable(['id', 'state', 'created (UTC)', 'progress'], rows));
}

async function changeJob(id: string, change: 'cancel' | 'resume', flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const job = await client.ask(WatchedJob, `/api/v1/jobs/${parseId(id)}/${change}`, { method: 'POST' });
  return flags.json ? output.json(job) : output.line(`Job ${id} is ${job.state}: ${formatProgress(job)}`);
}

export function addJobsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const jobs = program.command('jobs').description('long work of the gateway');
  addClientOptions(jobs.command('list'))
    .description('the latest jobs')
    .addHelpText('after', '\nExample:\n  tollgate jobs list')
    .action((flags: ClientFlags) => listJobs(flags));
  addClientOptions(jobs.command('watch <id>'))
    .description('show a job until it ends; Ctrl-C ends only the showing')
    .addHelpText('after', '\nExample:\n  tollgate jobs watch 3')
    .action((id: string, flags: ClientFlags) => watchJob(createGatewayClient(flags), parseId(id), flags.json === true));
  addClientOptions(jobs.command('cancel <id>'))
    .description('stop a job; what it has done stays')
    .addHelpText('after', '\nExample:\n  tollgate jobs cancel 3')
    .action((id: string, flags: ClientFlags) => changeJob(id, 'cancel', flags));
  addClientOptions(jobs.command('resume <id>'))
    .description('go on where a cancelled or failed job stopped')
    .addHelpText('after', '\nExample:\n  tollgate jobs resume 3')
    .action((id: string, flags: ClientFlags) => changeJob(id, 'resume', flags));
}
