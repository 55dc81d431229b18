/** Starts the dashboard in the page: router, cache, preferences. */
import './styles.css';
import { keepPreviousData, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client.ts';
import { forgetSession } from './api/session.ts';
import { followTabs } from './api/tab-session.ts';
import { reloadOnceStored } from './app/secret-shown.ts';
import { PreferencesProvider } from './preferences.tsx';
import { RefreshProvider } from './refresh.tsx';
import { createAppRouter } from './router.tsx';

const STALE_MS = 10_000;
const RETRIES = 1;

function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof ApiError && error.status === 401) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // A refusal stays one; only what may pass by itself is tried again.
        retry: (count, error) =>
          count < RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 500),
        refetchOnWindowFocus: false,
        placeholderData: keepPreviousData,
      },
    },
  });
}

followTabs(reloadOnceStored);
const queries = createQueryClient(() => {
  forgetSession(queries);
  if (router.state.location.pathname === '/login') return;
  void router.navigate({ to: '/login', search: { next: router.state.location.href } });
});
const router = createAppRouter(queries);

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element with the id "root"');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <PreferencesProvider>
        <RefreshProvider>
          <RouterProvider router={router} />
        </RefreshProvider>
      </PreferencesProvider>
    </QueryClientProvider>
  </StrictMode>,
);
