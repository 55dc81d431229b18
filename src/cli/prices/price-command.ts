/** `tollgate price`: what a call would cost by the running gateway's prices. Nothing is called or stored. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';
import { USAGE_CLASSES, type UsageClass } from '../../vocabulary/token-usage.ts';
import { repeatable, requireProvider } from '../command-options.ts';
import { AnyRecord, type ApiRecord, type ClientFlags, createGatewayClient } from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { formatQuote, QuoteAnswer } from './format-quote.ts';
import { withFlagNames } from './name-flags.ts';

interface PriceFlags extends ClientFlags {
  readonly input?: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  readonly cacheWrite5m?: string;
  readonly cacheWrite1h?: string;
  readonly output?: string;
  readonly class: readonly string[];
  readonly tier?: string;
  readonly speed?: string;
  readonly geo?: string;
  readonly region?: string;
  readonly batch?: true;
  readonly at?: string;
  readonly alias?: string;
  readonly file?: string;
}

const STDIN = 0;
function parseQuantity(flag: string, text: string): number {
  if (!/^\d{1,13}$/.test(text)) throw new OperatorError(`${flag}: "${text}" is not a whole number`);
  return Number(text);
}

function parseClass(text: string): readonly [UsageClass, number] {
  const [name = '', quantity = ''] = text.split('=');
  const known = USAGE_CLASSES.find((unit) => unit === name);
  if (known === undefined)
    throw new OperatorError(
      `--class: "${name}" is no class; write name=quantity with one of ${USAGE_CLASSES.join(', ')}`,
    );
  return [known, parseQuantity(`--class ${name}`, quantity)];
}

function readClasses(flags: PriceFlags): Readonly<Record<string, number>> {
  const given: readonly (readonly [UsageClass, string, string | undefined])[] = [
    ['input', '--input', flags.input],
    ['cache_read', '--cache-read', flags.cacheRead],
    ['cache_creation_30m', '--cache-write', flags.cacheWrite],
    ['cache_creation_5m', '--cache-write-5m', flags.cacheWrite5m],
    ['cache_creation_1h', '--cache-write-1h', flags.cacheWrite1h],
    ['output', '--output', flags.output],
  ];
  const classes = given.flatMap(([name, flag, text]) =>
    text === undefined ? [] : [[name, parseQuantity(flag, text)] as const],
  );
  const all = [...classes, ...flags.class.map(parseClass)];
  if (all.length === 0)
    throw new OperatorError('say what is used: --input, --output, …, or --file with the usage of the provider');
  return Object.fromEntries(all);
}

function readFile(path: string): ApiRecord {
  let text: string;
  try {
    text = readFileSync(path === '-' ? STDIN : path, 'utf8');
  } catch (cause) {
    throw new OperatorError(`--file: cannot read ${path}`, { cause });
  }
  try {
    return AnyRecord.parse(JSON.parse(text));
  } catch (cause) {
    throw new OperatorError(`--file: ${path} is not one JSON object with provider, endpoint, model and usage`, {
      cause,
    });
  }
}

function writeQuestion(provider: string | undefined, model: string | undefined, flags: PriceFlags): object {
  const shared = {
    ...(flags.at === undefined ? {} : { requested_at: flags.at }),
    ...(flags.alias === undefined ? {} : { provider_alias: flags.alias }),
  };
  if (flags.file !== undefined) {
    if (provider !== undefined) throw new OperatorError('give a provider and a model, or --file, not both');
    return { ...readFile(flags.file), ...shared };
  }
  if (provider === undefined || model === undefined)
    throw new OperatorError('say whose model: `tollgate price openai gpt-5.4 --input 1200 --output 350`');
  return {
    provider: requireProvider(provider),
    model,
    classes: readClasses(flags),
    service_tier: flags.tier,
    speed: flags.speed,
    inference_geo: flags.geo,
    context: { batch: flags.batch, region: flags.region },
    ...shared,
  };
}

async function showPrice(provider: string | undefined, model: string | undefined, flags: PriceFlags): Promise<void> {
  const body = writeQuestion(provider, model, flags);
  const plain = createGatewayClient(flags);
  const client = flags.file === undefined ? withFlagNames(plain) : plain;
  const output = createOutput(process.stdout);
  const ask = <T>(schema: z.ZodType<T>) => client.ask(schema, '/api/v1/prices/quote', { method: 'POST', body });
  if (flags.json) return output.json(await ask(AnyRecord));
  await output.lines(formatQuote(await ask(QuoteAnswer)));
}

export function addPriceCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('price [provider] [model]'))
    .description('what a call would cost, and why; by the prices of the running gateway')
    .option('--input <tokens>', 'uncached input')
    .option('--cache-read <tokens>', 'input read from the cache')
    .option('--cache-write <tokens>', 'input written to the cache, at OpenAI')
    .option('--cache-write-5m <tokens>', 'input written for five minutes, at Anthropic and Bedrock')
    .option('--cache-write-1h <tokens>', 'input written for an hour')
    .option('--output <tokens>', 'output, reasoning included')
    .addOption(
      repeatable('--class <name=quantity>', 'repeatable; anything else, e.g. output_image=1290, web_search_requests=2'),
    )
    .option('--tier <name>', 'service tier, e.g. flex, priority')
    .option('--speed <name>', 'e.g. fast')
    .option('--geo <name>', 'inference geo, e.g. us')
    .option('--region <name>', "where it is served: AWS's region, e.g. eu-west-1; OpenAI's data residency, e.g. eu")
    .option('--batch', 'run as a batch')
    .option('--at <time>', 'prices of that time, e.g. 2026-10-01T00:00Z; else of now')
    .option('--alias <name>', 'prices declared for this X-Gateway-Provider-Alias')
    .option('--file <path>', "JSON with provider, endpoint, model and the provider's own usage; - reads stdin")
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate price openai gpt-5.4 --input 1200 --cache-read 800 --output 350 --tier flex\n  tollgate price anthropic claude-haiku-4-5 --cache-write-1h 20000 --output 600 --json | jq .total_cost\n  tollgate price --file case.json',
    )
    .action((provider: string | undefined, model: string | undefined, flags: PriceFlags) =>
      showPrice(provider, model, flags),
    );
}
