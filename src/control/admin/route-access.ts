/** Who may use which route: the least role of a person, and the scope of an API token. What is not listed is refused. */
import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';
import { type Principal, principalOf, ROLES, type Role, type Scope } from './principal.ts';
import { isSharedRoute, SHARE_FORBIDDEN } from './share-access.ts';

export interface Access {
  /** `operator`: nobody else, whatever the role. */
  readonly role: Role | 'operator';
  /** Null: no API token may. */
  readonly scope: Scope | null;
  /** It answers with the text of prompts or answers. */
  readonly hasBodies?: true;
}

const OPERATOR: Access = { role: 'operator', scope: null };
const OWNER: Access = { role: 'owner', scope: null };
const READ: Access = { role: 'viewer', scope: 'read' };
const BODIES: Access = { role: 'viewer', scope: 'bodies', hasBodies: true };
/** Everyone who is signed in, about themselves. */
const SELF: Access = { role: 'viewer', scope: null };
const KEYS: Access = { role: 'member', scope: 'keys' };
/** They hold for the keys of all members. */
const LIMITS: Access = { role: 'owner', scope: 'manage' };
const PRICES: Access = { role: 'member', scope: 'prices' };
const MANAGE: Access = { role: 'member', scope: 'manage' };

/** Every route with credentials; `PUBLIC_ROUTES` and `/mcp`, which has tokens of its own, are not here. */
export const ROUTE_ACCESS: Readonly<Record<string, Access>> = {
  'GET /api/v1/session': READ,
  'DELETE /api/v1/session': SELF,
  'POST /api/v1/login-links': OPERATOR,
  'GET /api/v1/openapi.json': READ,
  'GET /api/v1/accounts': READ,
  'POST /api/v1/accounts': OPERATOR,
  'PATCH /api/v1/accounts/{id}': OPERATOR,
  'GET /api/v1/accounts/{id}/retention': OWNER,
  'PUT /api/v1/accounts/{id}/retention': OWNER,

  'GET /api/v1/status': OPERATOR,
  'POST /api/v1/restart': OPERATOR,
  'POST /api/v1/verify': OPERATOR,
  'GET /api/v1/quarantine': OPERATOR,
  'GET /api/v1/nodes': OPERATOR,
  'DELETE /api/v1/nodes/{name}': OPERATOR,
  'GET /api/v1/settings': OPERATOR,
  'PUT /api/v1/settings/{name}': OPERATOR,
  'POST /api/v1/spool/import': OPERATOR,
  'GET /api/v1/spool/import': OPERATOR,
  'GET /metrics': OPERATOR,
  'GET /api/v1/budget-overview': OPERATOR,
  'POST /api/v1/budget-nodes/{name}/release': OPERATOR,
  'GET /api/v1/attempts': OPERATOR,
  'GET /api/v1/demo-data': OPERATOR,
  'POST /api/v1/demo-data': OPERATOR,
  'DELETE /api/v1/demo-data': OPERATOR,
  'GET /api/v1/backup': OPERATOR,
  'GET /api/v1/restore': OPERATOR,
  'POST /api/v1/restore': OPERATOR,
  'POST /api/v1/sql-access': OPERATOR,
  'DELETE /api/v1/sql-access': OPERATOR,
  'POST /api/v1/prices/catalog': OPERATOR,
  'DELETE /api/v1/prices/catalog': OPERATOR,
  'POST /api/v1/prices/feed/fetch': OPERATOR,

  'GET /api/v1/attempts/stream': READ,
  'GET /api/v1/logs/stream': READ,
  'GET /api/v1/logs/summary': READ,
  'GET /api/v1/logs/facets': READ,
  'GET /api/v1/logs': READ,
  'GET /api/v1/logs/open': READ,
  'GET /api/v1/logs/{id}': READ,
  'GET /api/v1/logs/{id}/request': BODIES,
  'GET /api/v1/logs/{id}/response': BODIES,
  'GET /api/v1/logs/{id}/revisions': READ,
  'GET /api/v1/runs': READ,
  'GET /api/v1/run': READ,
  'GET /api/v1/runs/summary': READ,
  'GET /api/v1/runs/facets': READ,
  'GET /api/v1/runs/groups': READ,
  'GET /api/v1/run/calls': READ,
  'GET /api/v1/run/stream': READ,
  'GET /api/v1/costs': READ,
  'GET /api/v1/export': READ,
  'GET /api/v1/metadata-keys': READ,
  'GET /api/v1/jobs': READ,
  'GET /api/v1/jobs/{id}': READ,
  'POST /api/v1/prices/quote': READ,
  'GET /api/v1/prices/overrides': READ,
  'GET /api/v1/prices/mappings': READ,
  'GET /api/v1/prices/multipliers': READ,
  'POST /api/v1/prices/preview': READ,
  'GET /api/v1/prices/changes': READ,
  'GET /api/v1/prices/rows': READ,
  'GET /api/v1/prices/unpriced': READ,
  'GET /api/v1/prices/catalog': READ,
  'GET /api/v1/prices/status': READ,
  'GET /api/v1/reprice/{job_id}/days': READ,

  'GET /api/v1/budgets': READ,
  'POST /api/v1/budgets': MANAGE,
  'GET /api/v1/budgets/{id}': READ,
  'PATCH /api/v1/budgets/{id}': MANAGE,
  'DELETE /api/v1/budgets/{id}': MANAGE,
  'GET /api/v1/run-budgets': READ,

  'GET /api/v1/keys': READ,
  'POST /api/v1/keys': KEYS,
  'PATCH /api/v1/keys/{id}': KEYS,
  'DELETE /api/v1/keys/{id}': KEYS,
  'POST /api/v1/keys/{id}/rotate': KEYS,
  'GET /api/v1/alerts': READ,
  'POST /api/v1/alerts': MANAGE,
  'PATCH /api/v1/alerts/{id}': MANAGE,
  'DELETE /api/v1/alerts/{id}': MANAGE,
  'POST /api/v1/alerts/preview': READ,
  'GET /api/v1/alert-deliveries': READ,
  'GET /api/v1/alert-destinations': MANAGE,
  'POST /api/v1/alert-destinations': MANAGE,
  'DELETE /api/v1/alert-destinations/{id}': MANAGE,
  'POST /api/v1/alert-destinations/{id}/test': MANAGE,
  'GET /api/v1/brakes': READ,
  'PUT /api/v1/brakes/{rule}/{scope}': MANAGE,
  'GET /api/v1/brakes/hits': READ,
  'POST /api/v1/brakes/pauses': KEYS,
  'POST /api/v1/brakes/hits/{id}/resume': KEYS,
  'POST /api/v1/run-tokens': KEYS,
  'GET /api/v1/run-tokens': READ,
  'GET /api/v1/run-tokens/{id}': READ,
  'PATCH /api/v1/run-tokens/{id}': KEYS,
  'DELETE /api/v1/run-tokens/{id}': KEYS,
  'GET /api/v1/limits': READ,
  'POST /api/v1/limits': LIMITS,
  'PATCH /api/v1/limits/{id}': LIMITS,
  'DELETE /api/v1/limits/{id}': LIMITS,
  'GET /api/v1/share-links': READ,
  'POST /api/v1/share-links': MANAGE,
  'DELETE /api/v1/share-links/{id}': MANAGE,
  'POST /api/v1/read-tokens': KEYS,
  'GET /api/v1/read-tokens': READ,
  'DELETE /api/v1/read-tokens/{id}': KEYS,

  'POST /api/v1/prices/overrides': PRICES,
  'DELETE /api/v1/prices/overrides/{id}': PRICES,
  'POST /api/v1/prices/mappings': PRICES,
  'DELETE /api/v1/prices/mappings/{id}': PRICES,
  'POST /api/v1/prices/multipliers': PRICES,
  'DELETE /api/v1/prices/multipliers/{id}': PRICES,
  'POST /api/v1/reprice': PRICES,

  'POST /api/v1/metadata-keys/{key}/promote': MANAGE,
  'POST /api/v1/metadata-keys/{key}/demote': MANAGE,
  'POST /api/v1/runs/grouping': MANAGE,
  'POST /api/v1/jobs/{id}/cancel': MANAGE,
  'POST /api/v1/jobs/{id}/resume': MANAGE,

  'GET /api/v1/audit': OWNER,
  'GET /api/v1/audit/export': OPERATOR,
  'GET /api/v1/audit/verification': OPERATOR,
  'GET /api/v1/erasures': OWNER,
  'POST /api/v1/erasures': OWNER,
  'GET /api/v1/credentials': OWNER,
  'PUT /api/v1/credentials/{provider}/{alias}': OWNER,
  'DELETE /api/v1/credentials/{provider}/{alias}': OWNER,
  'POST /api/v1/credentials/rotate-key': OPERATOR,
  'GET /api/v1/people': OWNER,
  'POST /api/v1/people': OWNER,
  'PATCH /api/v1/people/{id}': OWNER,
  'DELETE /api/v1/people/{id}': OWNER,
  'POST /api/v1/people/{id}/links': OWNER,
  'POST /api/v1/people/{id}/sign-out': OWNER,
  'PUT /api/v1/password': SELF,
  'GET /api/v1/tokens': OWNER,
  'POST /api/v1/tokens': OWNER,
  'DELETE /api/v1/tokens/{id}': OWNER,
};

interface Pattern {
  readonly pattern: RegExp;
  readonly parameters: number;
  readonly access: Access;
}

/** A route without parameters before one with: `/logs/summary` also looks like `/logs/{id}`. */
const PATTERNS: readonly Pattern[] = Object.entries(ROUTE_ACCESS)
  .map(([line, access]) => {
    const parts = line.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'));
    return { pattern: new RegExp(`^${parts.join('[^/]+')}$`), parameters: parts.length - 1, access };
  })
  .toSorted((a, b) => a.parameters - b.parameters);

function findAccess(line: string): Access | null {
  return PATTERNS.find(({ pattern }) => pattern.test(line))?.access ?? null;
}

/** Parameters that look into the text of prompts and answers. */
const TEXT_PARAMETERS: readonly string[] = ['q'];

function isAllowed({ kind, role, scopes }: Principal, access: Access): boolean {
  if (kind === 'operator') return true;
  if (access.role === 'operator') return false;
  if (scopes !== null) return access.scope !== null && scopes.includes(access.scope);
  return ROLES.indexOf(role) >= ROLES.indexOf(access.role);
}

export function refuseForbidden(): MiddlewareHandler {
  return async (c, next) => {
    const principal: Principal | undefined = c.get('principal');
    // A public route, or one that checks tokens of its own.
    if (principal === undefined || principal.kind === 'operator') return next();
    const access = findAccess(`${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${c.req.path}`);
    if (access === null)
      throw new ApiError(404, 'not_found', 'There is nothing here for you; see /api/v1/openapi.json.');
    if (principal.view !== null) {
      if (!isSharedRoute(principal.view, c.req.method, c.req.path)) throw SHARE_FORBIDDEN;
    } else if (!isAllowed(principal, access)) throw forbidden(principal, access);
    const searchesTexts = TEXT_PARAMETERS.some((name) => (c.req.query(name) ?? '') !== '');
    if ((access.hasBodies === true || searchesTexts) && !principal.mayReadBodies)
      throw new ApiError(403, 'bodies_forbidden', 'The text of prompts and answers is not for you to read or search.');
    return next();
  };
}

function forbidden({ scopes, role }: Principal, access: Access): ApiError {
  if (access.role === 'operator')
    return new ApiError(403, 'forbidden', 'This is for the operator of the gateway, with the admin token.');
  if (scopes !== null)
    return new ApiError(
      403,
      'forbidden',
      access.scope === null
        ? 'No API token may do this; a person has to sign in.'
        : `This API token has no scope "${access.scope}"; an owner can make one that has.`,
    );
  return new ApiError(
    403,
    'forbidden',
    `Your role in this account is ${role}; this needs ${access.role}. An owner of the account can change it.`,
  );
}

/** For what a principal hands on to others. */
export function requireBodies(c: Parameters<typeof principalOf>[0]): void {
  if (!principalOf(c).mayReadBodies)
    throw new ApiError(403, 'bodies_forbidden', 'You cannot give to others what you may not read: texts.');
}
