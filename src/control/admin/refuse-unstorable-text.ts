/**
 * Refuses text that PostgreSQL cannot hold, before any route: U+0000 anywhere, and halves of characters, which its JSON
 * does not take. A query with one would fail as if the gateway were at fault.
 */
import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';

/** As JSON must write them; a body without either is not parsed here. */
const SUSPECT = /\\u(?:0000|d[89a-f])/i;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
const NUL = '%00';

function refuse(what: string): never {
  throw new ApiError(400, 'invalid_request', `${what} has U+0000 or half of a character, which no text here has.`);
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Null where every text of it, names of members included, can be stored. */
function findUnstorable(json: string): string | null {
  let found: string | null = null;
  try {
    JSON.parse(json, (name, value: unknown) => {
      if (!isStorable(name)) found ??= 'A name in the body';
      else if (typeof value === 'string' && !isStorable(value)) found ??= name === '' ? 'The body' : name.slice(0, 100);
      return value;
    });
  } catch {
    // The route says that it is not JSON.
  }
  return found;
}

/** `isRead` says of which paths the body may be read here: it is small, and no route takes it in pieces. */
export function refuseUnstorableText(isRead: (path: string) => boolean): MiddlewareHandler {
  return async (c, next) => {
    if (!c.req.path.startsWith('/api/')) return next();
    // Undecoded: `%2500` stands for the text `%00`.
    if (c.req.url.includes(NUL)) refuse('The address');
    if (isRead(c.req.path) && JSON_TYPE.test(c.req.header('content-type') ?? '')) {
      const json = await c.req.text();
      const found = SUSPECT.test(json) ? findUnstorable(json) : null;
      if (found !== null) refuse(found);
    }
    return next();
  };
}
