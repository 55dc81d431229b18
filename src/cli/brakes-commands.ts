/** `tollgate brakes rules|set|list|pause|resume`: rules that stop what runs away; runs and keys whose calls are refused until somebody resumes them. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { formatExactCount } from '../vocabulary/format-amounts.ts';
import { parseLimit } from './command-options.ts';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import {
  AnyRecord,
  type ApiRecord,
  type ClientFlags,
  createGatewayClient,
  readList,
  toQuery,
} from './gateway-client.ts';
import { createOutput } from './output.ts';
import { terminalText } from './terminal-text.ts';

const COLUMNS = ['id', 'found (UTC)', 'rule', 'of', 'state', 'why'] as const;
const RULE_COLUMNS = ['rule', 'of', 'does', 'thresholds', 'when'] as const;
const ACTIONS = ['off', 'alarm', 'pause'] as const;
const SCOPES = ['run', 'key'] as const;
/** Of an account. */
const MAX_PAUSES = 500;
const SHOWN_HITS = 50;
const PAGE_ROWS = 200;

interface ListFlags extends ClientFlags {
  readonly paused?: true;
  readonly limit?: string;
}

interface PauseFlags extends ClientFlags {
  readonly reason?: string;
}

const RuleList = z.object({
  data: z.array(
    z.object({
      rule: z.string(),
      scope: z.string(),
      about: z.string(),
      action: z.string(),
      settings: z.array(z.object({ name: z.string(), value: z.number() })),
    }),
  ),
});

function describeSettings(settings: readonly { readonly name: string; readonly value: number }[]): string {
  return settings.map(({ name, value }) => `${name}=${value}`).join(' ');
}

async function listRules(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RuleList, '/api/v1/brakes');
  if (flags.json) return output.jsonLines(data);
  const rows = data.map(({ rule, scope, action, settings, about }) => [
    rule,
    scope,
    action,
    describeSettings(settings),
    about,
  ]);
  await output.lines(formatTable(RULE_COLUMNS, rows));
}

/** `times=30`. */
function readSetting(text: string): readonly [string, number] {
  const [, name, value] = /^([a-z_]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (name === undefined) throw new OperatorError(`"${text}" is no threshold; write it as name=number, as in times=30`);
  return [name, Number(value)];
}

async function setRule(rule: string, scope: string, words: readonly string[], flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const action = words.find((word) => ACTIONS.some((known) => known === word));
  const settings = Object.fromEntries(words.filter((word) => word !== action).map(readSetting));
  const body = { settings, ...(action === undefined ? {} : { action }) };
  const path = `/api/v1/brakes/${encodeURIComponent(rule)}/${scope}`;
  const changed = await createGatewayClient(flags).ask(RuleList.shape.data.element, path, { method: 'PUT', body });
  if (flags.json) return output.json(changed);
  return output.line(`${changed.rule} of a ${changed.scope}: ${changed.action}, ${describeSettings(changed.settings)}`);
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new OperatorError(`"${text}" is not the number of a pause; \`tollgate brakes list --paused\` shows them`);
  return Number(text);
}

function describeState(hit: ApiRecord): string {
  if (hit['is_paused'] === true) return 'paused';
  return hit['resumed_at'] === null ? 'alarm' : `resumed ${timeField(hit, 'resumed_at').slice(0, 16)}`;
}

async function listHits(flags: ListFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const isPaused = flags.paused === true;
  const limit = flags.limit === undefined ? (isPaused ? MAX_PAUSES : SHOWN_HITS) : parseLimit(flags.limit);
  const query = toQuery({ paused: isPaused ? 'true' : undefined });
  const hits: ApiRecord[] = [];
  for await (const hit of readList(createGatewayClient(flags), '/api/v1/brakes/hits', query, limit, PAGE_ROWS))
    hits.push(hit);
  if (flags.json) return output.jsonLines(hits);
  if (hits.length === 0) {
    process.stderr.write(isPaused ? 'Nothing is paused.\n' : 'No brake has hit anything.\n');
    return;
  }
  const rows = hits.map((hit) => [
    textField(hit, 'id'),
    timeField(hit, 'hit_at').slice(0, 16),
    textField(hit, 'rule'),
    terminalText(`${textField(hit, 'scope')} ${textField(hit, 'value')}`),
    describeState(hit),
    terminalText(textField(hit, 'reason')),
  ]);
  await output.lines(formatTable(COLUMNS, rows));
  if (hits.length === limit)
    process.stderr.write(`\nAt most the latest ${formatExactCount(limit)} are shown; --limit says how many.\n`);
}

async function pause(scope: string, value: string, flags: PauseFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const body = { scope, value, ...(flags.reason === undefined ? {} : { reason: flags.reason }) };
  const hit = await createGatewayClient(flags).ask(AnyRecord, '/api/v1/brakes/pauses', { method: 'POST', body });
  if (flags.json) return output.json(hit);
  const id = textField(hit, 'id');
  return output.line(
    `The ${scope} ${terminalText(value)} is paused; its calls are refused. Resume it with: tollgate brakes resume ${id}`,
  );
}

async function resume(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const path = `/api/v1/brakes/hits/${parseId(id)}/resume`;
  const hit = await createGatewayClient(flags).ask(AnyRecord, path, { method: 'POST' });
  if (flags.json) return output.json(hit);
  return output.line(`The ${textField(hit, 'scope')} ${terminalText(textField(hit, 'value'))} goes on.`);
}

function checkScope(text: string): string {
  if (!SCOPES.some((scope) => scope === text)) throw new OperatorError(`"${text}" is neither run nor key`);
  return text;
}

export function addBrakesCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const brakes = program.command('brakes').description('runs and keys that are stopped, and why (docs/brakes.md)');
  addClientOptions(brakes.command('rules'))
    .description('the rules: what each does, and from when on')
    .addHelpText('after', '\nExample:\n  tollgate brakes rules')
    .action((flags: ClientFlags) => listRules(flags));
  addClientOptions(brakes.command('set <rule> <scope> <what...>'))
    .description('what a rule does to a run or key (off, alarm, pause), and its thresholds (name=number)')
    .addHelpText('after', '\nExample:\n  tollgate brakes set same_tool_call run pause times=30')
    .action((rule: string, scope: string, words: readonly string[], flags: ClientFlags) =>
      setRule(rule, checkScope(scope), words, flags),
    );
  addClientOptions(brakes.command('list'))
    .description('what brakes have hit, the newest first')
    .option('--paused', 'only what is paused now, all of it')
    .option('-n, --limit <rows>', 'at most so many; else 50, or all that is paused')
    .addHelpText('after', '\nExample:\n  tollgate brakes list --paused')
    .action((flags: ListFlags) => listHits(flags));
  addClientOptions(brakes.command('pause <scope> <value>'))
    .description('refuse the calls of a run (by its trace id) or a key (by its number) until it is resumed')
    .addOption(new Option('--reason <text>', 'why; clients are told it'))
    .addHelpText('after', '\nExample:\n  tollgate brakes pause run nightly-1 --reason "loops since the deploy"')
    .action((scope: string, value: string, flags: PauseFlags) => pause(checkScope(scope), value, flags));
  addClientOptions(brakes.command('resume <id>'))
    .description('let a paused run or key go on')
    .addHelpText('after', '\nExample:\n  tollgate brakes resume 17')
    .action((id: string, flags: ClientFlags) => resume(id, flags));
}
