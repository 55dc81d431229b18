/** What scopes and roles let one do, in words: for the dashboard, the API's description and docs/accounts.md. A test holds them against `ROUTE_ACCESS`. */
import type { Role, Scope } from './principal.ts';

/** Behind "lets it". */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  read: 'read everything but texts',
  bodies: 'read the text of prompts and answers',
  keys: 'make, change and revoke gateway keys, run and read tokens; pause runs and keys, and resume them',
  prices: 'declare prices, price again',
  manage:
    'make, change and delete budgets, limits, alerts, where alerts go, and share links; change the rules of brakes; promote metadata keys, group runs, stop and resume jobs',
};

/** Behind "may". */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer:
    'read calls, runs, costs, keys (not their secrets), prices, jobs, budgets, limits, alerts, brakes, share links',
  member:
    'also make, change and revoke keys, run tokens and read tokens; pause runs and keys, and resume them; declare prices and price again; make and change budgets, alerts and their destinations, rules of brakes, share links; promote metadata keys, group runs, stop and resume jobs',
  owner:
    'also invite people and change their roles, make API tokens, set limits that hold for several keys, keep and delete provider credentials, erase, read the audit log, and set how long the account keeps its calls',
};
