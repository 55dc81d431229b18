/** `tollgate alerts list|create|delete|preview|destinations|add|remove|test|deliveries`: who is told of what. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { parseSeconds } from './duration.ts';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { AnyRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { terminalText } from './terminal-text.ts';

const KINDS = ['question', 'budget', 'brake', 'unpriced', 'nodes', 'jobs'] as const;
const MEASURES = ['cost', 'calls', 'runs', 'errors', 'error_share', 'p95_duration_ms', 'tokens', 'unpriced_calls'];

interface QuestionFlags extends ClientFlags {
  readonly runs?: boolean;
  readonly filter?: readonly string[];
  readonly sum?: string;
  readonly window?: string;
  readonly threshold?: string;
  readonly least?: string;
}

interface CreateFlags extends QuestionFlags {
  readonly to?: readonly string[];
  readonly percent?: string;
  readonly budget?: string;
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new OperatorError(`"${text}" is not a number of the list`);
  return Number(text);
}

function readQuestion(flags: QuestionFlags) {
  if (flags.sum === undefined || flags.window === undefined || flags.threshold === undefined)
    throw new OperatorError('a question needs --sum, --window and --threshold');
  return {
    about: flags.runs ? 'runs' : 'calls',
    filters: flags.filter ?? [],
    measure: flags.sum,
    window_seconds: parseSeconds(flags.window, '--window'),
    threshold: flags.threshold,
    ...(flags.least === undefined ? {} : { least_count: parseId(flags.least) }),
  };
}

function readSettings(kind: string, flags: CreateFlags): object {
  if (kind === 'question') return readQuestion(flags);
  if (kind !== 'budget') return {};
  return {
    ...(flags.percent === undefined ? {} : { percent: parseId(flags.percent) }),
    ...(flags.budget === undefined ? {} : { budget_id: parseId(flags.budget) }),
  };
}

async function list(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, '/api/v1/alerts');
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((alert) => [
    textField(alert, 'id'),
    terminalText(textField(alert, 'name')),
    textField(alert, 'kind'),
    terminalText(JSON.stringify(alert['settings'])),
    z.array(z.number()).parse(alert['destinations']).join(' '),
    alert['is_on'] === true ? terminalText(textField(alert, 'problem')) || 'on' : 'off',
  ]);
  await output.lines(formatTable(['id', 'name', 'kind', 'settings', 'tells', 'state'], rows));
}

async function create(kind: string, name: string, flags: CreateFlags): Promise<void> {
  const output = createOutput(process.stdout);
  if (!KINDS.some((known) => known === kind)) throw new OperatorError(`"${kind}" is none of ${KINDS.join(', ')}`);
  const body = { kind, name, settings: readSettings(kind, flags), destinations: (flags.to ?? []).map(parseId) };
  const alert = await createGatewayClient(flags).ask(AnyRecord, '/api/v1/alerts', { method: 'POST', body });
  if (flags.json) return output.json(alert);
  return output.line(`Alert ${textField(alert, 'id')} is on.`);
}

async function preview(flags: QuestionFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const body = readQuestion(flags);
  const answer = await createGatewayClient(flags).ask(AnyRecord, '/api/v1/alerts/preview', { method: 'POST', body });
  if (flags.json) return output.json(answer);
  const fired = textField(answer, 'fired');
  const highest = textField(answer, 'highest') || 'never taken, for there were too few';
  const since = timeField(answer, 'since').slice(0, 16);
  return output.line(
    `It would have fired ${fired} ${fired === '1' ? 'time' : 'times'} since ${since} (UTC); the highest figure was ${highest}.`,
  );
}

async function remove(path: string, id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const gone = await createGatewayClient(flags).ask(AnyRecord, `/api/v1/${path}/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(gone);
  return output.line('It is gone.');
}

async function listDestinations(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, '/api/v1/alert-destinations');
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((one) => ['id', 'kind', 'name', 'address'].map((field) => terminalText(textField(one, field))));
  await output.lines(formatTable(['id', 'kind', 'name', 'address'], rows));
}

async function addDestination(
  kind: string,
  name: string,
  address: readonly string[],
  flags: ClientFlags,
): Promise<void> {
  const output = createOutput(process.stdout);
  const where = kind === 'email' ? { to: address } : { url: address[0] };
  const body = { kind, name, ...where };
  const made = await createGatewayClient(flags).ask(AnyRecord, '/api/v1/alert-destinations', { method: 'POST', body });
  if (flags.json) return output.json(made);
  const secret = textField(made, 'secret');
  if (secret === '') return output.line(`Destination ${textField(made, 'id')} is made.`);
  process.stderr.write(`Destination ${textField(made, 'id')} is signed with this secret, which is shown only now:\n`);
  return output.line(secret);
}

async function testDestination(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const path = `/api/v1/alert-destinations/${parseId(id)}/test`;
  const answer = await createGatewayClient(flags).ask(AnyRecord, path, { method: 'POST' });
  if (flags.json) await output.json(answer);
  else
    await output.line(answer['is_sent'] === true ? 'It was taken.' : `It was not taken: ${textField(answer, 'error')}`);
  if (answer['is_sent'] !== true) process.exitCode = 1;
}

async function listDeliveries(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, '/api/v1/alert-deliveries');
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((one) => [
    timeField(one, 'fired_at').slice(0, 16),
    terminalText(textField(one, 'title')),
    terminalText(textField(one, 'destination_name')) || 'nobody',
    textField(one, 'state'),
    textField(one, 'attempts'),
    terminalText(textField(one, 'error')),
  ]);
  await output.lines(formatTable(['fired (UTC)', 'what', 'to', 'state', 'tries', 'why not'], rows));
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function addQuestionOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--filter <filter>', 'of a question: what matches, as in logs or runs; repeatable').argParser(collect),
    )
    .option('--runs', 'of a question: it is about runs, not calls')
    .addOption(new Option('--sum <what>', 'of a question: which figure').choices(MEASURES))
    .option('--window <duration>', 'of a question: over the latest 10m, 1h, 30d')
    .option('--threshold <number>', 'of a question: it fires when the figure reaches it')
    .option('--least <count>', 'of a share or percentile: not with fewer calls or runs than these (20)');
}

export function addAlertsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const alerts = program
    .command('alerts')
    .description('who is told of what, by webhook, Slack or mail (docs/alerts.md)');
  addClientOptions(alerts.command('list'))
    .description('all alerts')
    .action((flags: ClientFlags) => list(flags));
  addQuestionOptions(addClientOptions(alerts.command('create <kind> <name>')))
    .description(`make one; kinds: ${KINDS.join(', ')}`)
    .addOption(new Option('--to <destination>', 'number of a destination; repeatable').argParser(collect))
    .option('--percent <number>', 'of budgets: how much of one is spent (80)')
    .option('--budget <id>', 'of budgets: this one alone')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate alerts create question "gpt-5 is dear" --filter model:prefix:gpt-5 --sum cost --window 1h --threshold 20 --to 1\n  tollgate alerts create brake "something runs away" --to 1 --to 2',
    )
    .action((kind: string, name: string, flags: CreateFlags) => create(kind, name, flags));
  addQuestionOptions(addClientOptions(alerts.command('preview')))
    .description('how often a question would have fired in the last 30 days')
    .action((flags: QuestionFlags) => preview(flags));
  addClientOptions(alerts.command('delete <id>'))
    .description('delete an alert, with what it found')
    .action((id: string, flags: ClientFlags) => remove('alerts', id, flags));
  addClientOptions(alerts.command('destinations'))
    .description('where alerts may go')
    .action((flags: ClientFlags) => listDestinations(flags));
  addClientOptions(alerts.command('add <kind> <name> <address...>'))
    .description('make a destination: webhook URL, slack URL, or email ADDRESS…')
    .addHelpText('after', '\nExample:\n  tollgate alerts add webhook pager https://pager.example.com/hook')
    .action((kind: string, name: string, address: readonly string[], flags: ClientFlags) =>
      addDestination(kind, name, address, flags),
    );
  addClientOptions(alerts.command('remove <id>'))
    .description('delete a destination, with what waits for it')
    .action((id: string, flags: ClientFlags) => remove('alert-destinations', id, flags));
  addClientOptions(alerts.command('test <id>'))
    .description('send a destination a message now; ends with 1 when it is not taken')
    .action((id: string, flags: ClientFlags) => testDestination(id, flags));
  addClientOptions(alerts.command('deliveries'))
    .description('what alerts found and who was told, the newest first')
    .action((flags: ClientFlags) => listDeliveries(flags));
}
