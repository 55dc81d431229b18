/** A provider is named in its own file and in the registry; everything else derives what it needs from them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { listSourceFiles } from './import-table.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Where code may name a provider all the same, and why. A folder ends with `/`. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/providers/aws-host.ts': 'a service of AWS has the name that its provider has here',
  'src/pricing/': 'what a provider charges for is the price book’s: rules of its price list, with source and date',
  'src/control/demo-log/': 'made-up runs call models of these providers',
  'src/control/prices/declared/judge-catalog.ts': 'checks a rule of one provider’s price list',
  'src/control/prices/declared/suggest-price.ts': 'an ARN is the same thing at every address',
  'src/control/prices/quote/explain-unpriced.ts': 'an inference profile has a geography in its id',
  'dashboard/src/pages/prices/price-words.ts': 'a form begins with one provider',
  'dashboard/src/pages/credentials/credentials-page.tsx': 'a form begins with one provider',
  'dashboard/src/pages/run/model/test-columns.ts': 'made-up calls for tests',
  'dashboard/src/pages/start/':
    'clients of several providers are set up with their own words, such as the command `gemini`',
  'src/cli/run/clients/': 'a coding agent has its own word for each provider, in its configuration and as its program',
  'src/cli/setup/clients/': 'as in `src/cli/run/clients/`, in the files that the client keeps',
  'src/cli/reconcile/': 'reads the cost reports of the two providers that have one, each in its own form',
};

/** The names in a source: as a text of its own, or as the key of an object. Comments and prose are no names. */
function listNamed(source: string): readonly string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '');
  return Object.values(PROVIDERS)
    .flatMap(({ name, displayName }) => [name, displayName])
    .filter((name) => new RegExp(`(['"\`])${name}\\1|^\\s*${name}:|[{,] ${name}:`, 'm').test(code));
}

function listFiles(): readonly string[] {
  return ['src', 'dashboard/src']
    .flatMap((folder) => listSourceFiles(join(ROOT, folder)).map((file) => `${folder}/${file}`))
    .filter((file) => !file.includes('.test.'));
}

function isExcepted(file: string, exception: string): boolean {
  return exception.endsWith('/') ? file.startsWith(exception) : file === exception;
}

const OWN_FILES = Object.values(PROVIDERS).map(({ name }) => `src/providers/${name}.ts`);

const NAMING = listFiles().filter((file) => {
  const named = listNamed(readFileSync(join(ROOT, file), 'utf8'));
  const isOwn = (name: string) => OWN_FILES.includes(file) && file.endsWith(`/${name.toLowerCase()}.ts`);
  return !named.every(isOwn);
});

test('a provider is named in its own file, the registry and the exceptions', () => {
  expect(NAMING.filter((file) => !Object.keys(EXCEPTIONS).some((known) => isExcepted(file, known)))).toEqual([]);
});

test('every exception is needed', () => {
  expect(Object.keys(EXCEPTIONS).filter((known) => !NAMING.some((file) => isExcepted(file, known)))).toEqual([]);
});

test('the check sees a name in a comparison, in a table and on the page, and none in prose', () => {
  expect(listNamed("if (provider === 'gemini') return 1;")).toEqual(['gemini']);
  expect(listNamed('const KEYS = {\n  openai: 1,\n};')).toEqual(['openai']);
  expect(listNamed("const WORDS = ['DeepSeek'];")).toEqual(['DeepSeek']);
  expect(listNamed("// what 'openai' does\nconst text = 'added up together';")).toEqual([]);
});
