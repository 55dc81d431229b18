/** The table of pages: address, what of it is state, and the code, which is loaded when the page is opened. */
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { getJson } from './api/client.ts';
import { isSignedIn, sessionQuery } from './api/session.ts';
import { AppLayout } from './app/app-layout.tsx';
import { EmptyState, ErrorState, Skeleton } from './components/states.tsx';
import { readCostsSearch } from './pages/costs/costs-search.ts';
import { readLogsSearch } from './pages/logs/logs-search.ts';
import { readPricesSearch } from './pages/prices/prices-search.ts';
import { readRunSearch } from './pages/run/run-search.ts';
import { readRunsSearch } from './pages/runs/runs-search.ts';
import { readStartSearch } from './pages/start/start-search.ts';
import { readText, readWindowSearch } from './search/list-search.ts';
import { parseSearch, stringifySearch } from './search/search-params.ts';

const rootRoute = createRootRouteWithContext<{ readonly queries: QueryClient }>()();

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (raw: Record<string, unknown>): { readonly next?: string | undefined } => ({
    next: readText(raw['next']),
  }),
  component: lazyRouteComponent(() => import('./pages/login/login-page.tsx'), 'LoginPage'),
});

const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  beforeLoad: async ({ context, location }) => {
    if (!(await isSignedIn(context.queries))) throw redirect({ to: '/login', search: { next: location.href } });
  },
  component: AppLayout,
  pendingComponent: () => <Skeleton />,
});

const indexRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    // Who came by a share link is led to what it shows.
    if ((await context.queries.fetchQuery(sessionQuery)).shared !== null) return;
    const { data } = await getJson('/logs', { limit: 1, fields: 'id' });
    throw redirect({ to: data.length === 0 ? '/start' : '/runs' });
  },
});

const startRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/start',
  validateSearch: readStartSearch,
  component: lazyRouteComponent(() => import('./pages/start/start-page.tsx'), 'StartPage'),
});

const runsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/runs',
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(() => import('./pages/runs/runs-page.tsx'), 'RunsPage'),
});

const runRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/run',
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import('./pages/run/run-page.tsx'), 'RunPage'),
});

const logsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/logs',
  validateSearch: readLogsSearch,
  component: lazyRouteComponent(() => import('./pages/logs/logs-page.tsx'), 'LogsPage'),
});

const logRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/log/$id',
  validateSearch: (
    raw: Record<string, unknown>,
  ): { readonly tab?: string | undefined; readonly q?: string | undefined } => ({
    tab: readText(raw['tab']),
    /** What a search looked for. */
    q: readText(raw['q']),
  }),
  component: lazyRouteComponent(() => import('./pages/log/log-page.tsx'), 'LogPage'),
});

const costsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/costs',
  validateSearch: readCostsSearch,
  component: lazyRouteComponent(() => import('./pages/costs/costs-page.tsx'), 'CostsPage'),
});

const metadataRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/metadata',
  validateSearch: readWindowSearch,
  component: lazyRouteComponent(() => import('./pages/metadata/metadata-page.tsx'), 'MetadataPage'),
});

const budgetsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/budgets',
  component: lazyRouteComponent(() => import('./pages/budgets/budgets-page.tsx'), 'BudgetsPage'),
});

const brakesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/brakes',
  validateSearch: (raw: Record<string, unknown>): { readonly tab?: string | undefined } => ({
    tab: readText(raw['tab']),
  }),
  component: lazyRouteComponent(() => import('./pages/brakes/brakes-page.tsx'), 'BrakesPage'),
});

const pricesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/prices',
  validateSearch: readPricesSearch,
  component: lazyRouteComponent(() => import('./pages/prices/prices-page.tsx'), 'PricesPage'),
});

const keysRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
});

const peopleRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/people',
  component: lazyRouteComponent(() => import('./pages/people/people-page.tsx'), 'PeoplePage'),
});

const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/audit',
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
});

const credentialsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/credentials',
  component: lazyRouteComponent(() => import('./pages/credentials/credentials-page.tsx'), 'CredentialsPage'),
});

const systemRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('./pages/system/system-page.tsx'), 'SystemPage'),
});

const routeTree = rootRoute.addChildren([
  loginRoute,
  appRoute.addChildren([
    indexRoute,
    startRoute,
    runsRoute,
    runRoute,
    logsRoute,
    logRoute,
    costsRoute,
    metadataRoute,
    budgetsRoute,
    brakesRoute,
    pricesRoute,
    keysRoute,
    peopleRoute,
    auditRoute,
    credentialsRoute,
    systemRoute,
  ]),
]);

function NotFound() {
  return (
    <EmptyState title="Page not found" actions={<Link to="/runs">Go to runs</Link>}>
      The address may be cut short, or from another version.
    </EmptyState>
  );
}

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPendingComponent: () => <Skeleton />,
    defaultErrorComponent: ({ error, reset }) => <ErrorState error={error} what="this page" onRetry={reset} />,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
