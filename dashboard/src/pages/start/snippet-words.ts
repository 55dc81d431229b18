/** The words that the snippets of all clients share: the settings, the headers, and how each language writes a value. Pure. */

export interface SnippetSettings {
  /** Base address without a path. */
  readonly baseUrl: string;
  /** The key itself, or `$NAME`: the variable that holds it. */
  readonly keyPlaceholder: string;
  readonly withMetadata: boolean;
  readonly withRun: boolean;
}

export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly language: 'sh' | 'js' | 'python' | 'toml';
  readonly filename: string;
  readonly code: string;
  /** What goes wrong with this client most often; null when nothing does. */
  readonly pitfall: string | null;
}

/** A header with its value as the language writes it, quotes included. */
export type Header = readonly [name: string, value: string];

export const FEATURE = 'checkout';
const USER_ID = 'user-42';
/** Two steps; a space is `%20` in a step's name. */
export const SPAN_PATH = 'plan/search%201';

/** Lines, less those that do not apply. */
export function joinLines(...lines: readonly (string | readonly string[] | false)[]): string {
  return lines.flatMap((line) => (line === false ? [] : line)).join('\n');
}

/** The name of the variable that holds the key; null when the key itself is given. */
export function keyVariable({ keyPlaceholder }: SnippetSettings): string | null {
  return keyPlaceholder.startsWith('$') ? keyPlaceholder.slice(1) : null;
}

/** What is the same for every call of a program. `key` is the key as the language writes it. */
export function clientHeaders({ withMetadata }: SnippetSettings, key: string): readonly Header[] {
  return [
    ['X-Gateway-Key', key],
    ...(withMetadata
      ? ([
          ['X-Gateway-Feature', JSON.stringify(FEATURE)],
          ['X-Gateway-User-Id', JSON.stringify(USER_ID)],
        ] as const)
      : []),
  ];
}

/** What says where in a run a call is. `traceId` is an expression of the language. */
export function runHeaders(traceId: string): readonly Header[] {
  return [
    ['X-Gateway-Trace-Id', traceId],
    ['X-Gateway-Span-Path', JSON.stringify(SPAN_PATH)],
  ];
}

/** One `"name": value,` a line, as JavaScript and Python write it alike. */
export function headerLines(headers: readonly Header[], indent: string): readonly string[] {
  return headers.map(([name, value]) => `${indent}${JSON.stringify(name)}: ${value},`);
}

/** `Name: value` for a variable of the shell, inside double quotes: every call of the process gets the same. */
export function shellHeaders({ withMetadata, withRun, keyPlaceholder }: SnippetSettings): readonly string[] {
  return [
    `X-Gateway-Key: ${keyPlaceholder}`,
    ...(withMetadata ? [`X-Gateway-Feature: ${FEATURE}`, `X-Gateway-User-Id: ${USER_ID}`] : []),
    ...(withRun ? ['X-Gateway-Trace-Id: run-$(date +%s)', `X-Gateway-Span-Path: ${SPAN_PATH}`] : []),
  ];
}
