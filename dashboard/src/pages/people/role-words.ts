/** The roles in words. */
import type { Role } from '../../api/session.ts';

export const ROLE_WORDS: Readonly<Record<Role, { readonly label: string; readonly about: string }>> = {
  viewer: { label: 'Viewer', about: 'Reads calls, runs and costs.' },
  member: { label: 'Member', about: 'Also makes keys, declares prices and changes metadata keys.' },
  owner: { label: 'Owner', about: 'Also invites people and makes API tokens.' },
};

export const ROLE_CHOICES = [
  { value: 'viewer', label: ROLE_WORDS.viewer.label },
  { value: 'member', label: ROLE_WORDS.member.label },
  { value: 'owner', label: ROLE_WORDS.owner.label },
] as const;
