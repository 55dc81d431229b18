/** `tollgate settings`: shows and changes the settings shared by all nodes. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { terminalText } from './terminal-text.ts';

const SharedSettings = z.object({
  data: z.array(
    z.object({ name: z.string(), value: z.string(), about: z.string(), set_by: z.string(), actor: z.string() }),
  ),
});

const COLUMNS = ['setting', 'value', 'set by', 'what it is'] as const;

async function show(answer: z.infer<typeof SharedSettings>, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  if (flags.json) return output.jsonLines(answer.data);
  const rows = answer.data.map(({ name, value, set_by, actor, about }) => [
    name,
    terminalText(value),
    `${set_by}${actor === '' ? '' : ` (${terminalText(actor)})`}`,
    about,
  ]);
  await output.lines(formatTable(COLUMNS, rows));
}

async function list(flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  await show(await client.ask(SharedSettings, '/api/v1/settings'), flags);
}

async function set(name: string, value: string, flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const options = { method: 'PUT', body: { value } } as const;
  await show(await client.ask(SharedSettings, `/api/v1/settings/${encodeURIComponent(name)}`, options), flags);
}

export function addSettingsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const settings = addClientOptions(program.command('settings'))
    .description('the settings that stand in the database and hold for all nodes')
    .action((flags: ClientFlags) => list(flags));
  addClientOptions(settings.command('set'))
    .argument('<name>', 'such as retention_rows')
    .argument('<value>')
    .description('change one for all nodes; what a node is started with changes it no more')
    .addHelpText('after', '\nExample:\n  tollgate settings set retention_rows 365')
    .action((name: string, value: string, _flags: ClientFlags, command: Command) =>
      set(name, value, command.optsWithGlobals()),
    );
}
