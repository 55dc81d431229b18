/** Opaque cursors, which name the end of a page and are refused for another question. */
import { createHash } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import { ApiError } from './api-error.ts';

export function hashQuestion(question: unknown): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 12);
}

export function encodeCursor(question: string, position: unknown): string {
  return Buffer.from(JSON.stringify([question, position])).toString('base64url');
}

export function decodeCursor<T>(cursor: string, question: string, schema: z.ZodType<T>): T {
  const wrong = new ApiError(400, 'invalid_cursor', 'This cursor is not one of this list with these filters.');
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw wrong;
  }
  const parts: unknown[] = Array.isArray(value) ? value : [];
  const parsed = schema.safeParse(parts[1]);
  if (parts[0] !== question || !parsed.success) throw wrong;
  return parsed.data;
}
