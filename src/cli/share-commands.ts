/** `tollgate share run|view|list|revoke`: links that show one run or one view without a sign-in. */
import { type Command, Option } from 'commander';
import { repeatable } from './command-options.ts';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { AnyRecord, type ApiRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { parseId } from './parse-id.ts';
import { terminalText } from './terminal-text.ts';
import { describeEnd, expiryOf } from './token-end.ts';

const PATH = '/api/v1/share-links';
const COLUMNS = ['id', 'name', 'shows', 'token', 'by', 'opened', 'state'] as const;

interface ShareFlags extends ClientFlags {
  readonly name?: string;
  readonly bodies?: true;
  readonly expires: string;
}

interface ViewFlags extends ShareFlags {
  readonly filter: readonly string[];
  readonly from: string;
  readonly to?: string;
  readonly by?: string;
}

async function share(what: ApiRecord, usualName: string, flags: ShareFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const body = {
    name: flags.name ?? usualName,
    bodies: flags.bodies === true,
    ...expiryOf(flags.expires),
    ...what,
  };
  const created = await createGatewayClient(flags).ask(AnyRecord, PATH, { method: 'POST', body });
  if (flags.json) return output.json(created);
  process.stderr.write(
    `Whoever has this link sees ${describe(created)} until ${timeField(created, 'expires_at').slice(0, 16)} UTC, without a sign-in. It is shown only now:\n`,
  );
  return output.line(textField(created, 'url'));
}

function shareView(page: string, flags: ViewFlags): Promise<void> {
  const { filter, from, to = new Date().toISOString(), by } = flags;
  const view = { page, f: [...filter], from, to, ...(by === undefined ? {} : { group_by: by }) };
  return share(view, `a view of ${page}`, flags);
}

function describe(link: ApiRecord): string {
  const texts = link['bodies'] === true ? ' with texts' : '';
  return `${link['page'] === 'run' ? 'one run' : `a view of ${textField(link, 'page')}`}${texts}`;
}

async function listLinks(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((link) => [
    textField(link, 'id'),
    terminalText(textField(link, 'name')),
    describe(link),
    `tgs_…${textField(link, 'last4')}`,
    terminalText(textField(link, 'created_by')),
    timeField(link, 'last_used_at').slice(0, 16) || 'never',
    describeEnd(link, Date.now()),
  ]);
  await output.lines(formatTable(COLUMNS, rows));
}

async function revokeLink(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const link = await createGatewayClient(flags).ask(AnyRecord, `${PATH}/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(link);
  return output.line(`Share link ${id} is revoked; whoever is inside by it is not any more.`);
}

function addShareOptions(command: Command): Command {
  return command
    .option('--name <text>', 'what it is for')
    .option('--bodies', 'show the text of prompts and answers, too')
    .addOption(new Option('--expires <duration>', 'when it ends by itself: 12h, 30d, at most 365d').default('7d'));
}

export function addShareCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const links = program
    .command('share')
    .description('links that show one run or one view without a sign-in (docs/accounts.md)');
  addShareOptions(addClientOptions(links.command('run <trace>')))
    .description('a link to one run')
    .addHelpText('after', '\nExample:\n  tollgate share run checkout-4711 --expires 30d')
    .action((trace: string, flags: ShareFlags) => share({ page: 'run', trace_id: trace }, 'one run', flags));
  addShareOptions(addClientOptions(links.command('view <page>')))
    .description('a link to a view of logs, runs or costs, between two fixed times')
    .addOption(repeatable('--filter <column:op:value>', 'repeatable; as in `tollgate logs`'))
    .requiredOption('--from <time>', 'at or after, e.g. 2026-11-28T12:00:00Z')
    .option('--to <time>', 'before; else up to now')
    .option('--by <dimension[,second]>', 'of costs: model, provider, key, metadata.Key')
    .addHelpText(
      'after',
      '\nExample:\n  tollgate share view costs --by metadata.Feature --from 2026-11-01T00:00:00Z --name "for finance"',
    )
    .action((page: string, flags: ViewFlags) => shareView(page, flags));
  addClientOptions(links.command('list'))
    .description('all of them, without the links themselves')
    .addHelpText('after', '\nExample:\n  tollgate share list')
    .action((flags: ClientFlags) => listLinks(flags));
  addClientOptions(links.command('revoke <id>'))
    .description('end a link at once')
    .addHelpText('after', '\nExample:\n  tollgate share revoke 2')
    .action((id: string, flags: ClientFlags) => revokeLink(id, flags));
}
