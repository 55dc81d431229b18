/** The sign-in: by the one-time link (its code stands after the `#`, which no server log sees) or by the admin token. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { signIn } from '../../api/session.ts';
import { Button } from '../../components/buttons.tsx';

/** Only an address of this site: a link may not lead elsewhere after the sign-in. */
function ownAddress(next: string | undefined): string {
  return next?.startsWith('/') === true && !next.startsWith('//') && !next.startsWith('/\\') ? next : '/';
}

function readCode(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('code');
}

export function LoginPage() {
  const { next } = useSearch({ from: '/login' });
  const navigate = useNavigate();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(readCode() !== null);
  /** A code counts once; a second try of the same page would fail. */
  const isTried = useRef(false);

  const enter = async (proof: { code: string } | { token: string }) => {
    setBusy(true);
    setProblem(null);
    try {
      await signIn(proof);
      await navigate({ href: ownAddress(next), replace: true });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The sign-in failed.');
      setBusy(false);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with what the address holds when the page opens
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
    const code = readCode();
    if (code === null || isTried.current) return;
    isTried.current = true;
    history.replaceState(null, '', location.pathname + location.search);
    void enter({ code });
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') void enter({ token: token.trim() });
  };
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center gap-4 px-4">
      <div className="flex items-center gap-3">
        <img src="/favicon.svg" alt="" width={36} height={36} />
        <h1 className="text-xl font-semibold">Sign in to Tollgate</h1>
      </div>
      <p className="text-ink-soft">
        Open the link that <code className="font-mono text-ink">tollgate login</code> prints: it signs this browser in.
        It works once, for ten minutes.
      </p>
      <form onSubmit={submit} className="flex flex-col gap-2">
        <label className="flex flex-col gap-1 text-ink-soft">
          Or the admin token
          <input
            type="password"
            autoComplete="current-password"
            value={token}
            onChange={(event) => setToken(event.target.value)}
            className="h-9 rounded-md border border-line-strong bg-panel px-3 text-ink"
          />
        </label>
        <p className="text-xs text-ink-faint">
          It is the setting TOLLGATE_ADMIN_TOKEN, or stands in admin.json of the data directory.
        </p>
        {problem !== null && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {problem}
          </p>
        )}
        <Button type="submit" look="primary" disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </main>
  );
}
