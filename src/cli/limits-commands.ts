/** `tollgate limits create|list|edit|delete`: limits on the calls of an account, or of each value of a metadata key. */
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { formatCount } from '../vocabulary/format-amounts.ts';
import { numberField, textField } from './fields.ts';
import { formatTable, right } from './format-table.ts';
import { AnyRecord, type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { addLimitOptions, type LimitFlags, readLimitFlags } from './limit-options.ts';
import { createOutput } from './output.ts';

const PATH = '/api/v1/limits';
const COLUMNS = [
  'id',
  'whose calls',
  right('at once'),
  right('requests/min'),
  right('tokens/min'),
  'in use on this node',
] as const;
const Use = z.looseObject({ concurrent: z.number(), requests: z.number(), tokens: z.number() });
const Values = z.array(Use.extend({ value: z.string().nullable() }));

interface CreateFlags extends ClientFlags, LimitFlags {
  readonly metadata?: string;
  readonly value?: string;
}

function parseId(text: string): string {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new OperatorError(`"${text}" is not the id of a limit; \`tollgate limits list\` shows them`);
  return text;
}

function describeCalls(limit: ApiRecord): string {
  if (limit['metadata_key'] === null) return 'all of the account';
  const key = textField(limit, 'metadata_key');
  return limit['metadata_value'] === null ? `each value of ${key}` : `${key} ${textField(limit, 'metadata_value')}`;
}

function describeUse(limit: ApiRecord): string {
  const words = ({ concurrent, requests, tokens }: z.infer<typeof Use>) =>
    `${formatCount(concurrent)} open, ${formatCount(requests)} requests, ${formatCount(tokens)} tokens`;
  const use = Use.nullable().parse(limit['use']);
  if (use !== null) return words(use);
  const [first] = Values.parse(limit['values']);
  return first === undefined ? '' : `most: ${first.value ?? 'others'} (${words(first)})`;
}

function formatRow(limit: ApiRecord): readonly string[] {
  const most = (name: string) => (limit[name] === null ? '–' : formatCount(numberField(limit, name)));
  return [
    textField(limit, 'id'),
    describeCalls(limit),
    most('max_concurrent'),
    most('requests_per_minute'),
    most('tokens_per_minute'),
    describeUse(limit),
  ];
}

function readChange(flags: CreateFlags): Readonly<Record<string, unknown>> {
  const change = readLimitFlags(flags);
  if (Object.values(change).some((value) => value !== undefined)) return change;
  throw new OperatorError('nothing to change: give --max-concurrent, --rpm or --tpm');
}

async function show(flags: ClientFlags, method: string, path: string, body?: unknown): Promise<void> {
  const output = createOutput(process.stdout);
  const limit = await createGatewayClient(flags).ask(AnyRecord, path, { method, body });
  if (flags.json) return output.json(limit);
  await output.lines(formatTable(COLUMNS, [formatRow(limit)]));
}

async function list(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  await output.lines(formatTable(COLUMNS, data.map(formatRow)));
}

export function addLimitsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const limits = program
    .command('limits')
    .description('how many calls, requests and tokens an account may use, or each value of a metadata key');
  addLimitOptions(addClientOptions(limits.command('create')))
    .description('limit all calls of the account together, or those of each value of a metadata key')
    .option('--metadata <key>', 'by the values of this key, such as User-Id, each by itself')
    .option('--value <value>', 'for this value alone, instead of the limit for each')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate limits create --metadata User-Id --rpm 60 --tpm 200000\n  tollgate limits create --max-concurrent 500',
    )
    .action((flags: CreateFlags) =>
      show(flags, 'POST', PATH, {
        metadata_key: flags.metadata ?? null,
        metadata_value: flags.value ?? null,
        ...readLimitFlags(flags),
      }),
    );
  addClientOptions(limits.command('list'))
    .description('all limits but those of keys, and what is in use of them')
    .addHelpText('after', '\nExample:\n  tollgate limits list')
    .action(list);
  addLimitOptions(addClientOptions(limits.command('edit <id>')))
    .description('change a limit; what is not given stays as it is')
    .addHelpText('after', '\nExample:\n  tollgate limits edit 2 --rpm 120 --tpm any')
    .action((id: string, flags: CreateFlags) => show(flags, 'PATCH', `${PATH}/${parseId(id)}`, readChange(flags)));
  addClientOptions(limits.command('delete <id>'))
    .description('take a limit away')
    .addHelpText('after', '\nExample:\n  tollgate limits delete 2')
    .action((id: string, flags: ClientFlags) => show(flags, 'DELETE', `${PATH}/${parseId(id)}`));
}
