/** `tollgate metadata list|promote|demote`. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatCount } from '../vocabulary/format-amounts.ts';
import { numberField, textField, timeField } from './fields.ts';
import { formatTable, right } from './format-table.ts';
import { type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { cutText, terminalText } from './terminal-text.ts';
import { StartedJob, watchJob } from './watch-job.ts';

interface ChangeFlags extends ClientFlags {
  readonly as?: string;
  readonly wait?: boolean;
}

const Examples = z.array(z.object({ value: z.string() }));

const EXAMPLE_WIDTH = 50;

const COLUMNS = [
  'key',
  'state',
  right('calls'),
  right('share'),
  right('values'),
  'last seen (UTC)',
  'examples',
] as const;

function formatKey(key: ApiRecord): string[] {
  const examples = Examples.safeParse(key['examples']);
  const texts = examples.success ? examples.data.map(({ value }) => terminalText(value)) : [];
  return [
    textField(key, 'key'),
    textField(key, 'state'),
    formatCount(numberField(key, 'calls')),
    `${Math.round((numberField(key, 'share') ?? 0) * 100)} %`,
    formatCount(numberField(key, 'distinct_values')),
    timeField(key, 'last_seen').slice(0, 16),
    cutText(texts.join(', '), EXAMPLE_WIDTH),
  ];
}

async function listKeys(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, '/api/v1/metadata-keys');
  if (flags.json) return output.jsonLines(data);
  await output.lines(formatTable(COLUMNS, data.map(formatKey)));
}

async function changeKey(key: string, change: 'promote' | 'demote', body: object | undefined, flags: ChangeFlags) {
  const client = createGatewayClient(flags);
  const path = `/api/v1/metadata-keys/${encodeURIComponent(key)}/${change}`;
  const { job_id: id } = await client.ask(StartedJob, path, { method: 'POST', body });
  if (flags.wait !== false) return watchJob(client, id, flags.json === true);
  const output = createOutput(process.stdout);
  return flags.json
    ? output.json({ job_id: id })
    : output.say(`Job ${id} is under way; \`tollgate jobs list\` shows it.`);
}

export function addMetadataCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const metadata = program
    .command('metadata')
    .description('metadata keys: what clients send as other X-Gateway headers');
  addClientOptions(metadata.command('list'))
    .description('the keys of the last 7 days, and those that are promoted')
    .addHelpText('after', '\nExample:\n  tollgate metadata list --json | jq .key')
    .action((flags: ClientFlags) => listKeys(flags));
  addClientOptions(metadata.command('promote <key>'))
    .description('index a key, so that filters and groups by it are quick; shows the work until it is done')
    .option('--as <spelling>', 'the spelling to keep it under (as written)')
    .option('--no-wait', 'only begin')
    .addHelpText('after', '\nExample:\n  tollgate metadata promote Feature')
    .action((key: string, flags: ChangeFlags) =>
      changeKey(key, 'promote', flags.as === undefined ? {} : { display_key: flags.as }, flags),
    );
  addClientOptions(metadata.command('demote <key>'))
    .description('undo a promotion')
    .option('--no-wait', 'only begin')
    .addHelpText('after', '\nExample:\n  tollgate metadata demote Feature')
    .action((key: string, flags: ChangeFlags) => changeKey(key, 'demote', undefined, flags));
}
