/** `tollgate demo load|remove`: example runs and calls. */
import type { Command } from 'commander';
import { z } from 'zod';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';

const PATH = '/api/v1/demo-data';
const Loaded = z.object({ loaded: z.number() });
const Removed = z.object({ removed: z.number() });

async function load(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const answer = await createGatewayClient(flags).ask(Loaded, PATH, { method: 'POST' });
  if (flags.json) return output.json(answer);
  if (answer.loaded === 0) return output.say('The demo data is loaded already; `tollgate demo remove` takes it out.');
  return output.say(
    `Loaded ${answer.loaded} calls of the last two days, marked Environment: demo. See \`tollgate runs\`; \`tollgate demo remove\` takes them out.`,
  );
}

async function remove(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const answer = await createGatewayClient(flags).ask(Removed, PATH, { method: 'DELETE' });
  if (flags.json) return output.json(answer);
  return output.line(
    answer.removed === 0
      ? 'There is no demo data.'
      : `Removed ${answer.removed} calls of demo data; your own are untouched.`,
  );
}

export function addDemoCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const demo = program.command('demo').description('example runs and calls, to see what the dashboard shows');
  addClientOptions(demo.command('load'))
    .description('put them into the log; again adds nothing')
    .addHelpText('after', '\nExample:\n  tollgate demo load && tollgate runs')
    .action((flags: ClientFlags) => load(flags));
  addClientOptions(demo.command('remove'))
    .description('take all of them out again, and nothing else')
    .addHelpText('after', '\nExample:\n  tollgate demo remove')
    .action((flags: ClientFlags) => remove(flags));
}
