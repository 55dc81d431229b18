/** `tollgate prices set|map|discount|remove`: declared prices. */
import type { Command } from 'commander';
import { OperatorError } from '../../vocabulary/errors.ts';
import { repeatable } from '../command-options.ts';
import { type ChangeFlags, changePrices } from './change-prices.ts';
import { DECLARED_KINDS, type DeclaredKind, KIND_WORDS, pathOf } from './declared-kinds.ts';
import { readRates, readScope, readTokens, type ScopeFlags, type SetFlags, UNITS_HELP } from './price-options.ts';

interface MapFlags extends ScopeFlags {
  /** The model; a mapping's time bounds are `--from` and `--until`. */
  readonly to: string;
  readonly until?: string;
  readonly prefix?: true;
}

interface DiscountFlags extends ScopeFlags {
  readonly factor: string;
}

type AddOptions = (command: Command) => Command;

function addChangeOptions(command: Command): Command {
  return command.option('--yes', 'save without being asked').option('--preview', 'only show what it would do');
}

function addScopeOptions(command: Command): Command {
  return addChangeOptions(command)
    .option('--alias <name>', 'only calls with this X-Gateway-Provider-Alias')
    .option('--note <text>', 'why; kept with it');
}

interface DeclaredBody {
  readonly provider: string;
  readonly match?: string;
  readonly model?: string;
}

function declare(kind: DeclaredKind, body: DeclaredBody, text: string, flags: ScopeFlags): Promise<void> {
  const { provider, match, model } = body;
  const subject =
    match === undefined || model === undefined ? null : { provider, alias: flags.alias ?? null, match, model };
  return changePrices({ preview: { add: { kind, ...body } }, path: pathOf(kind), body, text, subject }, flags);
}

function setPrice(provider: string, model: string, flags: SetFlags): Promise<void> {
  const rates = readRates(flags);
  const body = {
    ...readScope(provider, flags),
    match: flags.prefix ? 'prefix' : 'exact',
    model,
    rates,
    service_tier: flags.tier ?? 'standard',
    over_tokens: readTokens('--over-tokens', flags.overTokens),
    up_to_tokens: readTokens('--up-to-tokens', flags.upToTokens),
  };
  const list = Object.entries(rates).map(([name, rate]) => `${name} $${rate}`);
  return declare(
    'override',
    body,
    `Price of ${provider} ${model}${flags.prefix ? '*' : ''}: ${list.join(', ')}`,
    flags,
  );
}

function mapModel(provider: string, model: string, flags: MapFlags): Promise<void> {
  const { to: target, until, ...scope } = flags;
  const dated = { ...scope, ...(until === undefined ? {} : { to: until }) };
  const match = flags.prefix ? 'prefix' : 'exact';
  const body = { ...readScope(provider, dated), match, model, billing_model: target };
  return declare('mapping', body, `${provider} ${model}${flags.prefix ? '*' : ''} is billed as ${target}`, flags);
}

function setDiscount(provider: string, flags: DiscountFlags): Promise<void> {
  const body = { ...readScope(provider, flags), factor: flags.factor };
  return declare('multiplier', body, `List prices of ${provider} × ${flags.factor}`, flags);
}

function removeDeclaration(name: string, id: string, flags: ChangeFlags): Promise<void> {
  const kind = DECLARED_KINDS.find((known) => KIND_WORDS[known] === name);
  if (kind === undefined)
    throw new OperatorError(
      `"${name}" is none of ${Object.values(KIND_WORDS).join(', ')}; \`tollgate prices list\` shows them`,
    );
  if (!/^\d{1,15}$/.test(id))
    throw new OperatorError(`"${id}" is not the id of one; \`tollgate prices list\` shows them`);
  const preview = { remove: { kind, id: Number(id) } };
  return changePrices({ preview, path: `${pathOf(kind)}/${id}`, text: `Remove ${name} ${id}`, subject: null }, flags);
}

function addSetCommand(prices: Command, addClientOptions: AddOptions): void {
  addScopeOptions(addClientOptions(prices.command('set <provider> <model>')))
    .description('declare the price of a model; it outranks the prices that come with the gateway')
    .option('--input <usd>', 'for 1,000,000 tokens of input')
    .option('--output <usd>', 'for 1,000,000 tokens of output')
    .option('--cache-read <usd>', 'for 1,000,000 tokens read from the cache')
    .addOption(repeatable('--rate <class=usd>', 'of another usage class; repeatable'))
    .option('--prefix', 'for every model whose id begins so')
    .option('--tier <tier>', 'for calls on these terms: standard, flex, priority, batch, or any', 'standard')
    .option('--over-tokens <number>', 'only for prompts of more tokens')
    .option('--up-to-tokens <number>', 'only for prompts of at most so many tokens')
    .option('--from <time>', 'from then on, e.g. 2026-11-01; else since ever')
    .option('--to <time>', 'until then; else until further notice')
    .option('--reprice', 'then price again the calls of it that have no price or only a part of one')
    .addHelpText(
      'after',
      `\n${UNITS_HELP}\n\nExamples:\n  tollgate prices set together some/model --input 0.60 --output 0.60 --reprice\n  tollgate prices set openai gpt-5 --rate cache_read=0.1 --from 2026-12-01 --note "contract 7"`,
    )
    .action((provider: string, model: string, flags: SetFlags) => setPrice(provider, model, flags));
}

export function addDeclareCommands(prices: Command, addClientOptions: AddOptions): void {
  addSetCommand(prices, addClientOptions);
  addScopeOptions(addClientOptions(prices.command('map <provider> <id>')))
    .description('declare which model an id is billed as: an inference profile, a fine-tune, a deployment')
    .requiredOption('--to <model>', 'the model whose prices count, at the same provider')
    .option('--prefix', 'for every id that begins so')
    .option('--from <time>', 'from then on; else since ever')
    .option('--until <time>', 'until then; else until further notice')
    .option('--reprice', 'then price again the calls of it that have no price or only a part of one')
    .addHelpText(
      'after',
      '\nExample:\n  tollgate prices map bedrock arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3 \\\n    --to us.anthropic.claude-haiku-4-5-20251001-v1:0 --reprice',
    )
    .action((provider: string, id: string, flags: MapFlags) => mapModel(provider, id, flags));
  addScopeOptions(addClientOptions(prices.command('discount <provider>')))
    .description('declare a negotiated discount on the list prices of a provider; declared prices stay as they are')
    .requiredOption('--factor <number>', '0.85 for 15 % off')
    .option('--from <time>', 'from then on; else since ever')
    .option('--to <time>', 'until then; else until further notice')
    .addHelpText('after', '\nExample:\n  tollgate prices discount anthropic --factor 0.85 --from 2026-12-01')
    .action((provider: string, flags: DiscountFlags) => setDiscount(provider, flags));
  addChangeOptions(addClientOptions(prices.command('remove <kind> <id>')))
    .description('take a declaration back (override, mapping or discount); what was priced with it stays')
    .addHelpText('after', '\nExample:\n  tollgate prices remove override 3')
    .action((kind: string, id: string, flags: ChangeFlags) => removeDeclaration(kind, id, flags));
}
