/** `tollgate restore`: puts a backup into the running gateway, whole or not at all. */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';
import { confirm } from '../confirm.ts';
import { type ClientFlags, createGatewayClient } from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { describeLeft, formatContent } from './format-backup.ts';
import { readBackupFile } from './read-backup-file.ts';
import { createTicker } from './ticker.ts';

interface RestoreFlags extends ClientFlags {
  readonly replace?: true;
  readonly yes?: true;
}

const Holds = z.object({ holds: z.array(z.string()) });
const Restored = z.object({
  created_at: z.string(),
  tollgate_version: z.string(),
  rows: z.number(),
  bytes: z.number(),
  tables: z.array(z.object({ name: z.string(), rows: z.number() })),
  replaced: z.array(z.string()),
  keys_published: z.boolean(),
  interrupted: z.number(),
  // A gateway that was not started anew since an upgrade says nothing of them.
  alerts_on: z.number().default(0),
  alerts_tell: z.array(z.string()).default([]),
});

/** Reports the bytes as they pass. */
async function* told(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    yield chunk;
    bytes += chunk.length;
    onBytes(bytes);
  }
}

async function runRestore(path: string, flags: RestoreFlags): Promise<void> {
  const client = createGatewayClient(flags);
  // Checked first, so that the gateway gets no damaged file.
  const content = await readBackupFile(path, createReadStream(path));
  const { holds } = await client.ask(Holds, '/api/v1/restore');
  if (holds.length > 0 && flags.replace !== true)
    throw new OperatorError(
      `this gateway has ${holds.join(', ')}; restore into an empty one, or remove all of that with --replace`,
    );
  if (holds.length > 0 && flags.yes !== true) {
    for (const line of formatContent(path, content)) process.stderr.write(`${line}\n`);
    const question = `Remove everything that this gateway has (${holds.join(', ')}; its keys stop working), and put this backup in its place?`;
    if (!(await confirm(question, 'add --yes if you mean it'))) {
      process.stderr.write('Nothing was changed.\n');
      return;
    }
  }
  const ticker = createTicker(process.stderr);
  const table = `sent; the gateway stores them and then checks all ${content.rows} rows`;
  const body = told(path, (bytes) => ticker.show({ table, rows: content.rows, bytes }));
  const restored = await client
    .upload(Restored, `/api/v1/restore?replace=${flags.replace === true}`, body)
    .finally(ticker.clear);
  const left = describeLeft(content);
  if (left !== null) process.stderr.write(`${left}\n`);
  const output = createOutput(process.stdout);
  if (flags.json) return output.json(restored);
  const calls = restored.tables.find(({ name }) => name === 'llm_requests')?.rows ?? 0;
  await output.line(`Restored: ${restored.rows} rows, ${calls} calls, as of ${restored.created_at}.`);
  if (restored.replaced.length > 0) await output.line(`Removed: ${restored.replaced.join(', ')}.`);
  if (restored.interrupted > 0)
    await output.line(`${restored.interrupted} calls were under way when it was made; they are logged as interrupted.`);
  if (restored.alerts_on > 0)
    await output.line(
      `Alerts that are on: ${restored.alerts_on}. They tell: ${restored.alerts_tell.join(', ') || 'nobody'}. See \`tollgate alerts list\`.`,
    );
  await output.say(
    restored.keys_published
      ? 'The keys of the backup work now, and no others.'
      : 'The keys of the backup are stored; a proxy process has not confirmed them yet, see `tollgate doctor`.',
  );
}

export function addRestoreCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('restore'))
    .description(
      'put a backup into the running gateway, whole or not at all; what arrives meanwhile is stored afterwards',
    )
    .argument('<file>', 'made by `tollgate backup`, by this release or one before')
    .option('--replace', 'remove the calls, keys and declarations that the gateway has')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      '\nThe gateway keeps its admin token, its settings and the sessions that begin with that token; its keys are those of the backup\nafterwards, and people sign in again.\n\nExamples:\n  tollgate restore november.backup\n  tollgate restore november.backup --replace',
    )
    .action((path: string, flags: RestoreFlags) => runRestore(path, flags));
}
