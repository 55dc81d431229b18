/** `tollgate prices set|map|discount|remove`: what changes the declared prices. */
import type { Command } from 'commander';
import { OperatorError } from '../../errors.ts';
import { repeatable } from '../repeatable.ts';
import { type ChangeFlags, changePrices } from './change-prices.ts';
import { readRates, readScope, readTokens, type ScopeFlags, type SetFlags, UNITS_HELP } from './price-options.ts';

interface MapFlags extends ScopeFlags {
  /** The model, and not a time: a mapping's bounds are `--from` and `--until`. */
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

function setPrice(provider: string, model: string, flags: SetFlags): Promise<void> {
  const match = flags.prefix ? 'prefix' : 'exact';
  const rates = readRates(flags);
  const body = {
    ...readScope(provider, flags),
    ...{ match, model, rates, service_tier: flags.tier ?? 'standard' },
    over_tokens: readTokens('--over-tokens', flags.overTokens),
    up_to_tokens: readTokens('--up-to-tokens', flags.upToTokens),
  };
  const list = Object.entries(rates).map(([name, rate]) => `${name} $${rate}`);
  return changePrices(
    {
      preview: { add: { kind: 'override', ...body } },
      ...{ path: '/api/v1/prices/overrides', body },
      text: `Price of ${provider} ${model}${flags.prefix ? '*' : ''}: ${list.join(', ')}`,
      subject: { provider, alias: flags.alias ?? null, match, model },
    },
    flags,
  );
}

function mapModel(provider: string, model: string, flags: MapFlags): Promise<void> {
  const match = flags.prefix ? 'prefix' : 'exact';
  const { to: target, until, ...scope } = flags;
  const dated = { ...scope, ...(until === undefined ? {} : { to: until }) };
  const body = { ...readScope(provider, dated), match, model, billing_model: target };
  return changePrices(
    {
      preview: { add: { kind: 'mapping', ...body } },
      ...{ path: '/api/v1/prices/mappings', body },
      text: `${provider} ${model}${flags.prefix ? '*' : ''} is billed as ${target}`,
      subject: { provider, alias: flags.alias ?? null, match, model },
    },
    flags,
  );
}

function setDiscount(provider: string, flags: DiscountFlags): Promise<void> {
  const body = { ...readScope(provider, flags), factor: flags.factor };
  return changePrices(
    {
      preview: { add: { kind: 'multiplier', ...body } },
      ...{ path: '/api/v1/prices/multipliers', body },
      text: `List prices of ${provider} × ${flags.factor}`,
      subject: null,
    },
    flags,
  );
}

/** As the command is said, and as the API says it. */
const KINDS: Readonly<Record<string, { readonly kind: string; readonly path: string }>> = {
  override: { kind: 'override', path: '/api/v1/prices/overrides' },
  mapping: { kind: 'mapping', path: '/api/v1/prices/mappings' },
  discount: { kind: 'multiplier', path: '/api/v1/prices/multipliers' },
};

function removeDeclaration(name: string, id: string, flags: ChangeFlags): Promise<void> {
  const found = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (found === undefined)
    throw new OperatorError(
      `"${name}" is none of ${Object.keys(KINDS).join(', ')}; \`tollgate prices list\` shows them`,
    );
  if (!/^\d{1,15}$/.test(id))
    throw new OperatorError(`"${id}" is not the id of one; \`tollgate prices list\` shows them`);
  return changePrices(
    {
      preview: { remove: { kind: found.kind, id: Number(id) } },
      path: `${found.path}/${id}`,
      text: `Remove ${name} ${id}`,
      subject: null,
    },
    flags,
  );
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
