/** `tollgate nodes`: the nodes that share the database, and taking out one that is gone. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatDuration, formatExactCount } from '../format-amounts.ts';
import { formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { formatSkew, type Node, Nodes } from './judge-nodes.ts';
import { createOutput } from './output.ts';
import { terminalText } from './terminal-text.ts';

interface NodesFlags extends ClientFlags {
  readonly json?: true;
}

const Forgotten = z.object({ forgotten: z.number() });

const COLUMNS = [
  ...[{ title: 'node' }, { title: 'role' }, { title: 'state' }, { title: 'version' }, { title: 'clock' }],
  { title: 'waiting', align: 'right' },
  { title: 'open', align: 'right' },
  ...[{ title: 'started' }, { title: 'host' }],
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

async function list(flags: NodesFlags): Promise<void> {
  const client = createGatewayClient(flags, process.env);
  const output = createOutput(process.stdout);
  const { data } = await client.ask(Nodes, '/api/v1/nodes');
  if (flags.json) {
    for (const node of data) await output.json(node);
    return;
  }
  for (const line of formatTable(COLUMNS, data.map(toCells))) await output.line(line);
}

async function forget(name: string, flags: NodesFlags): Promise<void> {
  const client = createGatewayClient(flags, process.env);
  const output = createOutput(process.stdout);
  const answer = await client.ask(Forgotten, `/api/v1/nodes/${encodeURIComponent(name)}`, { method: 'DELETE' });
  if (flags.json) await output.json(answer);
  else await output.line(`Taken out of the list: ${answer.forgotten}. Its calls stay in the log.`);
}

export function addNodesCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const nodes = addClientOptions(program.command('nodes'))
    .description('the nodes that share the database, with what each has left to store; * is the one that answers')
    .action((flags: NodesFlags) => list(flags));
  addClientOptions(nodes.command('forget'))
    .argument('<name>', 'its name, or its id where two have the same name')
    .description('take a node that is gone out of the list; its calls stay')
    .action((name: string, _flags: NodesFlags, command: Command) => forget(name, command.optsWithGlobals()));
}
