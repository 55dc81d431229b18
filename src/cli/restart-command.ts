/** `tollgate restart`: replaces the gateway's processes without refusing a connection, and waits for the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { type ClientFlags, createGatewayClient, type GatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';

/** Each process may need several tries. */
const LIMIT_MS = 10 * 60_000;
const POLL_MS = 250;

const PATH = '/api/v1/restart';

const Processes = z.array(
  z.object({
    role: z.string(),
    state: z.string(),
    metrics: z.object({ open_calls: z.number() }).nullable(),
  }),
);
/** With processes from a node that only takes calls, which has no other status. */
const Restart = z.object({
  requested: z.number(),
  finished: z.number(),
  problem: z.string().nullable(),
  processes: Processes.optional(),
});
const Status = z.object({ restart: Restart.nullable(), processes: Processes });
type Status = z.infer<typeof Status>;

/** Null while the admin API is away: its process is replaced last. */
async function readStatus(client: GatewayClient, isProxyNode: boolean): Promise<Status | null> {
  try {
    if (!isProxyNode) return await client.ask(Status, '/api/v1/status');
    const restart = await client.ask(Restart, PATH);
    return { restart, processes: restart.processes ?? [] };
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}

async function waitFor(client: GatewayClient, restart: number, isProxyNode: boolean): Promise<Status> {
  const endMs = performance.now() + LIMIT_MS;
  while (performance.now() < endMs) {
    const status = await readStatus(client, isProxyNode);
    if (status !== null && (status.restart?.finished ?? 0) >= restart) return status;
    await sleep(POLL_MS);
  }
  throw new OperatorError('the restart is not over after ten minutes; `tollgate doctor` and the log say more');
}

async function restart(flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const { requested, processes } = await client.ask(Restart, PATH, { method: 'POST' });
  const status = await waitFor(client, requested, processes !== undefined);
  const draining = status.processes.filter(({ state }) => state === 'draining');
  const openCalls = draining.reduce((sum, { metrics }) => sum + (metrics?.open_calls ?? 0), 0);
  const problem = status.restart?.problem ?? null;
  if (flags.json) {
    await output.json({ restart: requested, problem, draining_processes: draining.length, draining_calls: openCalls });
  }
  if (problem !== null) throw new OperatorError(`not everything was restarted (${problem}); calls go on as before`);
  if (flags.json) return;
  const rest =
    openCalls === 0 ? '' : ` Calls that go on in the processes before: ${openCalls}; \`tollgate doctor\` shows them.`;
  await output.say(`The processes are restarted.${rest}`);
}

export function addRestartCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('restart'))
    .description(
      'replace the processes that take calls, and the dashboard’s, by new ones with the code that is installed now; no connection to the proxy is refused',
    )
    .addHelpText(
      'after',
      '\nCalls that are open go on in the old processes, for TOLLGATE_DRAIN_SECONDS at most. Settings and PostgreSQL stay as they are: for\nthose, stop the gateway and start it.\n\nExample:\n  tollgate restart && tollgate doctor',
    )
    .action((flags: ClientFlags) => restart(flags));
}
