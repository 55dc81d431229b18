/** `tollgate nodes`: lists the nodes that share the database, and forgets one that is gone. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatDuration, formatExactCount } from '../vocabulary/format-amounts.ts';
import { formatTable, right } from './format-table.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { formatSkew, type Node, Nodes } from './judge-nodes.ts';
import { createOutput } from './output.ts';
import { terminalText } from './terminal-text.ts';

const Forgotten = z.object({ forgotten: z.number() });

const COLUMNS = [
  'node',
  'role',
  'state',
  'version',
  'clock',
  right('waiting'),
  right('open'),
  'started',
  'host',
] as const;

function toCells(node: Node): string[] {
  const state = node.state === 'live' ? 'live' : `${node.state} for ${formatDuration(node.silent_seconds * 1_000)}`;
  return [
    `${terminalText(node.name)}${node.is_self ? ' *' : ''}`,
    node.role,
    state,
    terminalText(node.version),
    formatSkew(node.clock_skew_ms),
    node.records_waiting === null ? '?' : formatExactCount(node.records_waiting),
    node.open_calls === null ? '?' : formatExactCount(Math.max(node.open_calls, node.shown_open)),
    node.started_at.slice(0, 16),
    terminalText(node.host),
  ];
}

async function list(flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const { data } = await client.ask(Nodes, '/api/v1/nodes');
  if (flags.json) return output.jsonLines(data);
  await output.lines(formatTable(COLUMNS, data.map(toCells)));
}

async function forget(name: string, flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const answer = await client.ask(Forgotten, `/api/v1/nodes/${encodeURIComponent(name)}`, { method: 'DELETE' });
  if (flags.json) await output.json(answer);
  else await output.line(`Taken out of the list: ${answer.forgotten}. Its calls stay in the log.`);
}

export function addNodesCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const nodes = addClientOptions(program.command('nodes'))
    .description('the nodes that share the database, with what each has left to store; * is the one that answers')
    .action((flags: ClientFlags) => list(flags));
  addClientOptions(nodes.command('forget'))
    .argument('<name>', 'its name, or its id where two have the same name')
    .description('take a node that is gone out of the list; its calls stay')
    .action((name: string, _flags: ClientFlags, command: Command) => forget(name, command.optsWithGlobals()));
}
