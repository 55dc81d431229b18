/** `tollgate read-tokens create|list|revoke`: what may ask the log over MCP from elsewhere. */
import { type Command, Option } from 'commander';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { AnyRecord, type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { parseId } from './parse-id.ts';
import { describeEnd, expiryOf } from './token-end.ts';

const PATH = '/api/v1/read-tokens';
const COLUMNS = ['id', 'name', 'token', 'reads', 'created (UTC)', 'last used', 'state'] as const;

interface CreateFlags extends ClientFlags {
  readonly key?: string;
  readonly texts?: true;
  readonly expires?: string;
}

async function createToken(name: string, flags: CreateFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const body = {
    name,
    texts: flags.texts === true,
    ...(flags.key === undefined ? {} : { key_id: parseId(flags.key) }),
    ...expiryOf(flags.expires),
  };
  const created = await createGatewayClient(flags).ask(AnyRecord, PATH, { method: 'POST', body });
  if (flags.json) return output.json(created);
  process.stderr.write(
    `Read token ${textField(created, 'id')} reads ${describeScope(created)}. It is shown only now:\n`,
  );
  return output.line(textField(created, 'token'));
}

function describeScope(token: ApiRecord): string {
  const key = textField(token, 'key_id');
  return `${key === '' ? 'all calls' : `key ${key}`}${token['texts'] === true ? ' with texts' : ''}`;
}

async function listTokens(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((token) => [
    textField(token, 'id'),
    textField(token, 'name'),
    `tgm_…${textField(token, 'last4')}`,
    describeScope(token),
    timeField(token, 'created_at').slice(0, 16),
    timeField(token, 'last_used_at').slice(0, 16) || 'never',
    describeEnd(token, Date.now()),
  ]);
  await output.lines(formatTable(COLUMNS, rows));
}

async function revokeToken(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const token = await createGatewayClient(flags).ask(AnyRecord, `${PATH}/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(token);
  return output.line(`Read token ${id} (${textField(token, 'name')}) is revoked; no node accepts it any more.`);
}

export function addReadTokensCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const tokens = program
    .command('read-tokens')
    .description('tokens that may ask the log over MCP, and nothing else (docs/mcp.md)');
  addClientOptions(tokens.command('create <name>'))
    .description('make a token and show it, once')
    .addOption(new Option('--key <id>', 'only the calls of this gateway key'))
    .option('--texts', 'let it read and search the text of prompts and answers')
    .option('--expires <duration>', 'when it ends by itself: 12h, 30d (never)')
    .addHelpText('after', '\nExample:\n  tollgate read-tokens create "my agent" --key 3 --expires 30d')
    .action((name: string, flags: CreateFlags) => createToken(name, flags));
  addClientOptions(tokens.command('list'))
    .description('all of them, without the tokens themselves')
    .addHelpText('after', '\nExample:\n  tollgate read-tokens list')
    .action((flags: ClientFlags) => listTokens(flags));
  addClientOptions(tokens.command('revoke <id>'))
    .description('end a token at once')
    .addHelpText('after', '\nExample:\n  tollgate read-tokens revoke 2')
    .action((id: string, flags: ClientFlags) => revokeToken(id, flags));
}
