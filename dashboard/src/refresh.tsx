/** The refresh button's count: pages whose window ends "now" read the clock again when it changes. */
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

interface Refresh {
  readonly round: number;
  readonly refresh: () => void;
}

const RefreshContext = createContext<Refresh>({ round: 0, refresh: () => {} });

export function RefreshProvider({ children }: { readonly children: ReactNode }) {
  const [round, setRound] = useState(0);
  const value = useMemo(() => ({ round, refresh: () => setRound((count) => count + 1) }), [round]);
  return <RefreshContext value={value}>{children}</RefreshContext>;
}

export function useRefresh(): Refresh {
  return useContext(RefreshContext);
}
