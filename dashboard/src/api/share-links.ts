/** Links that show one run or one view without a sign-in. */
import { queryOptions } from '@tanstack/react-query';
import type { CreatedShareLink, NewShareLink, ShareLink } from '../../../src/control/admin/share-links-resource.ts';
import { getJson, sendJson } from './client.ts';

export const shareLinksQuery = queryOptions({
  queryKey: ['share-links'],
  queryFn: ({ signal }) => getJson('/share-links', {}, signal),
});

export function createShareLink(link: NewShareLink): Promise<CreatedShareLink> {
  return sendJson('post', '/share-links', {}, link);
}

export function revokeShareLink(id: number): Promise<ShareLink> {
  return sendJson('delete', '/share-links/{id}', { id });
}
