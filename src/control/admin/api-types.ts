/** The types of the API's questions and answers, derived from its routes for the dashboard's client. */
import type { z } from '@hono/zod-openapi';
import type * as accounts from './accounts-resource.ts';
import type * as alertDestinations from './alert-destinations-resource.ts';
import type * as alerts from './alerts-resource.ts';
import type * as apiTokens from './api-tokens-resource.ts';
import type * as audit from './audit-resource.ts';
import type * as brakes from './brakes-resource.ts';
import type * as budgets from './budgets-resource.ts';
import type * as costs from './costs-resource.ts';
import type * as credentials from './credentials-resource.ts';
import type * as demoData from './demo-data-resource.ts';
import type * as erasures from './erasures-resource.ts';
import type * as jobs from './jobs-resource.ts';
import type * as keys from './keys-resource.ts';
import type * as limits from './limits-resource.ts';
import type * as logSums from './log-sums-resource.ts';
import type * as logs from './logs-resource.ts';
import type * as metadataKeys from './metadata-keys-resource.ts';
import type * as nodes from './nodes-resource.ts';
import type * as oidc from './oidc/oidc-resource.ts';
import type * as people from './people-resource.ts';
import type * as revisions from './prices/log-revisions-resource.ts';
import type * as changes from './prices/prices-changes-resource.ts';
import type * as declarations from './prices/prices-declarations-resource.ts';
import type * as preview from './prices/prices-preview-resource.ts';
import type * as priceRows from './prices/prices-rows-resource.ts';
import type * as pricesStatus from './prices/prices-status-resource.ts';
import type * as unpriced from './prices/prices-unpriced-resource.ts';
import type * as quote from './prices/quote-resource.ts';
import type * as reprice from './prices/reprice-resource.ts';
import type * as quarantine from './quarantine-resource.ts';
import type * as readTokens from './read-tokens-resource.ts';
import type * as runSums from './run-sums-resource.ts';
import type * as runTokens from './run-tokens-resource.ts';
import type * as runs from './runs-resource.ts';
import type * as session from './session-resource.ts';
import type * as shareLinks from './share-links-resource.ts';
import type * as system from './system-resource.ts';

interface Route {
  readonly method: string;
  readonly path: string;
  readonly responses: object;
}

type RoutesOf<Module> = { [Name in keyof Module]: Module[Name] extends Route ? Module[Name] : never }[keyof Module];

type AnyRoute =
  | RoutesOf<typeof accounts>
  | RoutesOf<typeof alerts>
  | RoutesOf<typeof alertDestinations>
  | RoutesOf<typeof brakes>
  | RoutesOf<typeof apiTokens>
  | RoutesOf<typeof oidc>
  | RoutesOf<typeof people>
  | RoutesOf<typeof audit>
  | RoutesOf<typeof credentials>
  | RoutesOf<typeof erasures>
  | RoutesOf<typeof costs>
  | RoutesOf<typeof demoData>
  | RoutesOf<typeof jobs>
  | RoutesOf<typeof keys>
  | RoutesOf<typeof limits>
  | RoutesOf<typeof logSums>
  | RoutesOf<typeof logs>
  | RoutesOf<typeof budgets>
  | RoutesOf<typeof metadataKeys>
  | RoutesOf<typeof nodes>
  | RoutesOf<typeof revisions>
  | RoutesOf<typeof changes>
  | RoutesOf<typeof declarations>
  | RoutesOf<typeof preview>
  | RoutesOf<typeof priceRows>
  | RoutesOf<typeof pricesStatus>
  | RoutesOf<typeof unpriced>
  | RoutesOf<typeof quote>
  | RoutesOf<typeof reprice>
  | RoutesOf<typeof quarantine>
  | RoutesOf<typeof readTokens>
  | RoutesOf<typeof shareLinks>
  | RoutesOf<typeof runTokens>
  | RoutesOf<typeof runSums>
  | RoutesOf<typeof runs>
  | RoutesOf<typeof session>
  | RoutesOf<typeof system>;

export type ApiMethod = AnyRoute['method'];

/** Below `/api/v1`, with parameters in braces: `/logs/{id}`. */
export type ApiPath<Method extends ApiMethod> =
  Extract<AnyRoute, { readonly method: Method }> extends { readonly path: infer Path }
    ? Path extends `/api/v1${infer Rest}`
      ? Rest
      : never
    : never;

export type PathName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathName<Rest>
  : never;

type JsonOf<Response> = Response extends { content: { 'application/json': { schema: infer Schema extends z.ZodType } } }
  ? z.infer<Schema>
  : null;

type Success = 200 | 201 | 202 | 204;

export type ApiAnswer<Method extends ApiMethod, Path extends string> =
  Extract<AnyRoute, { readonly method: Method; readonly path: `/api/v1${Path}` }> extends {
    readonly responses: infer Responses;
  }
    ? { [Status in keyof Responses & Success]: JsonOf<Responses[Status]> }[keyof Responses & Success]
    : never;
