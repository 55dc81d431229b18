/** From the groups of a person to memberships: in each account the highest role counts, and texts if any grant has them. */
import type { GroupGrant } from '../../../vocabulary/config.ts';
import { ROLES } from '../principal.ts';

export function grantsOf(
  groups: readonly string[],
  grants: readonly GroupGrant[],
): readonly Omit<GroupGrant, 'group'>[] {
  const found = new Map<number, Omit<GroupGrant, 'group'>>();
  for (const { group, accountId, role, mayReadBodies } of grants) {
    if (group !== '*' && !groups.includes(group)) continue;
    const before = found.get(accountId);
    const isHigher = before === undefined || ROLES.indexOf(role) > ROLES.indexOf(before.role);
    found.set(accountId, {
      accountId,
      role: isHigher ? role : before.role,
      mayReadBodies: mayReadBodies || before?.mayReadBodies === true,
    });
  }
  return [...found.values()];
}

/** A claim is a list, or one group as text; anything else is no group. */
export function readGroups(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((group) => typeof group === 'string') : [];
}
