/** Whether the window is too narrow for tables: phones, and large zoom. */
import { useSyncExternalStore } from 'react';

const QUERY = '(max-width: 719px)';

function subscribe(onChange: () => void): () => void {
  const query = matchMedia(QUERY);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(QUERY).matches);
}
