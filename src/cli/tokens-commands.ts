/** `tollgate tokens create|list|revoke`: what lets programs into the admin API of one account. */
import { type Command, Option } from 'commander';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { AnyRecord, type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { parseId } from './parse-id.ts';
import { describeEnd, expiryOf } from './token-end.ts';

const PATH = '/api/v1/tokens';
const COLUMNS = ['id', 'name', 'token', 'scopes', 'made by', 'last used (UTC)', 'state'] as const;

interface CreateFlags extends ClientFlags {
  readonly scopes: string;
  readonly expires?: string;
}

async function createToken(name: string, flags: CreateFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const body = {
    name,
    scopes: flags.scopes.split(','),
    ...expiryOf(flags.expires),
  };
  const created = await createGatewayClient(flags).ask(AnyRecord, PATH, { method: 'POST', body });
  if (flags.json) return output.json(created);
  process.stderr.write(`API token ${textField(created, 'id')} may ${scopesOf(created)}. It is shown only now:\n`);
  return output.line(textField(created, 'token'));
}

function scopesOf(token: ApiRecord): string {
  const scopes = token['scopes'];
  return Array.isArray(scopes) ? scopes.join(', ') : '';
}

async function listTokens(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((token) => [
    textField(token, 'id'),
    textField(token, 'name'),
    `tga_…${textField(token, 'last4')}`,
    scopesOf(token),
    textField(token, 'created_by'),
    timeField(token, 'last_used_at').slice(0, 16) || 'never',
    describeEnd(token, Date.now()),
  ]);
  await output.lines(formatTable(COLUMNS, rows));
}

async function revokeToken(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const token = await createGatewayClient(flags).ask(AnyRecord, `${PATH}/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(token);
  return output.line(`API token ${id} (${textField(token, 'name')}) is revoked; no node accepts it any more.`);
}

export function addTokensCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const tokens = program
    .command('tokens')
    .description('tokens that let programs into the admin API of one account (docs/accounts.md)');
  addClientOptions(tokens.command('create <name>'))
    .description('make a token and show it, once')
    .addOption(new Option('--scopes <list>', 'of read, bodies, keys, prices, manage').default('read'))
    .option('--expires <duration>', 'when it ends by itself: 12h, 30d (never)')
    .addHelpText('after', '\nExample:\n  tollgate tokens create "nightly report" --scopes read,keys --expires 90d')
    .action((name: string, flags: CreateFlags) => createToken(name, flags));
  addClientOptions(tokens.command('list'))
    .description('all of them, without the tokens themselves')
    .addHelpText('after', '\nExample:\n  tollgate tokens list')
    .action((flags: ClientFlags) => listTokens(flags));
  addClientOptions(tokens.command('revoke <id>'))
    .description('end a token at once')
    .addHelpText('after', '\nExample:\n  tollgate tokens revoke 2')
    .action((id: string, flags: ClientFlags) => revokeToken(id, flags));
}
