/**
 * A logged call as code that makes it again: curl, Python, TypeScript. Credentials are variables of the environment,
 * the run's headers are left out (a copy is a call of its own), metadata is kept.
 */
import { PROVIDERS, readProviderName } from '../../../src/providers/registry.ts';
import { parseJson } from './json-reading.ts';

export const COPY_LANGUAGES = ['curl', 'python', 'typescript'] as const;
export type CopyLanguage = (typeof COPY_LANGUAGES)[number];

export interface CallToCopy {
  /** Where clients reach the gateway, e.g. `http://127.0.0.1:4141`. */
  readonly baseUrl: string;
  readonly method: string;
  readonly path: string;
  readonly provider: string;
  readonly providerAlias: string | null;
  readonly headers: readonly (readonly [string, string])[];
  readonly metadata: readonly (readonly [string, string])[];
  /** Null: none was sent, or it was not kept. */
  readonly body: string | null;
  /** False: the middle of the body was not kept, or it is no text; then the code reads it from a file. */
  readonly isBodyWhole: boolean;
}

/** For a provider of a later release, which this page does not know. */
const UNKNOWN_CREDENTIAL = { header: 'Authorization', prefix: 'Bearer ', variable: 'PROVIDER_API_KEY' };

/** Logged headers that mean something to a provider; the client's library sets the others itself. */
const SENT_AGAIN: readonly string[] = [
  'content-type',
  ...Object.values(PROVIDERS).flatMap(({ loggedHeaders }) => loggedHeaders?.request ?? []),
];

/** Longer bodies do not fit in an argument (128 KiB on Linux) or in anyone's editor. */
const MAX_INLINE_CHARACTERS = 100_000;
const BODY_FILE = 'request.json';

interface CopiedHeader {
  readonly name: string;
  readonly text: string;
  /** The variable whose value follows `text`; null when there is none. */
  readonly variable: string | null;
}

function listHeaders(call: CallToCopy): readonly CopiedHeader[] {
  const plain = (name: string, text: string): CopiedHeader => ({ name, text, variable: null });
  const name = readProviderName(call.provider);
  const { header, prefix, variable } = name === null ? UNKNOWN_CREDENTIAL : PROVIDERS[name].credential;
  return [
    { name: 'X-Gateway-Key', text: '', variable: 'TOLLGATE_KEY' },
    plain('X-Gateway-Provider', call.provider),
    ...(call.providerAlias === null ? [] : [plain('X-Gateway-Provider-Alias', call.providerAlias)]),
    { name: header, text: prefix, variable },
    ...call.headers
      .filter(([name]) => SENT_AGAIN.includes(name.toLowerCase()))
      .map(([name, value]) => plain(name, value)),
    ...call.metadata.map(([name, value]) => plain(`X-Gateway-${name}`, value)),
  ];
}

/** A secret in the query was replaced when the call was recorded; the header carries it instead. */
function urlOf({ baseUrl, path }: CallToCopy): string {
  const [route = '', query = ''] = path.split(/\?(.*)/s);
  const kept = query.split('&').filter((pair) => pair !== '' && !pair.endsWith('=***'));
  return `${baseUrl.replace(/\/+$/, '')}${route}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}

type BodyPlan = 'none' | 'inline' | 'file';

function planBody({ body, isBodyWhole }: CallToCopy): BodyPlan {
  if (body === null) return 'none';
  return isBodyWhole && body.length <= MAX_INLINE_CHARACTERS && !body.includes('\0') ? 'inline' : 'file';
}

const FILE_NOTE = `save the body of the call as ${BODY_FILE} first`;

function copyAsCurl(call: CallToCopy): string {
  const plan = planBody(call);
  const headers = listHeaders(call).map(({ name, text, variable }) => {
    if (variable !== null) return `-H "${name}: ${text}$${variable}"`;
    // For curl, `Name:` removes a header and `Name;` sends it empty.
    return `-H ${quoteForShell(text === '' ? `${name};` : `${name}: ${text}`)}`;
  });
  const data =
    plan === 'none'
      ? []
      : [plan === 'file' ? `--data-binary @${BODY_FILE}` : `--data-raw ${quoteForShell(call.body ?? '')}`];
  const method = call.method === (plan === 'none' ? 'GET' : 'POST') ? [] : [`-X ${quoteForShell(call.method)}`];
  const command = [`curl --no-buffer ${quoteForShell(urlOf(call))}`, ...method, ...headers, ...data].join(' \\\n  ');
  return plan === 'file' ? `# ${FILE_NOTE}\n${command}` : command;
}

/**
 * Whether printing the parsed value means the same as the text: not with whole numbers beyond what a double holds, and
 * not with `__proto__`, which means something else in an object literal.
 */
function isSafeToReprint(text: string): boolean {
  return !/\d{16}/.test(text) && !text.includes('__proto__') && !/\\u[dD][89a-fA-F]/.test(text);
}

function formatPython(value: unknown, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${inner}${formatPython(item, inner)},\n`).join('')}${indent}]`;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([name, item]) => `${inner}${JSON.stringify(name)}: ${formatPython(item, inner)},\n`);
  return `{\n${lines.join('')}${indent}}`;
}

/** `value`: print it as a literal; `text`: send the text as it is. */
function readInline(call: CallToCopy): { readonly value: unknown } | { readonly text: string } {
  const text = call.body ?? '';
  const value = isSafeToReprint(text) ? parseJson(text) : undefined;
  return value === undefined ? { text } : { value };
}

function copyAsPython(call: CallToCopy): string {
  const plan = planBody(call);
  const headers = listHeaders(call).map(({ name, text, variable }) => {
    const value =
      variable === null
        ? JSON.stringify(text)
        : `${text === '' ? '' : `${JSON.stringify(text)} + `}os.environ["${variable}"]`;
    return `        ${JSON.stringify(name)}: ${value},\n`;
  });
  const inline = readInline(call);
  const body = {
    none: '',
    file: `    # ${FILE_NOTE}\n    content=open("${BODY_FILE}", "rb").read(),\n`,
    inline:
      'value' in inline
        ? `    json=${formatPython(inline.value, '    ')},\n`
        : `    content=${JSON.stringify(inline.text)}.encode(),\n`,
  }[plan];
  return `import os

import httpx

response = httpx.request(
    ${JSON.stringify(call.method)},
    ${JSON.stringify(urlOf(call))},
    headers={
${headers.join('')}    },
${body}    timeout=600,
)
print(response.status_code, response.text)
`;
}

function copyAsTypeScript(call: CallToCopy): string {
  const plan = planBody(call);
  const headers = listHeaders(call).map(({ name, text, variable }) => {
    const value = variable === null ? JSON.stringify(text) : `\`${text}\${process.env.${variable}}\``;
    return `    ${JSON.stringify(name)}: ${value},\n`;
  });
  const inline = readInline(call);
  const body = {
    none: '',
    file: `  // ${FILE_NOTE}\n  body: await readFile('${BODY_FILE}'),\n`,
    inline:
      'value' in inline
        ? `  body: JSON.stringify(${JSON.stringify(inline.value, null, 2).replaceAll('\n', '\n  ')}),\n`
        : `  body: ${JSON.stringify(inline.text)},\n`,
  }[plan];
  return `${plan === 'file' ? "import { readFile } from 'node:fs/promises';\n\n" : ''}const response = await fetch(${JSON.stringify(urlOf(call))}, {
  method: ${JSON.stringify(call.method)},
  headers: {
${headers.join('')}  },
${body}});
console.log(response.status, await response.text());
`;
}

export function copyAs(language: CopyLanguage, call: CallToCopy): string {
  switch (language) {
    case 'curl':
      return copyAsCurl(call);
    case 'python':
      return copyAsPython(call);
    case 'typescript':
      return copyAsTypeScript(call);
  }
}

/** A text as one word of a POSIX shell. Not for U+0000, which no argument can hold. */
export function quoteForShell(text: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
