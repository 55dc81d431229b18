/** `tollgate quarantine`: lists records and files that could not be stored or read, with advice. */
import type { Command } from 'commander';
import { formatBytes, formatExactCount } from '../vocabulary/format-amounts.ts';
import { parseLimit } from './command-options.ts';
import { numberField, textField, timeField } from './fields.ts';
import { type Column, formatTable, right } from './format-table.ts';
import { type ApiRecord, type ClientFlags, createGatewayClient, readList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { cutText } from './terminal-text.ts';

interface QuarantineFlags extends ClientFlags {
  readonly limit: string;
}

const PAGE_ROWS = 500;
const REASON_WIDTH = 60;

const COLUMNS: readonly Column[] = ['put aside (UTC)', 'kind', right('size'), 'call', 'reason'];

const RECORD_ADVICE =
  'A record was refused by the database in every form; the reason is the database’s. Mend that first, if it is yours (a\n' +
  'constraint, a trigger). It is not tried again: its file has what its row would have had, without bodies.';
const SEGMENT_ADVICE =
  'A segment is a damaged file of the spool. What could be read of it is in the log; `tollgate doctor` counts the rest as\n' +
  'lost. Look at the disk.';
const FILES_ADVICE =
  'The files are in the folder quarantine of the data directory. Delete those that you have dealt with: the log and the\n' +
  'account of calls stay as they are.';

function toRow(item: ApiRecord): string[] {
  return [
    timeField(item, 'set_aside_at').slice(0, 19),
    textField(item, 'kind'),
    formatBytes(numberField(item, 'bytes')),
    textField(item, 'id') || textField(item, 'file'),
    cutText(textField(item, 'reason') || (item['kind'] === 'segment' ? 'damaged' : 'not known'), REASON_WIDTH),
  ];
}

async function listItems(flags: QuarantineFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const items: ApiRecord[] = [];
  const limit = parseLimit(flags.limit);
  for await (const item of readList(client, '/api/v1/quarantine', new URLSearchParams(), limit, PAGE_ROWS)) {
    if (flags.json) await output.json(item);
    else items.push(item);
  }
  if (flags.json) return;
  if (items.length === 0) {
    process.stderr.write(
      'Nothing was put aside: every record was stored, and every file of the spool could be read.\n',
    );
    return;
  }
  await output.lines(formatTable(COLUMNS, items.map(toRow)));
  if (items.length === limit)
    process.stderr.write(`\nAt most the latest ${formatExactCount(limit)} are shown; --limit says how many.\n`);
  if (items.some(({ kind }) => kind === 'record')) process.stderr.write(`\n${RECORD_ADVICE}\n`);
  if (items.some(({ kind }) => kind === 'segment')) process.stderr.write(`\n${SEGMENT_ADVICE}\n`);
  process.stderr.write(`\n${FILES_ADVICE}\n`);
}

export function addQuarantineCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('quarantine'))
    .description('what was put aside since it could not be stored or read, the latest first, and what to do about it')
    .option('-n, --limit <files>', 'at most so many', '50')
    .addHelpText('after', '\nExample:\n  tollgate quarantine --json | jq .reason')
    .action((flags: QuarantineFlags) => listItems(flags));
}
