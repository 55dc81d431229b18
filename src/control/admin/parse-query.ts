/** Reads the query of a route that is served apart, with the refusal of typed routes. */
import type { z } from '@hono/zod-openapi';
import { ApiError } from './api-error.ts';

export function describeIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  const where = issue?.path.join('.') ?? '';
  return `${where === '' ? 'The request' : where}: ${issue?.message ?? 'not valid'}`;
}

/** A repeated parameter is an array. */
export function parseQuery<T>(url: string, schema: z.ZodType<T>): T {
  const { searchParams } = new URL(url);
  const values = [...new Set(searchParams.keys())].map((name): [string, string | readonly string[]] => {
    const given = searchParams.getAll(name);
    const [only = ''] = given;
    return [name, given.length === 1 ? only : given];
  });
  const parsed = schema.safeParse(Object.fromEntries(values));
  if (!parsed.success) throw new ApiError(400, 'invalid_request', describeIssue(parsed.error));
  return parsed.data;
}
