/** The names of the roles. */
import type { Role } from '../../api/session.ts';

export const ROLE_LABELS: Readonly<Record<Role, string>> = { viewer: 'Viewer', member: 'Member', owner: 'Owner' };

export const ROLE_CHOICES = [
  { value: 'viewer', label: ROLE_LABELS.viewer },
  { value: 'member', label: ROLE_LABELS.member },
  { value: 'owner', label: ROLE_LABELS.owner },
] as const;
