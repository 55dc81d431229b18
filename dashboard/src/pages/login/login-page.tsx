/**
 * The sign-in: by a one-time link (its code stands after the `#`, which no server log sees), the admin token, a password, or
 * the identity provider.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { getJson } from '../../api/client.ts';
import { type Proof, signIn, signInWaysQuery } from '../../api/session.ts';
import { Button, buttonClass } from '../../components/buttons.tsx';

/** Only an address of this site: a link may not lead elsewhere after the sign-in. */
function ownAddress(next: string | undefined): string {
  return next?.startsWith('/') === true && !next.startsWith('//') && !next.startsWith('/\\') ? next : '/';
}

/** What the address brings: the code of a link, or why the identity provider's sign-in came to nothing. */
function readHash(): { readonly proof: Proof | null; readonly problem: string | null } {
  const words = new URLSearchParams(location.hash.slice(1));
  const code = words.get('code');
  const person = words.get('person');
  const problem = words.get('problem');
  const link = words.get('link');
  const proof = code !== null ? { code } : person !== null ? { person } : link !== null ? { link } : null;
  return { proof, problem: problem === null ? null : (PROBLEMS[problem] ?? 'The sign-in failed.') };
}

const PROBLEMS: Readonly<Record<string, string>> = {
  provider_unreachable: 'The identity provider cannot be reached. Try again in a moment.',
  sign_in_refused: 'The identity provider did not let you in, or its answer was not right.',
  no_account: 'None of your groups has access here. Ask an owner of the account.',
  email_taken: 'Your address belongs to somebody else here. Ask the operator of the gateway.',
  no_email: 'The identity provider does not say your e-mail address, which is needed.',
  too_late: 'That took too long, or began in another browser. Try again.',
};

const INPUT = 'h-9 rounded-md border border-line-strong bg-panel px-3 text-ink';

export function LoginPage() {
  const { next } = useSearch({ from: '/login' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [problem, setProblem] = useState<string | null>(() => readHash().problem);
  const [isBusy, setBusy] = useState(readHash().proof !== null);
  /** A code counts once; a second try of the same page would fail. */
  const isTried = useRef(false);
  const [offered, setOffered] = useState<Proof | null>(null);

  const enter = async (proof: Proof) => {
    setBusy(true);
    setProblem(null);
    try {
      await signIn(proof);
      // What somebody else saw in this browser.
      queries.clear();
      await navigate({ href: 'link' in proof ? '/' : ownAddress(next), replace: true });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The sign-in failed.');
      setBusy(false);
    }
  };
  /** A visit takes the place of whoever is signed in in this browser, so they are asked first. */
  const openShared = async (proof: Proof) => {
    const present = await getJson('/session', {}).catch(() => null);
    if (present === null || present.kind === 'link') return enter(proof);
    setBusy(false);
    setOffered(proof);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with what the address holds when the page opens
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
    const { proof } = readHash();
    if (isTried.current || location.hash === '') return;
    isTried.current = true;
    history.replaceState(null, '', location.pathname + location.search);
    if (proof === null) return;
    if ('link' in proof) void openShared(proof);
    else void enter(proof);
  }, []);
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center gap-4 px-4">
      <div className="flex items-center gap-3">
        <img src="/favicon.svg" alt="" width={36} height={36} />
        <h1 className="text-xl font-semibold">Sign in to Tollgate</h1>
      </div>
      {problem !== null && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          {problem}
        </p>
      )}
      {offered !== null && (
        <div className="flex flex-col gap-2 rounded-md border border-line-strong p-3">
          <p>
            You are signed in here. The shared page takes the place of that in this browser; in a private window both
            can be.
          </p>
          <Button look="primary" disabled={isBusy} onClick={() => void enter(offered)}>
            Open the shared page
          </Button>
          <a href="/" className={buttonClass()}>
            Stay signed in
          </a>
        </div>
      )}
      <ProviderLink next={ownAddress(next)} />
      <TokenForm isBusy={isBusy} onProof={enter} />
      <PasswordForm isBusy={isBusy} onProof={enter} />
    </main>
  );
}

function ProviderLink({ next }: { readonly next: string }) {
  const { data } = useQuery(signInWaysQuery);
  if (data?.provider == null) return null;
  return (
    <a href={`/api/v1/oidc/sign-in?next=${encodeURIComponent(next)}`} className={buttonClass('primary')}>
      Sign in with {data.provider.name}
    </a>
  );
}

interface FormProps {
  readonly isBusy: boolean;
  readonly onProof: (proof: Proof) => void;
}

function TokenForm({ isBusy, onProof }: FormProps) {
  const [token, setToken] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') onProof({ token: token.trim() });
  };
  return (
    <>
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
            className={INPUT}
          />
        </label>
        <p className="text-xs text-ink-faint">
          It is the setting TOLLGATE_ADMIN_TOKEN, or stands in admin.json of the data directory.
        </p>
        <Button type="submit" look="primary" disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </>
  );
}

/** Folded: whoever runs the only account never needs it. */
function PasswordForm({ isBusy, onProof }: FormProps) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onProof({ email: email.trim(), password });
  };
  return (
    <details>
      <summary className="cursor-pointer text-ink-soft">With e-mail address and password</summary>
      <form onSubmit={submit} className="mt-2 flex flex-col gap-2">
        <label className="flex flex-col gap-1 text-ink-soft">
          E-mail address
          <input
            type="email"
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            className={INPUT}
          />
        </label>
        <label className="flex flex-col gap-1 text-ink-soft">
          Password
          <input
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
            className={INPUT}
          />
        </label>
        <Button type="submit" look="primary" disabled={isBusy || email.trim() === '' || password === ''}>
          Sign in with the password
        </Button>
      </form>
    </details>
  );
}
