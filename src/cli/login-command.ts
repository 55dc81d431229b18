/** `tollgate login`: a link that signs a browser in to the dashboard. */
import type { Command } from 'commander';
import { z } from 'zod';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { createOutput } from './output.ts';

const LoginLink = z.object({ url: z.string(), expires_at: z.string() });

async function printLink(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const link = await createGatewayClient(flags).ask(LoginLink, '/api/v1/login-links', { method: 'POST' });
  if (flags.json) return output.json(link);
  process.stderr.write('Open this link within ten minutes; it signs in one browser:\n');
  return output.line(link.url);
}

export function addLoginCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('login'))
    .description('print a link that signs a browser in to the dashboard, once')
    .addHelpText('after', '\nExample:\n  open "$(tollgate login)"')
    .action((flags: ClientFlags) => printLink(flags));
}
