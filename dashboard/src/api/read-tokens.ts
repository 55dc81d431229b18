/** Read tokens, which agents ask the log with over MCP. */
import { queryOptions } from '@tanstack/react-query';
import type { CreatedReadToken, NewReadToken, ReadToken } from '../../../src/control/admin/read-tokens-resource.ts';
import { getJson, sendJson } from './client.ts';

export const readTokensQuery = queryOptions({
  queryKey: ['read-tokens'],
  queryFn: ({ signal }) => getJson('/read-tokens', {}, signal),
});

export function createReadToken(token: NewReadToken): Promise<CreatedReadToken> {
  return sendJson('post', '/read-tokens', {}, token);
}

export function revokeReadToken(id: number): Promise<ReadToken> {
  return sendJson('delete', '/read-tokens/{id}', { id });
}
