/** `tollgate accounts list|create|rename|retention`: several teams in one gateway that share nothing. */
import type { Command } from 'commander';
import { OperatorError } from '../vocabulary/errors.ts';
import { textField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { AnyRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { parseId } from './parse-id.ts';

const PATH = '/api/v1/accounts';

async function listAccounts(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((account) => [
    textField(account, 'id'),
    textField(account, 'name'),
    textField(account, 'role'),
  ]);
  await output.lines(formatTable(['id', 'name', 'your role'], rows));
}

async function createAccount(name: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const account = await createGatewayClient(flags).ask(AnyRecord, PATH, { method: 'POST', body: { name } });
  if (flags.json) return output.json(account);
  const id = textField(account, 'id');
  return output.line(
    `Account ${id} (${name}) is there. Commands use it with --account ${id}, or TOLLGATE_ACCOUNT=${id}.`,
  );
}

async function renameAccount(id: string, name: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const options = { method: 'PATCH', body: { name } };
  const account = await createGatewayClient(flags).ask(AnyRecord, `${PATH}/${parseId(id)}`, options);
  if (flags.json) return output.json(account);
  return output.line(`Account ${id} is now called ${name}.`);
}

interface RetentionFlags extends ClientFlags {
  readonly rows?: string;
  readonly bodies?: string;
}

const OF_GATEWAY = 'gateway';

function readDays(text: string, option: string): number | null {
  if (text === OF_GATEWAY) return null;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new OperatorError(`${option}: "${text}" is neither a number of days nor "${OF_GATEWAY}"`);
}

/** What is not said stays. */
async function changeRetention(id: string, flags: RetentionFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const path = `${PATH}/${parseId(id)}/retention`;
  const before = await client.ask(AnyRecord, path);
  const isChange = flags.rows !== undefined || flags.bodies !== undefined;
  const body = {
    ...before,
    ...(flags.rows === undefined ? {} : { retention_rows: readDays(flags.rows, '--rows') }),
    ...(flags.bodies === undefined ? {} : { retention_bodies: readDays(flags.bodies, '--bodies') }),
  };
  const retention = isChange ? await client.ask(AnyRecord, path, { method: 'PUT', body }) : before;
  if (flags.json) return output.json(retention);
  const say = (name: string) => {
    const days = textField(retention, name);
    return days === '' ? 'as long as the gateway does' : `for ${days} days`;
  };
  return output.line(
    `Account ${id} keeps calls ${say('retention_rows')}, and bodies ${say('retention_bodies')}.${isChange ? ' It counts within an hour.' : ''}`,
  );
}

export function addAccountsCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const accounts = program
    .command('accounts')
    .description('several teams in one gateway, which share nothing (docs/accounts.md)');
  addClientOptions(accounts.command('list'))
    .description('the accounts that you may use')
    .addHelpText('after', '\nExample:\n  tollgate accounts list')
    .action((flags: ClientFlags) => listAccounts(flags));
  addClientOptions(accounts.command('create <name>'))
    .description('make an account')
    .addHelpText('after', '\nExample:\n  tollgate accounts create "search team"')
    .action((name: string, flags: ClientFlags) => createAccount(name, flags));
  addClientOptions(accounts.command('rename <id> <name>'))
    .description('give an account another name')
    .addHelpText('after', '\nExample:\n  tollgate accounts rename 2 "discovery team"')
    .action((id: string, name: string, flags: ClientFlags) => renameAccount(id, name, flags));
  addClientOptions(accounts.command('retention <id>'))
    .description('how long an account keeps its calls and bodies, at most as long as the gateway does')
    .option('--rows <days>', 'days that calls are kept, or "gateway"')
    .option('--bodies <days>', 'days that bodies and texts are kept, or "gateway"')
    .addHelpText('after', '\nExample:\n  tollgate accounts retention 2 --rows 30 --bodies 3')
    .action((id: string, flags: RetentionFlags) => changeRetention(id, flags));
}
