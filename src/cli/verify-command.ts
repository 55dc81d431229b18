/** `tollgate verify`: checks roll-ups and the ledger of calls. Exits with 1 when something is off. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatCount } from '../vocabulary/format-amounts.ts';
import { Status } from './findings.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { formatEquation, isUnbalanced } from './judge-ledger.ts';
import { describeLeft, hasLeft, type Node } from './judge-nodes.ts';
import { createOutput } from './output.ts';
import { readAgain } from './read-again.ts';
import { readNodes } from './read-nodes.ts';
import { terminalText } from './terminal-text.ts';
import { followJob, StartedJob } from './watch-job.ts';

const Result = z.object({
  differences: z.number(),
  shown: z.array(z.object({ rollup: z.string(), side: z.string(), trace_id: z.string().nullable(), row: z.string() })),
});

async function verify(flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const { job_id: jobId } = await client.ask(StartedJob, '/api/v1/verify', { method: 'POST' });
  const job = await followJob(client, jobId);
  const { differences, shown } = Result.parse(job['result']);
  const { accounts } = await client.ask(Status, '/api/v1/status');
  const later = accounts === null ? null : await readAgain(client, accounts);
  const { data: nodes } = await readNodes(client);
  const gone = nodes.filter((node) => node.state === 'silent' && hasLeft(node));
  const isBalanced = accounts !== null && later !== null && !isUnbalanced(accounts, later);
  if (differences > 0 || !isBalanced || gone.length > 0) process.exitCode = 1;
  if (flags.json) {
    for (const difference of shown) await output.json({ type: 'difference', ...difference });
    await output.json({
      type: 'result',
      differences,
      is_balanced: isBalanced,
      accounts: later,
      ...(gone.length === 0 ? {} : { gone_nodes: gone }),
    });
    return;
  }
  for (const { rollup, side, row } of shown) {
    const whose = side === 'records' ? 'the records say' : 'the roll-up has';
    await output.line(`${rollup}: ${whose} ${terminalText(row)}`);
  }
  if (differences > shown.length) await output.line(`and ${formatCount(differences - shown.length)} more`);
  await output.line(`roll-ups: ${formatCount(differences)} differences from the records`);
  if (later === null) await output.line('calls: the spool cannot be read; see the gateway’s log');
  else await output.line(`calls${ofWhich(nodes)}: ${isBalanced ? '' : 'do not balance: '}${formatEquation(later)}`);
  for (const node of gone)
    await output.line(`node ${terminalText(node.name)}: silent, so not all is here: ${describeLeft(node)}`);
}

/** The ledger covers the calls of the answering node, which may take none. */
function ofWhich(nodes: readonly Node[]): string {
  const self = nodes.find(({ is_self }) => is_self);
  return nodes.length < 2 || self === undefined ? '' : ` of node ${terminalText(self.name)}`;
}

export function addVerifyCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('verify'))
    .description(
      'compare every roll-up with the records, and account for every call; ends with 1 when something is off',
    )
    .addHelpText('after', '\nExample:\n  tollgate verify && echo "every sum is right"')
    .action((flags: ClientFlags) => verify(flags));
}
