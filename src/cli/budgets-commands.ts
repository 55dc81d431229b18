/** `tollgate budgets list|runs|show|create|edit|delete|nodes|release`. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { formatDuration } from '../vocabulary/format-amounts.ts';
import { formatUsd, parseUsd } from '../vocabulary/usd.ts';
import { confirm } from './confirm.ts';
import { formatTable, right } from './format-table.ts';
import { type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { BudgetOverview, sumOf } from './judge-budgets.ts';
import { createOutput } from './output.ts';
import { terminalText } from './terminal-text.ts';

const SCOPES = ['run', 'key', 'account', 'owner', 'metadata'] as const;
const PERIODS = ['hour', 'day', 'week', 'month', 'once'] as const;
const COLUMNS = [
  'id',
  'name',
  'of',
  right('amount'),
  'period',
  'beyond it',
  right('most used'),
  'by',
  'resets (UTC)',
] as const;
const USE_COLUMNS = [
  'value',
  right('spent'),
  right('reserved'),
  right('left'),
  right('forecast'),
  right('calls'),
] as const;

const Budget = z.looseObject({
  id: z.number(),
  name: z.string(),
  scope: z.string(),
  metadata_key: z.string().nullable(),
  value: z.string().nullable(),
  amount_usd: z.string(),
  period: z.string(),
  hard: z.boolean(),
  when_unknown: z.string(),
  contact: z.string().nullable(),
  resets_at: z.string().nullable(),
  uses: z.array(
    z.object({
      value: z.string(),
      limit_usd: z.string(),
      spent_usd: z.string(),
      reserved_usd: z.string(),
      forecast_usd: z.string().nullable(),
      calls: z.number(),
    }),
  ),
});
type Budget = z.infer<typeof Budget>;
const BudgetList = z.object({ data: z.array(Budget) });

interface ChangeFlags extends ClientFlags {
  readonly name?: string;
  readonly amount?: string;
  readonly soft?: true;
  readonly hard?: true;
  readonly whenUnknown?: string;
  readonly hold?: string;
  readonly contact?: string;
  readonly reserve?: string;
}

interface CreateFlags extends ChangeFlags {
  readonly scope: string;
  readonly amount: string;
  readonly metadataKey?: string;
  readonly value?: string;
  readonly period: string;
  readonly timeZone?: string;
}

interface ShowFlags extends ClientFlags {
  readonly value?: string;
  readonly limit: string;
}

function describeScope({ scope, metadata_key: key, value }: Budget): string {
  const what = scope === 'metadata' ? `${key}` : scope;
  if (scope === 'account') return what;
  return value === null ? `each ${what}` : `${what} ${terminalText(value)}`;
}

function formatBudget(budget: Budget): string[] {
  const [most] = budget.uses;
  return [
    String(budget.id),
    terminalText(budget.name),
    describeScope(budget),
    `$${budget.amount_usd}`,
    budget.period,
    budget.hard ? 'refused' : 'marked',
    most === undefined ? '' : `$${most.spent_usd}`,
    most === undefined ? '' : terminalText(most.value),
    budget.resets_at?.slice(0, 16) ?? 'never',
  ];
}

async function listBudgets(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(BudgetList, '/api/v1/budgets');
  if (flags.json) return output.jsonLines(data);
  await output.lines(formatTable(COLUMNS, data.map(formatBudget)));
}

async function printBudget(budget: Budget, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  if (flags.json) return output.json(budget);
  await output.lines(formatTable(COLUMNS, [formatBudget(budget)]));
  if (budget.uses.length === 0) return output.line('Nothing is spent of it in this period.');
  const rows = budget.uses.map((use) => [
    terminalText(use.value) || budget.scope,
    `$${use.spent_usd}`,
    `$${use.reserved_usd}`,
    `$${leftOf(use)}`,
    use.forecast_usd === null ? '' : `$${use.forecast_usd}`,
    String(use.calls),
  ]);
  await output.lines(['', ...formatTable(USE_COLUMNS, rows)]);
}

function leftOf({ limit_usd: limit, spent_usd: spent, reserved_usd: reserved }: Budget['uses'][number]): string {
  const left = parseUsd(limit) - parseUsd(spent) - parseUsd(reserved);
  return formatUsd(left < 0n ? 0n : left);
}

async function showBudget(id: string, flags: ShowFlags): Promise<void> {
  const query = new URLSearchParams({
    limit: flags.limit,
    ...(flags.value === undefined ? {} : { value: flags.value }),
  });
  const path = `/api/v1/budgets/${encodeURIComponent(id)}?${query}`;
  await printBudget(await createGatewayClient(flags).ask(Budget, path), flags);
}

function readChange(flags: ChangeFlags): Record<string, unknown> {
  return {
    name: flags.name,
    amount_usd: flags.amount,
    ...(flags.soft === true ? { hard: false } : {}),
    ...(flags.hard === true ? { hard: true } : {}),
    when_unknown: flags.hold === undefined ? flags.whenUnknown : 'hold',
    held_when_unknown_usd: flags.hold ?? (flags.whenUnknown === undefined ? undefined : null),
    contact: flags.contact,
    reserves: flags.reserve === 'p99' ? 'usual' : flags.reserve,
  };
}

async function createBudget(name: string, flags: CreateFlags): Promise<void> {
  const { held_when_unknown_usd: held, ...change } = readChange({ ...flags, name });
  const body = {
    ...change,
    ...(held == null ? {} : { held_when_unknown_usd: held }),
    scope: flags.scope,
    metadata_key: flags.metadataKey,
    value: flags.value,
    period: flags.period,
    time_zone: flags.timeZone,
  };
  await printBudget(await createGatewayClient(flags).ask(Budget, '/api/v1/budgets', { method: 'POST', body }), flags);
}

async function editBudget(id: string, flags: ChangeFlags): Promise<void> {
  const path = `/api/v1/budgets/${encodeURIComponent(id)}`;
  await printBudget(
    await createGatewayClient(flags).ask(Budget, path, { method: 'PATCH', body: readChange(flags) }),
    flags,
  );
}

async function deleteBudget(id: string, flags: ClientFlags): Promise<void> {
  const path = `/api/v1/budgets/${encodeURIComponent(id)}`;
  const budget = await createGatewayClient(flags).ask(Budget, path, { method: 'DELETE' });
  const output = createOutput(process.stdout);
  if (flags.json) return output.json(budget);
  await output.line(
    `The budget "${terminalText(budget.name)}" is deleted; what was spent of it stays in the database.`,
  );
}

async function listRunBudgets(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, '/api/v1/run-budgets?limit=500');
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((use: ApiRecord) => [
    terminalText(String(use['value'])),
    ...['limit_usd', 'spent_usd', 'reserved_usd'].map((name) => `$${String(use[name])}`),
  ]);
  await output.lines(formatTable(['run', right('budget'), right('spent'), right('reserved')], rows));
}

const NODE_COLUMNS = ['node', 'takes part', right('holds'), right('not spent'), right('budgets'), 'last seen'] as const;

async function listNodes(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { nodes } = await createGatewayClient(flags).ask(BudgetOverview, '/api/v1/budget-overview');
  if (flags.json) return output.jsonLines(nodes);
  const rows = nodes.map(({ name, mode, silent_seconds: silent, lost, holds }) => [
    terminalText(name),
    mode === 'sole' ? 'alone: holds all' : (mode ?? 'no more'),
    `$${sumOf(holds, 'held_usd')}`,
    `$${sumOf(holds, 'unused_usd')}`,
    String(holds.length),
    `${silent === null ? 'unknown' : `${formatDuration(silent * 1_000)} ago`}${lost ? ', silent' : ''}`,
  ]);
  await output.lines(formatTable(NODE_COLUMNS, rows));
}

interface ReleaseFlags extends ClientFlags {
  readonly yes?: true;
}

const RELEASE_WARNING = `What the node holds of budgets and has not spent, as far as its calls are stored, can be spent by the others
from then on. If it still runs somewhere, cut off from the database, it spends the same money until it is back; and what
lies in its spool counts only when that is imported. So stop it, import its spool if that can be had, and then release it.`;

async function releaseNode(name: string, flags: ReleaseFlags): Promise<void> {
  const output = createOutput(process.stdout);
  if (flags.yes !== true) {
    process.stderr.write(`${RELEASE_WARNING}\n`);
    const question = `Is the node ${terminalText(name)} gone for good?`;
    if (!(await confirm(question, 'add --yes when the node is gone for good')))
      return output.line('Nothing was changed.');
  }
  const path = `/api/v1/budget-nodes/${encodeURIComponent(name)}/release`;
  const answer = await createGatewayClient(flags).ask(z.object({ released_usd: z.string() }), path, { method: 'POST' });
  if (flags.json) return output.json(answer);
  await output.line(
    `Free for the other nodes: $${answer.released_usd}. What the node has spent, as its stored calls say, stays spent.`,
  );
}

export function addBudgetsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const budgets = program
    .command('budgets')
    .description('what may be spent: by run, key, account, owner or metadata value (docs/budgets.md)');
  addClientOptions(budgets.command('list'))
    .description('the budgets, and what is used most of each')
    .action((flags: ClientFlags) => listBudgets(flags));
  addClientOptions(budgets.command('runs'))
    .description('the budgets that runs have set for themselves with X-Gateway-Budget-Usd')
    .action((flags: ClientFlags) => listRunBudgets(flags));
  addClientOptions(budgets.command('show <id>'))
    .description('a budget, and what each run, key, person … has used of it in this period')
    .option('--value <value>', 'only this run, key number, owner or metadata value')
    .option('--limit <rows>', 'how many, at most 500', '50')
    .action((id: string, flags: ShowFlags) => showBudget(id, flags));
  addChangeOptions(
    addClientOptions(budgets.command('create <name>'))
      .description('make a budget; it counts from now on')
      .addOption(new Option('--scope <scope>', 'what the money is counted for').choices(SCOPES).makeOptionMandatory())
      .requiredOption('--amount <usd>', 'dollars for each period, such as 2.50')
      .addOption(new Option('--period <period>', 'how often it begins anew').choices(PERIODS).makeOptionMandatory())
      .option('--metadata-key <key>', 'with --scope metadata: the key, such as User-Id')
      .option('--value <value>', 'the one run, key number, owner or value; without it each has the amount')
      .option('--time-zone <zone>', 'where days, weeks and months begin, such as Europe/Berlin (UTC)'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate budgets create Agents --scope run --amount 5 --period once --contact "the platform team"\n  tollgate budgets create People --scope metadata --metadata-key User-Id --amount 20 --period day --soft',
    )
    .action((name: string, flags: CreateFlags) => createBudget(name, flags));
  addChangeOptions(
    addClientOptions(budgets.command('edit <id>'))
      .description('change a budget: raise it, lower it, make it soft or hard')
      .option('--name <name>', 'its new name')
      .option('--amount <usd>', 'dollars for each period'),
  ).action((id: string, flags: ChangeFlags) => editBudget(id, flags));
  addClientOptions(budgets.command('nodes'))
    .description('the nodes that hold money of budgets, and what each has not spent')
    .action((flags: ClientFlags) => listNodes(flags));
  addClientOptions(budgets.command('release <node>'))
    .description('free what a node that is gone for good holds of budgets and has not spent')
    .option('--yes', 'without the question')
    .addHelpText(
      'after',
      `\n${RELEASE_WARNING}\n\nWithout it: what the node holds counts as spent until the period of the budget ends (docs/budgets.md).\n\nExample:\n  tollgate budgets release n3`,
    )
    .action((node: string, flags: ReleaseFlags) => releaseNode(node, flags));
  addClientOptions(budgets.command('delete <id>'))
    .description('delete a budget')
    .action((id: string, flags: ClientFlags) => deleteBudget(id, flags));
}

function addChangeOptions(command: Command): Command {
  return command
    .option('--soft', 'let calls beyond it through, with the flag over_budget')
    .option('--hard', 'refuse calls beyond it (as it is by default)')
    .addOption(
      new Option('--when-unknown <what>', 'a call of which nothing says how much it may cost').choices([
        'refuse',
        'allow',
      ]),
    )
    .option('--hold <usd>', 'reserve this sum for such a call')
    .addOption(
      new Option('--reserve <what>', 'what is reserved for a call (docs/budgets.md)').choices(['greatest', 'p99']),
    )
    .option('--contact <who>', 'whom clients are told to ask for more');
}
