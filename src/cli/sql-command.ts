/** `tollgate sql`: a database login that may only read the log. */
import type { Command } from 'commander';
import { z } from 'zod';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';

interface SqlFlags extends ClientFlags {
  readonly remove?: true;
}

const Access = z.object({ role: z.string(), url: z.string() });

async function giveAccess(flags: SqlFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  if (flags.remove) {
    const removed = await client.ask(z.object({ role: z.string() }), '/api/v1/sql-access', { method: 'DELETE' });
    if (flags.json) return output.json(removed);
    await output.line('The login for SQL is gone, and its sessions have ended.');
    return;
  }
  const access = await client.ask(Access, '/api/v1/sql-access', { method: 'POST' });
  if (flags.json) return output.json(access);
  await output.line(`The role ${access.role} may read the views of the schema reporting, and nothing else:`);
  await output.line('');
  await output.line(`  psql '${access.url}'`);
  await output.line('');
  await output.line(
    'Its password is not shown again; the same command makes a new one, `--remove` takes the role away.',
  );
}

export function addSqlCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('sql'))
    .description('make a login that may read the log by SQL, and print how to connect (docs/sql.md)')
    .option('--remove', 'remove that login, and end its sessions')
    .addHelpText(
      'after',
      '\nExample:\n  psql "$(tollgate sql --json | jq -r .url)" -c "select metadata ->> \'feature\', sum(total_cost) from calls where requested_at > now() - interval \'1 day\' group by 1"',
    )
    .action((flags: SqlFlags) => giveAccess(flags));
}
