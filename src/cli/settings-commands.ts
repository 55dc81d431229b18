/** `tollgate settings`: what holds for all nodes that share the database, and changing it. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { terminalText } from './terminal-text.ts';

interface SettingsFlags extends ClientFlags {
  readonly json?: true;
}

const SharedSettings = z.object({
  data: z.array(
    z.object({ name: z.string(), value: z.string(), about: z.string(), set_by: z.string(), actor: z.string() }),
  ),
});

const COLUMNS = [{ title: 'setting' }, { title: 'value' }, { title: 'set by' }, { title: 'what it is' }] as const;

async function show(answer: z.infer<typeof SharedSettings>, flags: SettingsFlags): Promise<void> {
  const output = createOutput(process.stdout);
  if (flags.json) {
    for (const setting of answer.data) await output.json(setting);
    return;
  }
  const rows = answer.data.map(({ name, value, set_by, actor, about }) => [
    name,
    terminalText(value),
    `${set_by}${actor === '' ? '' : ` (${terminalText(actor)})`}`,
    about,
  ]);
  for (const line of formatTable(COLUMNS, rows)) await output.line(line);
}

async function list(flags: SettingsFlags): Promise<void> {
  const client = createGatewayClient(flags, process.env);
  await show(await client.ask(SharedSettings, '/api/v1/settings'), flags);
}

async function set(name: string, value: string, flags: SettingsFlags): Promise<void> {
  const client = createGatewayClient(flags, process.env);
  const options = { method: 'PUT', body: { value } } as const;
  await show(await client.ask(SharedSettings, `/api/v1/settings/${encodeURIComponent(name)}`, options), flags);
}

export function addSettingsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const settings = addClientOptions(program.command('settings'))
    .description('the settings that stand in the database and hold for all nodes')
    .action((flags: SettingsFlags) => list(flags));
  addClientOptions(settings.command('set'))
    .argument('<name>', 'such as retention_rows')
    .argument('<value>')
    .description('change one for all nodes; what a node is started with changes it no more')
    .addHelpText('after', '\nExample:\n  tollgate settings set retention_rows 365')
    .action((name: string, value: string, _flags: SettingsFlags, command: Command) =>
      set(name, value, command.optsWithGlobals()),
    );
}
