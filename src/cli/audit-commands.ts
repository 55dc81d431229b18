/** `tollgate audit list|export|verify`. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { z } from 'zod';
import { type AuditEntry, AuditEntryShape } from '../control/audit/audit-entry.ts';
import { type ChainVerdict, checkChain } from '../control/audit/verify-chain.ts';
import { OperatorError } from '../vocabulary/errors.ts';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { type ApiRecord, type ClientFlags, createGatewayClient, readList, toQuery } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { copyBody, copyToFile } from './save-answer.ts';
import { terminalText } from './terminal-text.ts';

const PAGE_ROWS = 200;
const MAX_STATE_CHARS = 60;

interface ListFlags extends ClientFlags {
  readonly from?: string;
  readonly to?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly limit: string;
}

function cut(text: string): string {
  return text.length <= MAX_STATE_CHARS ? text : `${text.slice(0, MAX_STATE_CHARS - 1)}…`;
}

function isChangedFrom(before: unknown, after: unknown): string {
  const [former, latter] = [before, after].map((state) => z.record(z.string(), z.json()).safeParse(state).data ?? {});
  const names = [...new Set([...Object.keys(former ?? {}), ...Object.keys(latter ?? {})])];
  const changed = names.filter((name) => JSON.stringify(former?.[name]) !== JSON.stringify(latter?.[name]));
  const say = (state: typeof former) =>
    changed.map((name) => `${name}=${JSON.stringify(state?.[name] ?? null)}`).join(' ');
  if (before === null || before === undefined) return say(latter);
  return after === null || after === undefined ? `was ${say(former)}` : `${say(former)} → ${say(latter)}`;
}

function toRow(entry: ApiRecord): readonly string[] {
  return [
    textField(entry, 'seq'),
    timeField(entry, 'at').slice(0, 19),
    textField(entry, 'actor_name'),
    textField(entry, 'from_address'),
    textField(entry, 'action'),
    `${textField(entry, 'subject_kind')} ${textField(entry, 'subject_id')}`.trim(),
    cut(terminalText(isChangedFrom(entry['before'], entry['after']))),
  ];
}

async function listAudit(flags: ListFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const limit = Number(flags.limit);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new OperatorError('--limit: give a whole number from 1 on');
  const query = toQuery({ from: flags.from, to: flags.to, actor: flags.actor, action: flags.action });
  const entries: ApiRecord[] = [];
  for await (const entry of readList(createGatewayClient(flags), '/api/v1/audit', query, limit, PAGE_ROWS))
    entries.push(entry);
  if (flags.json) return output.jsonLines(entries);
  const columns = ['row', 'at (UTC)', 'who', 'from', 'action', 'what', 'change'];
  await output.lines(formatTable(columns, entries.map(toRow)));
}

async function exportAudit(flags: ClientFlags & { readonly output?: string }): Promise<void> {
  const answer = await createGatewayClient(flags).open('/api/v1/audit/export', {}, new AbortController().signal);
  if (flags.output === undefined) await copyBody(answer, process.stdout);
  else await copyToFile(answer, flags.output);
}

interface VerifyFlags extends ClientFlags {
  readonly file?: string;
  readonly expect?: string;
}

function readEntry(line: string, number: number): AuditEntry {
  try {
    return AuditEntryShape.parse(JSON.parse(line));
  } catch (cause) {
    throw new OperatorError(`line ${number} is not a row of an audit log`, { cause });
  }
}

async function verifyLines(lines: AsyncIterable<string>, expected: string | null): Promise<ChainVerdict> {
  const check = checkChain(null, expected);
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line !== '' && !check.add(readEntry(line, number))) break;
  }
  return check.verdict();
}

/** The file, or what the gateway exports now: in both cases it is this program that verifies. */
async function openLines(flags: VerifyFlags): Promise<AsyncIterable<string>> {
  if (flags.file !== undefined) return createInterface({ input: createReadStream(flags.file) });
  const { body } = await createGatewayClient(flags).open('/api/v1/audit/export', {}, new AbortController().signal);
  if (body === null) throw new OperatorError('the gateway sent no rows');
  return createInterface({ input: Readable.fromWeb(body) });
}

async function verifyAudit(flags: VerifyFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const expected = flags.expect?.toLowerCase() ?? null;
  if (expected !== null && !/^[\da-f]{64}$/.test(expected))
    throw new OperatorError('--expect: give the 64 hexadecimal digits of a hash');
  let verdict = await verifyLines(await openLines(flags), expected);
  // Only the database knows what came after the last row, or before the first.
  if (flags.file === undefined && verdict.broken === null) verdict = await verifyEnds(flags, verdict);
  const isExpected = expected === null || verdict.hasExpected;
  const holds = verdict.broken === null && isExpected;
  if (!holds) process.exitCode = 1;
  if (flags.json)
    return output.json({
      holds,
      entries: verdict.entries,
      first_seq: verdict.firstSeq,
      last_seq: verdict.lastSeq,
      last_hash: verdict.lastHash,
      broken: verdict.broken,
      has_expected: expected === null ? null : verdict.hasExpected,
    });
  await output.line(describeVerdict(verdict, isExpected));
}

const Ends = z.object({ broken: z.object({ seq: z.number(), why: z.string() }).nullable() });

async function verifyEnds(flags: ClientFlags, verdict: ChainVerdict): Promise<ChainVerdict> {
  const { broken } = await createGatewayClient(flags).ask(Ends, '/api/v1/audit/verification');
  return { ...verdict, broken };
}

function describeVerdict({ broken, entries, firstSeq, lastSeq, lastHash }: ChainVerdict, isExpected: boolean): string {
  if (broken !== null)
    return `BROKEN at row ${broken.seq}: ${terminalText(broken.why)}. ${entries} rows before it hold.`;
  if (entries === 0)
    return isExpected ? 'The audit log is empty.' : 'The audit log is empty, and the hash is not in it.';
  const held = `${entries} rows hold, ${firstSeq} to ${lastSeq}.`;
  if (!isExpected)
    return `The hash of --expect is not among them: the log was written anew, or is older than that hash. ${held}`;
  return `${held} Keep this hash elsewhere and give it as --expect the next time: ${lastHash}`;
}

export function addAuditCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const audit = program.command('audit').description('who changed what (docs/audit.md)');
  addClientOptions(audit.command('list'))
    .description('the latest changes')
    .option('--from <time>', 'at or after, e.g. 2026-11-28T12:00:00Z')
    .option('--to <time>', 'before')
    .option('--actor <text>', 'a part of the name of who did it')
    .option('--action <action>', 'such as key.create, or key for all about keys')
    .option('--limit <rows>', 'at most so many', '50')
    .addHelpText('after', '\nExample:\n  tollgate audit list --action key --from 2026-11-01')
    .action((flags: ListFlags) => listAudit(flags));
  addClientOptions(audit.command('export'))
    .description('the whole log as JSON lines, the oldest row first')
    .option('-o, --output <file>', 'into this file instead of the terminal; it appears when it is whole')
    .addHelpText('after', '\nExample:\n  tollgate audit export --output audit.ndjson')
    .action((flags: ClientFlags & { readonly output?: string }) => exportAudit(flags));
  addClientOptions(audit.command('verify'))
    .description('whether every row is as it was written; ends with 1 when one is not')
    .option('--file <file>', 'an exported file, without any gateway')
    .option('--expect <hash>', 'a hash that was kept elsewhere: shows that nothing up to it was written anew')
    .addHelpText('after', '\nExamples:\n  tollgate audit verify\n  tollgate audit verify --file audit.ndjson')
    .action((flags: VerifyFlags) => verifyAudit(flags));
}
