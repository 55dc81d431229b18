/**
 * Reads the recorded exchanges of `fixtures/<provider>/`. Each case is up to four files; a case that lacks one, or has
 * one that is not as described in `fixtures/README.md`, is an error that names the file.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { PROVIDER_NAMES, type ProviderName } from '../../src/vocabulary/call-record.ts';
import { USAGE_CLASSES } from '../../src/vocabulary/token-usage.ts';

const FIXTURES_DIR = fileURLToPath(new URL('../../fixtures/', import.meta.url));

const RequestFile = z.strictObject({
  method: z.string(),
  /** As the client sends it to the gateway, with the query. */
  path: z.string().startsWith('/'),
  headers: z.record(z.string(), z.string()),
  /** JSON; `bodyText` instead where it is not (multipart, lines of JSON). */
  body: z.json().optional(),
  bodyText: z.string().optional(),
});

const HeadFile = z.strictObject({ status: z.int(), headers: z.record(z.string(), z.string()) });

const Classes = z.partialRecord(z.enum(USAGE_CLASSES), z.int());

const ExpectedFile = z.strictObject({
  endpoint: z.strictObject({
    family: z.string(),
    format: z.string(),
    billed: z.boolean(),
    streamed: z.union([z.boolean(), z.literal('body')]),
    fetchesResult: z.boolean().default(false),
  }),
  reported: z.strictObject({
    /** Null when the answer reports no usage. */
    classes: Classes.nullable(),
    reasoning: z.int().nullable(),
    model: z.string().nullable(),
    serviceTier: z.string().nullable(),
    speed: z.string().nullable(),
    inferenceGeo: z.string().nullable(),
    error: z.strictObject({ type: z.string().nullable(), message: z.string().nullable() }).nullable(),
    terminal: z.boolean(),
    others: z
      .array(
        z.strictObject({
          purpose: z.string(),
          model: z.string().nullable(),
          classes: Classes,
          largestPrompt: z.int().optional(),
        }),
      )
      .default([]),
    laterResult: z.strictObject({ id: z.string(), isFinal: z.boolean() }).nullable().default(null),
    flags: z.array(z.string()).default([]),
  }),
  /** What the record counts in the request, when the answer reports nothing. */
  sentClasses: Classes.nullable().default(null),
});

export interface Fixture<Name extends string = ProviderName> {
  readonly provider: Name;
  readonly name: string;
  readonly request: z.infer<typeof RequestFile>;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The answer's bytes, exactly as on the wire. */
  readonly body: Buffer;
  readonly expected: z.infer<typeof ExpectedFile>;
}

const EXTENSIONS = ['json', 'jsonl', 'sse', 'bin'] as const;

function readFixture<Name extends string>(
  dir: string,
  provider: Name,
  name: string,
  files: readonly string[],
): Fixture<Name> {
  const readJson = <T>(schema: z.ZodType<T>, suffix: string): T => {
    const file = `${provider}/${name}.${suffix}`;
    const parsed = schema.safeParse(JSON.parse(readFileSync(join(dir, file), 'utf8')));
    if (!parsed.success) throw new Error(`fixtures/${file}: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  };
  const [answer, ...others] = EXTENSIONS.map((extension) => `${name}.response.${extension}`).filter((file) =>
    files.includes(file),
  );
  if (answer === undefined || others.length > 0) {
    throw new Error(
      `fixtures/${provider}/${name} must have exactly one of .response.json, .response.jsonl, .response.sse, .response.bin`,
    );
  }
  const { status, headers } = readJson(HeadFile, 'response.head.json');
  return {
    provider,
    name,
    request: readJson(RequestFile, 'request.json'),
    status,
    headers,
    body: readFileSync(join(dir, provider, answer)),
    expected: readJson(ExpectedFile, 'expected.json'),
  };
}

/** The request's body as it goes over the wire; empty when it has none. */
export function requestBody({ request }: Fixture<string>): Buffer {
  if (request.bodyText !== undefined) return Buffer.from(request.bodyText);
  return Buffer.from(request.body === undefined || request.body === null ? '' : JSON.stringify(request.body));
}

/** All cases of one provider, in the order of their names. */
export function listFixturesOf<Name extends string>(provider: Name, dir = FIXTURES_DIR): Fixture<Name>[] {
  const files = readdirSync(join(dir, provider)).sort();
  return files
    .filter((file) => file.endsWith('.request.json'))
    .map((file) => readFixture(dir, provider, file.slice(0, -'.request.json'.length), files));
}

/** All cases of all providers. */
export function listFixtures(): Fixture[] {
  return PROVIDER_NAMES.flatMap((provider) => listFixturesOf(provider));
}
