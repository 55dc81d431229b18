/** Reads the demo's fixtures from the folder once. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDER_NAMES, type ProviderName } from '../vocabulary/call-record.ts';
import { isObject, type JsonObject, parseJson } from './json-object.ts';

export interface Fixture {
  readonly provider: ProviderName;
  readonly name: string;
  readonly method: string;
  /** As a client sends it to the gateway, with the query. */
  readonly path: string;
  readonly requestBody: JsonObject;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly kind: 'json' | 'sse' | 'bin';
  readonly body: Buffer;
}

const KINDS = ['json', 'sse', 'bin'] as const;

function readObject(path: string): JsonObject {
  const value = parseJson(readFileSync(path, 'utf8'));
  if (value === null) throw new Error(`${path} is not a JSON object`);
  return value;
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readHeaders(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

function readFixture(folder: string, provider: ProviderName, name: string, files: readonly string[]): Fixture[] {
  const kind = KINDS.find((candidate) => files.includes(`${name}.response.${candidate}`));
  if (kind === undefined) return [];
  const request = readObject(join(folder, `${name}.request.json`));
  const head = readObject(join(folder, `${name}.response.head.json`));
  return [
    {
      provider,
      name,
      method: readText(request['method']),
      path: readText(request['path']),
      requestBody: isObject(request['body']) ? request['body'] : {},
      status: typeof head['status'] === 'number' ? head['status'] : 200,
      headers: readHeaders(head['headers']),
      kind,
      body: readFileSync(join(folder, `${name}.response.${kind}`)),
    },
  ];
}

export function readFixtures(fixturesDir: string): readonly Fixture[] {
  return PROVIDER_NAMES.flatMap((provider) => {
    const folder = join(fixturesDir, provider);
    const files = readdirSync(folder);
    const names = files.filter((file) => file.endsWith('.request.json')).map((file) => file.slice(0, -13));
    return names.flatMap((name) => readFixture(folder, provider, name, files));
  });
}
