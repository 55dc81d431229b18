/** Files as people have them, with comments and habits of their own, set up and taken back. */
import { expect, test } from 'vitest';
import { type Edit, editText, undoChanges } from './edit-text.ts';
import { FORMATS } from './registry.ts';
import type { FormatName } from './setup-client.ts';

const TOML = `# mine
model = "gpt-5.5"   # best

[projects."/home/a/x"]
since = 2026-11-29T10:00:00Z
trust_level = 'trusted'

[model_providers.mine]
name = "mine"
`;
const TOML_EDITS: readonly Edit[] = [
  { path: ['model_provider'], value: 'tollgate' },
  {
    path: ['model_providers', 'tollgate'],
    value: { base_url: 'http://gw/v1', http_headers: { 'X-Gateway-Key': 'k' } },
  },
];
const TOML_AFTER = `# mine
model = "gpt-5.5"   # best
model_provider = "tollgate"

[projects."/home/a/x"]
since = 2026-11-29T10:00:00Z
trust_level = 'trusted'

[model_providers.mine]
name = "mine"

[model_providers.tollgate]
base_url = "http://gw/v1"
http_headers = { X-Gateway-Key = "k" }
`;

const JSONC = `{
\t// mine
\t"env": { "A": "1" },
\t"list": [1, 2], /* two */
}
`;
const JSON_EDITS: readonly Edit[] = [
  { path: ['env', 'URL'], value: 'http://gw' },
  { path: ['a', 'b', 'c'], value: 'x' },
  { path: ['a', 'b', 'd'], value: 'y' },
];

const YAML = `# mine
name: Local
models:
  # the best one
  - name: GPT
    provider: openai
    model: gpt-5.5 # dear
    apiKey: \${{ secrets.OPENAI }}
  - name: Own
    provider: ollama
context: [a, b]
`;
const YAML_EDITS: readonly Edit[] = [
  { path: ['models', { name: 'GPT' }, 'apiBase'], value: 'http://gw/v1/' },
  { path: ['models', { name: 'GPT' }, 'requestOptions', 'headers', 'X-Gateway-Key'], value: 'k' },
  { path: ['more', { name: 'all' }, 'extra'], value: 'z' },
];
const YAML_AFTER = `# mine
name: Local
models:
  # the best one
  - name: GPT
    provider: openai
    model: gpt-5.5 # dear
    apiKey: \${{ secrets.OPENAI }}
    apiBase: http://gw/v1/
    requestOptions:
      headers:
        X-Gateway-Key: k
  - name: Own
    provider: ollama
context: [a, b]
more:
  - name: all
    extra: z
`;

const ENV = `# mine\nexport URL=http://old # note\nB='2'\n`;
const ENV_EDITS: readonly Edit[] = [
  { path: ['URL'], value: 'http://gw' },
  { path: ['HEADERS'], value: 'X-Gateway-Key: k' },
];

test('TOML keeps comments, order, quotes and dates; a new table stands under a heading', () => {
  const { text } = editText(FORMATS.toml, TOML, TOML_EDITS);
  expect(text).toBe(TOML_AFTER);
});

test('YAML keeps comments, order and quotes, and finds a member of a list by its name', () => {
  expect(editText(FORMATS.yaml, YAML, YAML_EDITS).text).toBe(YAML_AFTER);
  expect(editText(FORMATS.yaml, '', [{ path: [{ name: 'all' }, 'a', 'b'], value: 1 }]).text).toBe(
    '- name: all\n  a:\n    b: 1\n',
  );
});

test('JSON keeps comments and tabs; a file of variables its other lines', () => {
  const { text } = editText(FORMATS.json, JSONC, JSON_EDITS);
  expect(FORMATS.json.parse(text)).toEqual({
    env: { A: '1', URL: 'http://gw' },
    list: [1, 2],
    a: { b: { c: 'x', d: 'y' } },
  });
  expect(text).toContain('\t// mine\n\t"env": {\n\t\t"A": "1",\n');
  expect(text).toContain('/* two */');
  expect(editText(FORMATS.env, ENV, ENV_EDITS).text).toBe(
    '# mine\nURL="http://gw"\nB=\'2\'\nHEADERS="X-Gateway-Key: k"\n',
  );
});

const CASES: readonly (readonly [FormatName, string, readonly Edit[]])[] = [
  ['toml', TOML, TOML_EDITS],
  ['json', JSONC, JSON_EDITS],
  ['yaml', YAML, YAML_EDITS],
  ['env', ENV, ENV_EDITS],
];

test.each(CASES)(
  '%s: the same edits twice change nothing more, and the values are as before once undone',
  (name, text, edits) => {
    const format = FORMATS[name];
    const once = editText(format, text, edits);
    expect(editText(format, once.text, edits)).toEqual({ text: once.text, changes: [] });
    const undone = undoChanges(format, once.text, once.changes);
    expect(undone.left).toEqual([]);
    expect(format.parse(undone.text)).toEqual(format.parse(text));
  },
);

test('what others have changed since stays, beside values of ours and in the midst of them', () => {
  const { text, changes } = editText(FORMATS.toml, TOML, TOML_EDITS);
  const later = text
    .replace('model = "gpt-5.5"', 'model = "o9"')
    .replace('base_url = "http://gw/v1"', 'base_url = "http://gw/v1"\nrequest_max_retries = 9');
  const undone = undoChanges(FORMATS.toml, later, changes);
  expect(undone.left).toEqual([]);
  expect(undone.text).toBe(
    `${TOML.replace('model = "gpt-5.5"', 'model = "o9"')}\n[model_providers.tollgate]\nrequest_max_retries = 9\n`,
  );
});

test('a value of ours that somebody has changed is left, and told', () => {
  const { text, changes } = editText(FORMATS.json, '{"env":{"URL":"http://old"}}', [
    { path: ['env', 'URL'], value: 'http://gw' },
  ]);
  expect(undoChanges(FORMATS.json, text, changes).text).toBe('{"env":{"URL":"http://old"}}');
  const later = text.replace('http://gw', 'http://other');
  expect(undoChanges(FORMATS.json, later, changes)).toEqual({ text: later, left: [['env', 'URL']] });
});

test('what is no such file is said, and not touched', () => {
  expect(() => editText(FORMATS.json, '{"env": ', JSON_EDITS)).toThrow('is no JSON');
  expect(() => editText(FORMATS.toml, 'a = = 1', TOML_EDITS)).toThrow('is no TOML');
  expect(() => editText(FORMATS.yaml, 'a: [1', YAML_EDITS)).toThrow('is no YAML');
});
