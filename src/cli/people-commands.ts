/** `tollgate people list|invite|edit|remove|link|sign-out`: who may sign in to an account, and what they may do. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { textField, timeField } from './fields.ts';
import { formatTable } from './format-table.ts';
import { AnyRecord, type ClientFlags, createGatewayClient, RecordList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { parseId } from './parse-id.ts';

const PATH = '/api/v1/people';
const ROLES = ['viewer', 'member', 'owner'];
const COLUMNS = ['id', 'address', 'name', 'role', 'texts', 'signed in (UTC)'] as const;

const Link = z.object({ url: z.string(), expires_at: z.string() });
const Invited = z.object({ person: AnyRecord, link: Link.nullable() });

interface RoleFlags extends ClientFlags {
  readonly name?: string;
  readonly role?: string;
  readonly texts?: string;
}

function toBody({ role, texts }: RoleFlags) {
  return {
    ...(role === undefined ? {} : { role }),
    ...(texts === undefined ? {} : { may_read_bodies: texts === 'yes' }),
  };
}

async function listPeople(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const { data } = await createGatewayClient(flags).ask(RecordList, PATH);
  if (flags.json) return output.jsonLines(data);
  const rows = data.map((person) => [
    textField(person, 'id'),
    textField(person, 'email'),
    textField(person, 'name'),
    textField(person, 'role'),
    person['may_read_bodies'] === true ? 'yes' : 'no',
    timeField(person, 'signed_in_at').slice(0, 16) || 'never',
  ]);
  await output.lines(formatTable(COLUMNS, rows));
}

async function invitePerson(email: string, flags: RoleFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const body = { email, ...(flags.name === undefined ? {} : { name: flags.name }), ...toBody(flags) };
  const invited = await createGatewayClient(flags).ask(Invited, PATH, { method: 'POST', body });
  if (flags.json) return output.json(invited);
  const who = `${textField(invited.person, 'email')} is ${textField(invited.person, 'role')}`;
  if (invited.link === null) return output.line(`${who}, and signs in as before.`);
  process.stderr.write(`${who}. This link signs in one browser, once, within three days:\n`);
  return output.line(invited.link.url);
}

async function editPerson(id: string, flags: RoleFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const options = { method: 'PATCH', body: toBody(flags) };
  const person = await createGatewayClient(flags).ask(AnyRecord, `${PATH}/${parseId(id)}`, options);
  if (flags.json) return output.json(person);
  const texts = person['may_read_bodies'] === true ? 'may' : 'may not';
  return output.line(`${textField(person, 'email')} is ${textField(person, 'role')} and ${texts} read texts.`);
}

async function removePerson(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const person = await createGatewayClient(flags).ask(AnyRecord, `${PATH}/${parseId(id)}`, { method: 'DELETE' });
  if (flags.json) return output.json(person);
  return output.line(`${textField(person, 'email')} is no longer in this account.`);
}

async function printLink(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const link = await createGatewayClient(flags).ask(Link, `${PATH}/${parseId(id)}/links`, { method: 'POST' });
  if (flags.json) return output.json(link);
  process.stderr.write('This link signs in one browser, once, within three days; a former password ends with it:\n');
  return output.line(link.url);
}

async function signOut(id: string, flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const person = await createGatewayClient(flags).ask(AnyRecord, `${PATH}/${parseId(id)}/sign-out`, { method: 'POST' });
  if (flags.json) return output.json(person);
  return output.line(`All sessions and links of ${textField(person, 'email')} are over.`);
}

export function addPeopleCommands(program: Command, addClientOptions: (command: Command) => Command): void {
  const people = program.command('people').description('who may sign in to an account, and as what (docs/accounts.md)');
  const role = () =>
    new Option(
      '--role <role>',
      'viewer reads; member also makes changes; owner also manages people (docs/accounts.md)',
    ).choices(ROLES);
  const texts = () =>
    new Option('--texts <yes|no>', 'whether the person may read the text of prompts and answers').choices([
      'yes',
      'no',
    ]);
  addClientOptions(people.command('list'))
    .description('the people of the account')
    .addHelpText('after', '\nExample:\n  tollgate people list --account 2')
    .action((flags: ClientFlags) => listPeople(flags));
  addClientOptions(people.command('invite <email>'))
    .description('invite a person; the link that is printed signs them in, once')
    .option('--name <name>', 'display name (the address)')
    .addOption(role())
    .addOption(texts())
    .addHelpText('after', '\nExample:\n  tollgate people invite ann@example.com --role owner')
    .action((email: string, flags: RoleFlags) => invitePerson(email, flags));
  addClientOptions(people.command('edit <id>'))
    .description('change what a person may do; it counts at once')
    .addOption(role())
    .addOption(texts())
    .addHelpText('after', '\nExample:\n  tollgate people edit 3 --role viewer --texts no')
    .action((id: string, flags: RoleFlags) => editPerson(id, flags));
  addClientOptions(people.command('remove <id>'))
    .description('remove a person from the account; it counts at once')
    .addHelpText('after', '\nExample:\n  tollgate people remove 3')
    .action((id: string, flags: ClientFlags) => removePerson(id, flags));
  addClientOptions(people.command('link <id>'))
    .description('print a new link that signs the person in, once')
    .addHelpText('after', '\nExample:\n  tollgate people link 3')
    .action((id: string, flags: ClientFlags) => printLink(id, flags));
  addClientOptions(people.command('sign-out <id>'))
    .description('end all sessions of a person')
    .addHelpText('after', '\nExample:\n  tollgate people sign-out 3')
    .action((id: string, flags: ClientFlags) => signOut(id, flags));
}
