/** Starts the dashboard in the page: router, cache, preferences. */
import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './app/create-query-client.ts';
import { PreferencesProvider } from './preferences.tsx';
import { RefreshProvider } from './refresh.tsx';
import { createAppRouter } from './router.tsx';

const router = createAppRouter();
const queries = createQueryClient(() => {
  if (router.state.location.pathname === '/login') return;
  void router.navigate({ to: '/login', search: { next: router.state.location.href } });
});

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
