/** The session for every page below, and a wrapper for what not everybody may use. */
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { allows, type Least, type Session, sessionQuery } from '../api/session.ts';
import { Pending } from '../components/states.tsx';

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const { data, error, refetch } = useQuery(sessionQuery);
  if (data === undefined) return <Pending query={{ error, refetch }} what="who is signed in" />;
  return <SessionContext value={data}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('there is no session around this');
  return session;
}

export function useAllowed(least: Least): boolean {
  return allows(useSession(), least);
}

/** Leaves its children out for those who may not use them. */
export function Allowed({ to, children }: { readonly to: Least; readonly children: ReactNode }) {
  return useAllowed(to) ? children : null;
}
