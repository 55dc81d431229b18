/** How the tools ask the admin API: each of its answers, also a refusal, with what the body says. */
import { z } from 'zod';
import type { CursorSeal } from './cursor-seal.ts';

export interface ApiAnswer {
  readonly status: number;
  /** JSON, or the text of a body of a call. */
  readonly text: string;
  readonly headers: Headers;
}

/** `path` begins with `/api/v1/`. Rejects when the API cannot be reached. */
export type AskApi = (path: string) => Promise<ApiAnswer>;

/** What a caller may see, at one question. */
export interface ReadScope {
  /** Only the calls of one gateway key: the numbers of all halves of its rotations. Null for all of the account. */
  readonly keyIds: readonly number[] | null;
  /** Whether text of prompts and answers may be read and searched. */
  readonly hasTexts: boolean;
  /** For cursors behind rows that the caller sees in part. */
  readonly cursors: CursorSeal;
}

/** A failure that the caller is told as the result of its tool. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ToolError';
  }
}

const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const OK = 200;

/** Throws a ToolError with the API's own words unless the answer is 200. */
export async function askJson<T>(ask: AskApi, schema: z.ZodType<T>, path: string): Promise<T> {
  const { status, text } = await ask(path);
  if (status !== OK) throw new ToolError(describeRefusal(status, text));
  return schema.parse(JSON.parse(text));
}

export function describeRefusal(status: number, text: string): string {
  try {
    const { code, message } = Refusal.parse(JSON.parse(text)).error;
    return `${code}: ${message}`;
  } catch {
    return `The gateway answered ${status}.`;
  }
}

export type QueryFields = Readonly<Record<string, string | number | undefined>>;

/** A path with its query: fields without a value are left out, and each filter is one `f`. */
export function pathOf(path: string, fields: QueryFields, filters: readonly string[] = []): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  for (const filter of filters) query.append('f', filter);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The value of a filter: the signs that separate its parts are written as escapes. */
export function filterValue(text: string): string {
  return text.replaceAll('%', '%25').replaceAll(',', '%2C').replaceAll(':', '%3A');
}

/** As many values as a filter takes. Of a key that was rotated more often, the newest halves. */
const MAX_KEYS = 100;

/** The caller's filters, and the one that keeps it to its key: all must hold, so it cannot be widened. */
export function scopedFilters({ keyIds }: ReadScope, filters: readonly string[] = []): readonly string[] {
  return keyIds === null ? filters : [...filters, `key_id:in:${keyIds.slice(-MAX_KEYS).join(',')}`];
}
