/** Puts the admin API together: guards, routes, OpenAPI document and errors. No socket. */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import { v7 as createUuid } from 'uuid';
import { MAX_CATALOG_BYTES } from '../prices/declared/import-catalog.ts';
import { addAccountRoutes } from './accounts-resource.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { addAlertDestinationRoutes } from './alert-destinations-resource.ts';
import { addAlertRoutes } from './alerts-resource.ts';
import { ApiError, toApiError } from './api-error.ts';
import { addApiTokenRoutes } from './api-tokens-resource.ts';
import { addAttemptStreamRoute } from './attempt-stream.ts';
import { addAttemptRoutes } from './attempts-resource.ts';
import { addAuditRoutes } from './audit-resource.ts';
import { addBackupRoutes } from './backup-resource.ts';
import { raiseWall, wallDatabase } from './behind-wall.ts';
import { addBrakeRoutes } from './brakes-resource.ts';
import { addBudgetOverviewRoutes } from './budget-overview-resource.ts';
import { addBudgetRoutes } from './budgets-resource.ts';
import { addCostRoutes } from './costs-resource.ts';
import { addCredentialRoutes } from './credentials-resource.ts';
import { addDemoDataRoutes } from './demo-data-resource.ts';
import { addErasureRoutes } from './erasures-resource.ts';
import { addExportRoute } from './export-resource.ts';
import { addSecurityHeaders, checkHostAndOrigin, requireCredentials } from './guard.ts';
import { addHealthRoutes } from './health-resource.ts';
import { createIdentify } from './identify.ts';
import { addJobRoutes } from './jobs-resource.ts';
import { addKeyRoutes } from './keys-resource.ts';
import { addLimitRoutes } from './limits-resource.ts';
import { addLogBodyRoutes } from './log-body-resource.ts';
import { addLogStreamRoute } from './log-stream.ts';
import { addLogSumsRoutes } from './log-sums-resource.ts';
import { addLogRoutes } from './logs-resource.ts';
import { addMcpRoute } from './mcp-resource.ts';
import { addMetadataKeyRoutes } from './metadata-keys-resource.ts';
import { addMetricsRoute } from './metrics/metrics-resource.ts';
import { addNodeRoutes } from './nodes-resource.ts';
import { noteRequests } from './note-requests.ts';
import { addOidcRoutes } from './oidc/oidc-resource.ts';
import { describeIssue } from './parse-query.ts';
import { addPeopleRoutes } from './people-resource.ts';
import { addRevisionRoute } from './prices/log-revisions-resource.ts';
import { CATALOG_PATH } from './prices/prices-catalog-resource.ts';
import { addPriceRoutes } from './prices/prices-resource.ts';
import { addQuoteRoute } from './prices/quote-resource.ts';
import { addRepriceRoutes } from './prices/reprice-resource.ts';
import { addQuarantineRoute } from './quarantine-resource.ts';
import { addReadTokenRoutes } from './read-tokens-resource.ts';
import { refuseModelCalls } from './refuse-model-calls.ts';
import { refuseUnknownQuery } from './refuse-unknown-query.ts';
import { refuseUnstorableText } from './refuse-unstorable-text.ts';
import { addRestartRoute } from './restart-resource.ts';
import { RESTORE_PATH } from './restore-path.ts';
import { refuseForbidden } from './route-access.ts';
import { addRunCallRoutes } from './run-calls-resource.ts';
import { addRunGroupingRoutes } from './run-grouping-resource.ts';
import { addRunStreamRoute } from './run-stream.ts';
import { addRunSumsRoutes } from './run-sums-resource.ts';
import { addRunTokenRoutes } from './run-tokens-resource.ts';
import { addRunRoutes } from './runs-resource.ts';
import { serveDashboard } from './serve-dashboard.ts';
import { createSessions, SESSION_COOKIE } from './session.ts';
import { addSessionRoutes } from './session-resource.ts';
import { addSettingRoutes } from './settings-resource.ts';
import { keepToShare } from './share-access.ts';
import { addShareLinkRoutes } from './share-links-resource.ts';
import { addSpoolRoutes, SPOOL_IMPORT_PATH } from './spool-resource.ts';
import { addSqlAccessRoutes } from './sql-access-resource.ts';
import { addSystemRoutes } from './system-resource.ts';
import { createTokenCheck } from './token-check.ts';
import { addVerifyRoute } from './verify-resource.ts';

const MAX_BODY_BYTES = 64 * 1024;
const RETRY_AFTER_SECONDS = 2;

function createBodyLimit(maxBytes: number): MiddlewareHandler {
  return bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new ApiError(413, 'body_too_large', `A body may have ${maxBytes} bytes.`);
    },
  });
}

function addDocument(app: OpenAPIHono, deps: AdminDeps): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'adminToken', { type: 'http', scheme: 'bearer' });
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of one account (`tga_…`), within its scopes',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
  });
  app.get('/api/v1/openapi.json', (c) => {
    const document = app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'Tollgate admin API',
        version: deps.version,
        description:
          'Keys, logs and runs of one gateway. Money is decimal text, token counts are numbers, null means "not reported" and is never zero.',
      },
      security: [{ adminToken: [] }, { apiToken: [] }, { session: [] }],
    });
    return c.json(document);
  });
}

/** What a resource gets: the database behind the wall of its request, and prices that are read in front of it. */
function wallDeps(given: AdminDeps): AdminDeps {
  return {
    ...given,
    database: wallDatabase(given),
    prices: { ...given.prices, refresh: async () => given.prices.refresh(requireDatabase(given)) },
  };
}

export function createAdminApp(given: AdminDeps): OpenAPIHono {
  const deps = wallDeps(given);
  const app = new OpenAPIHono({
    defaultHook: (result) => {
      if (result.success) return;
      throw new ApiError(400, 'invalid_request', describeIssue(result.error));
    },
  });
  const sessions = createSessions(deps.adminToken, deps.endedSessions, deps.nowMs);
  const tokens = createTokenCheck(deps.access);
  app.use(addSecurityHeaders());
  app.use(checkHostAndOrigin(deps));
  app.use(serveDashboard(deps.dashboard));
  app.use(refuseModelCalls(deps.baseUrl));
  app.use(noteRequests(deps));
  app.use(requireCredentials(deps, sessions, tokens, createIdentify(deps)));
  app.use(refuseForbidden());
  app.use(raiseWall());
  app.use(keepToShare(deps));
  // Bodies and event streams have other types and stay uncompressed.
  app.use('/api/*', compress({ encoding: 'gzip', contentTypeFilter: /^application\/json/ }));
  // Nobody sees the end of an answer without a body, so a stream or an export would hold its place for good.
  app.use(async (c, next) => {
    if (c.req.method === 'HEAD' && /^\/api\/v1\/(?:.*\/stream|export|backup)$/.test(c.req.path))
      return c.body(null, 200);
    return next();
  });
  app.use(refuseUnknownQuery(app));
  const limitBody = createBodyLimit(MAX_BODY_BYTES);
  const limitCatalog = createBodyLimit(MAX_CATALOG_BYTES);
  app.use((c, next) => {
    // These bodies may be a whole log, which is read in pieces.
    if (c.req.path === RESTORE_PATH || c.req.path === SPOOL_IMPORT_PATH) return next();
    return c.req.path === CATALOG_PATH ? limitCatalog(c, next) : limitBody(c, next);
  });
  app.use(refuseUnstorableText((path) => ![RESTORE_PATH, SPOOL_IMPORT_PATH, CATALOG_PATH].includes(path)));

  addSessionRoutes(app, deps, sessions, tokens);
  addOidcRoutes(app, deps, sessions);
  addHealthRoutes(app, deps);
  addSystemRoutes(app, deps);
  addRestartRoute(app, deps);
  addVerifyRoute(app, deps);
  addQuarantineRoute(app, deps);
  addNodeRoutes(app, deps);
  addSettingRoutes(app, deps);
  addSpoolRoutes(app, deps);
  addMetricsRoute(app, deps);
  addAttemptStreamRoute(app, deps);
  addAttemptRoutes(app, deps);
  addDemoDataRoutes(app, deps);
  addKeyRoutes(app, deps);
  addRunTokenRoutes(app, deps);
  addLogStreamRoute(app, deps);
  addLogSumsRoutes(app, deps);
  addLogRoutes(app, deps);
  addLogBodyRoutes(app, deps);
  addRunRoutes(app, deps);
  addRunSumsRoutes(app, deps);
  addRunCallRoutes(app, deps);
  addRunStreamRoute(app, deps);
  addBudgetRoutes(app, deps);
  addBudgetOverviewRoutes(app, deps);
  addCostRoutes(app, deps);
  addBrakeRoutes(app, deps);
  addAlertRoutes(app, deps);
  addAlertDestinationRoutes(app, deps);
  addQuoteRoute(app, deps);
  addPriceRoutes(app, deps);
  addMetadataKeyRoutes(app, deps);
  addJobRoutes(app, deps);
  addRepriceRoutes(app, deps);
  addRunGroupingRoutes(app, deps);
  addRevisionRoute(app, deps);
  addExportRoute(app, deps);
  addBackupRoutes(app, deps);
  addSqlAccessRoutes(app, deps);
  addLimitRoutes(app, deps);
  addReadTokenRoutes(app, deps);
  addShareLinkRoutes(app, deps);
  addAuditRoutes(app, deps);
  addCredentialRoutes(app, deps);
  addErasureRoutes(app, deps);
  addAccountRoutes(app, deps);
  addPeopleRoutes(app, deps);
  addApiTokenRoutes(app, deps);
  addMcpRoute(app, deps, tokens);
  addDocument(app, deps);

  app.notFound((c) => {
    throw new ApiError(
      404,
      'not_found',
      `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}; see /api/v1/openapi.json.`,
    );
  });
  app.onError((thrown, c) => {
    const error = toApiError(thrown);
    const requestId = createUuid();
    if (error.status === 500)
      deps.log.error({ err: thrown, requestId, route: c.req.path }, 'a request to the admin API failed');
    // Clients that honour it come back by themselves.
    if (error.status === 503) c.header('retry-after', String(RETRY_AFTER_SECONDS));
    return c.json({ error: { code: error.code, message: error.message, request_id: requestId } }, error.status);
  });
  return app;
}
