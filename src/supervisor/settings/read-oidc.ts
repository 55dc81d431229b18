/** Reads the identity provider, `TOLLGATE_OIDC_*`: none of them, or at least issuer, client and groups. */
import type { Environment, GroupGrant, OidcConfig } from '../../vocabulary/config.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { readAddress, refuse } from './given-setting.ts';
import { readSecret } from './read-secret.ts';

const PREFIX = 'TOLLGATE_OIDC_';
const DEFAULT_SESSION_HOURS = 12;
const MAX_SESSION_HOURS = 720;
const MAX_GRANTS = 500;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const GRANT = /^(.{1,200})=([1-9]\d{0,8}):(viewer|member|owner)(:no-texts)?$/;
const GRANT_FORM =
  'a list, with commas, of group=account:role, such as "engineers=1:member,finance=1:viewer:no-texts"; the group * is everyone';

export function readOidc(env: Environment): OidcConfig | null {
  const read = (word: string): string | null => {
    const value = env[PREFIX + word]?.trim() ?? '';
    return value === '' ? null : value;
  };
  const issuer = read('ISSUER');
  const clientSecret = readSecret('TOLLGATE_OIDC_CLIENT_SECRET', env);
  if (issuer === null) {
    const stray = ['CLIENT_ID', 'GROUPS', 'NAME'].find((word) => read(word) !== null);
    if (stray !== undefined || clientSecret !== null)
      throw new OperatorError(
        `${PREFIX}ISSUER is not set, and ${PREFIX}${stray ?? 'CLIENT_SECRET'} is: set both or neither`,
      );
    return null;
  }
  const need = (word: string): string => {
    const value = read(word);
    if (value === null)
      throw new OperatorError(`${PREFIX}ISSUER is set and ${PREFIX}${word} is not; see docs/accounts.md`);
    return value;
  };
  if (clientSecret === null)
    throw new OperatorError(`${PREFIX}ISSUER is set and ${PREFIX}CLIENT_SECRET is not; see docs/accounts.md`);
  const url = readIssuer(issuer);
  return {
    issuer: url.href,
    clientId: need('CLIENT_ID'),
    clientSecret,
    name: read('NAME') ?? url.host,
    scopes: read('SCOPES') ?? 'openid email profile',
    groupsClaim: read('GROUPS_CLAIM') ?? 'groups',
    grants: readGrants(need('GROUPS')),
    sessionHours: readHours(read('SESSION_HOURS')),
  };
}

/** Plain http:// is for this machine only: whoever changes it on the way signs in as anyone. */
function readIssuer(value: string): URL {
  const allowed = 'the https:// address of an identity provider';
  const url = readAddress({ name: `${PREFIX}ISSUER`, value }, allowed);
  if (url.protocol !== 'https:' && !LOOPBACK.test(url.hostname))
    throw refuse({ name: `${PREFIX}ISSUER`, value }, allowed);
  return url;
}

function readHours(value: string | null): number {
  if (value === null) return DEFAULT_SESSION_HOURS;
  const hours = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (hours < 1 || hours > MAX_SESSION_HOURS)
    throw refuse({ name: `${PREFIX}SESSION_HOURS`, value }, `a whole number of hours from 1 to ${MAX_SESSION_HOURS}`);
  return hours;
}

function readGrants(value: string): readonly GroupGrant[] {
  const items = value.split(',').map((item) => item.trim());
  const grants = items.filter((item) => item !== '').map((item) => readGrant(item, value));
  if (grants.length === 0 || grants.length > MAX_GRANTS) throw refuse({ name: `${PREFIX}GROUPS`, value }, GRANT_FORM);
  return grants;
}

function readGrant(item: string, value: string): GroupGrant {
  const [, group, account, role, noTexts] = GRANT.exec(item) ?? [];
  if (group === undefined || (role !== 'viewer' && role !== 'member' && role !== 'owner'))
    throw refuse({ name: `${PREFIX}GROUPS`, value }, GRANT_FORM);
  return { group, accountId: Number(account), role, mayReadBodies: noTexts === undefined };
}

export function formatGrants(grants: readonly GroupGrant[]): string {
  return grants
    .map(
      ({ group, accountId, role, mayReadBodies }) => `${group}=${accountId}:${role}${mayReadBodies ? '' : ':no-texts'}`,
    )
    .join(',');
}
