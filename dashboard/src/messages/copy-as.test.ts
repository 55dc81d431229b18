import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CallToCopy, copyAs, quoteForShell } from './copy-as.ts';

const CALL: CallToCopy = {
  baseUrl: 'http://127.0.0.1:4141',
  method: 'POST',
  path: '/v1/chat/completions',
  provider: 'openai',
  providerAlias: null,
  headers: [
    ['content-type', 'application/json'],
    ['user-agent', 'curl/8'],
  ],
  metadata: [['Feature', "it's"]],
  body: '{"model":"gpt-5-mini","stream":true,"seed":null}',
  isBodyWhole: true,
};

/** What a shell makes of the words, one after another. */
function throughShell(words: readonly string[]): readonly string[] {
  const lines = words.map((word) => `printf '%s\\0' ${quoteForShell(word)}`).join('\n');
  return spawnSync('sh', ['-c', lines], { encoding: 'utf8' }).stdout.split('\0').slice(0, -1);
}

test('a quoted word is the same word again for a shell', () => {
  const meaningful = [
    '',
    '$HOME',
    '~',
    '*',
    '$(id)',
    '`id`',
    "'",
    "''",
    '"',
    '\\',
    'a b',
    'a\nb',
    '#x',
    ';',
    '&',
    '{a,b}',
    '!x',
    '-n',
  ];
  expect(throughShell(meaningful)).toEqual(meaningful);
  // Few runs of many words: each starts a process.
  const word = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '').toWellFormed()),
    fc.string({ unit: fc.constantFrom(...'$\'"`\\ ~*;&|(){}[]<>#!=ab1\n\t') }),
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 40, maxLength: 40 }), (words) => {
      expect(throughShell(words)).toEqual(words);
    }),
    { numRuns: 25 },
  );
  expect(quoteForShell("it's $HOME `id`")).toBe("'it'\\''s $HOME `id`'");
});

test('curl: secrets are variables, the body is quoted', () => {
  expect(copyAs('curl', CALL)).toBe(`curl --no-buffer http://127.0.0.1:4141/v1/chat/completions \\
  -H "X-Gateway-Key: $TOLLGATE_KEY" \\
  -H 'X-Gateway-Provider: openai' \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -H 'content-type: application/json' \\
  -H 'X-Gateway-Feature: it'\\''s' \\
  --data-raw '{"model":"gpt-5-mini","stream":true,"seed":null}'`);
});

test('a shell makes of the curl command the arguments that were meant', () => {
  const body = `{"text":"it's \\"x\\" $HOME \`id\` \\\\ @file"}`;
  const command = copyAs('curl', { ...CALL, body }).replace(/^curl/, "printf '%s\\n'");
  const env = { PATH: process.env['PATH'] ?? '', TOLLGATE_KEY: 'tgk_x', OPENAI_API_KEY: 'sk-x' };
  const { stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env });
  const lines = stdout.split('\n');
  expect(lines).toContain('X-Gateway-Key: tgk_x');
  expect(lines).toContain('Authorization: Bearer sk-x');
  expect(lines).toContain(body);
});

test('Python: the body is a literal of the language', () => {
  const text = copyAs('python', CALL);
  expect(text).toContain('        "X-Gateway-Key": os.environ["TOLLGATE_KEY"],\n');
  expect(text).toContain('        "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],\n');
  expect(text).toContain(`    json={
        "model": "gpt-5-mini",
        "stream": True,
        "seed": None,
    },`);
});

test('TypeScript: the body is a literal of the language', () => {
  const text = copyAs('typescript', CALL);
  expect(text).toContain('"X-Gateway-Key": `$' + '{process.env.TOLLGATE_KEY}`,\n');
  expect(text).toContain('    "stream": true,\n');
});

test('a body that a literal would change is sent as the text it is', () => {
  for (const body of ['{"seed":12345678901234567890}', '{"__proto__":{"a":1}}', 'not json']) {
    expect(copyAs('typescript', { ...CALL, body })).toContain(`  body: ${JSON.stringify(body)},\n`);
    expect(copyAs('python', { ...CALL, body })).toContain(`    content=${JSON.stringify(body)}.encode(),\n`);
  }
});

test('a body that was not kept whole, or is very long, comes from a file', () => {
  expect(copyAs('curl', { ...CALL, isBodyWhole: false })).toContain('--data-binary @request.json');
  expect(copyAs('curl', { ...CALL, body: 'x'.repeat(200_000) })).toContain('--data-binary @request.json');
});

test('a secret of the query is not sent as three stars', () => {
  const path = '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse&key=***';
  expect(copyAs('curl', { ...CALL, provider: 'gemini', path })).toContain(
    'curl --no-buffer http://127.0.0.1:4141/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse \\\n'.replace(
      /(http\S+)/,
      "'$1'",
    ),
  );
});
