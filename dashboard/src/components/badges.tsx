/** How a call or a run went: an icon and a word, never colour alone. */
import { Ban, CircleAlert, CircleCheck, CircleDashed, CircleSlash, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

export type Tone = 'good' | 'bad' | 'warn' | 'neutral' | 'accent';

const TONES: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  neutral: 'bg-raised text-ink-soft',
  accent: 'bg-accent-soft text-accent',
};

export function Badge({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ReactNode;
}) {
  return (
    <span
      title={title}
      className={`inline-flex max-w-full items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

interface OutcomeLook {
  readonly word: string;
  readonly about: string;
  readonly tone: Tone;
  readonly icon: typeof CircleCheck;
}

export const OUTCOMES: Readonly<Record<string, OutcomeLook>> = {
  ok: { word: 'ok', about: 'The provider answered, and the whole answer arrived', tone: 'good', icon: CircleCheck },
  upstream_error: {
    word: 'provider error',
    about: 'The provider answered with an error',
    tone: 'bad',
    icon: CircleAlert,
  },
  upstream_stream_error: {
    word: 'stream error',
    about: 'The provider reported an error inside its stream',
    tone: 'bad',
    icon: CircleAlert,
  },
  upstream_truncated: {
    word: 'cut by provider',
    about: 'The provider ended its answer too early',
    tone: 'bad',
    icon: TriangleAlert,
  },
  upstream_unreachable: {
    word: 'unreachable',
    about: 'The provider could not be reached',
    tone: 'bad',
    icon: CircleSlash,
  },
  client_closed: {
    word: 'client left',
    about: 'The client went away before it had its answer',
    tone: 'warn',
    icon: CircleDashed,
  },
  rejected: { word: 'rejected', about: 'The gateway refused the call', tone: 'bad', icon: Ban },
  gateway_error: { word: 'gateway error', about: 'A fault of the gateway itself', tone: 'bad', icon: TriangleAlert },
  shutdown_cut: {
    word: 'cut by gateway',
    about: 'The gateway ended it early: it was stopped, or the key was revoked or expired',
    tone: 'warn',
    icon: CircleDashed,
  },
  interrupted: {
    word: 'interrupted',
    about: 'The gateway was killed while the call was open',
    tone: 'warn',
    icon: CircleDashed,
  },
  open: { word: 'open', about: 'The call has not ended yet', tone: 'accent', icon: CircleDashed },
};

const UNKNOWN_OUTCOME: OutcomeLook = {
  word: 'unknown',
  about: 'Unknown outcome',
  tone: 'neutral',
  icon: CircleDashed,
};

interface StatusBadgeProps {
  readonly outcome: string;
  /** HTTP status sent to the client. */
  readonly status: number | null;
  /** What had not come when the client went; null when it did not, or that is not known. */
  readonly closedBefore?: string | null;
}

export const LEFT_BEFORE: Readonly<Record<string, string>> = {
  head: 'The client went away before the answer began',
  first_byte: 'The client went away before the first byte of the answer',
  end: 'The client went away before the end of the answer',
};

export function StatusBadge({ outcome, status, closedBefore = null }: StatusBadgeProps) {
  const { word, about, tone, icon: Icon } = OUTCOMES[outcome] ?? UNKNOWN_OUTCOME;
  return (
    <Badge tone={tone} title={LEFT_BEFORE[closedBefore ?? ''] ?? about}>
      <Icon size={13} aria-hidden />
      {status !== null && <span className="num">{status}</span>}
      {(outcome !== 'ok' || status === null) && <span>{word}</span>}
    </Badge>
  );
}

const RUN_STATES = {
  running: { word: 'running', tone: 'accent', icon: CircleDashed },
  errors: { word: 'errors', tone: 'bad', icon: CircleAlert },
  client_closed: { word: 'client left', tone: 'warn', icon: CircleDashed },
  ok: { word: 'ok', tone: 'good', icon: CircleCheck },
} as const;

export function RunStateBadge({
  state,
  errors = 0,
}: {
  readonly state: keyof typeof RUN_STATES;
  readonly errors?: number;
}) {
  const { word, tone, icon: Icon } = RUN_STATES[state];
  return (
    <Badge tone={tone}>
      <Icon size={13} aria-hidden />
      {state === 'errors' ? `${errors} ${errors === 1 ? 'error' : 'errors'}` : word}
    </Badge>
  );
}

export function ProviderMark({ provider }: { readonly provider: string }) {
  return <span className="text-ink-soft">{provider}</span>;
}

const LAYERS: Readonly<Record<string, { readonly word: string; readonly about: string; readonly tone: Tone }>> = {
  override: { word: 'yours', about: 'Declared here; takes precedence over all others', tone: 'accent' },
  overlay: {
    word: 'overlay',
    about: 'Ships with the gateway: fills gaps in the catalog and corrects it',
    tone: 'good',
  },
  catalog: { word: 'catalog', about: 'From the price catalog', tone: 'neutral' },
};

export function LayerBadge({ layer }: { readonly layer: string | null }) {
  if (layer === null) return null;
  const look = Object.hasOwn(LAYERS, layer) ? LAYERS[layer] : undefined;
  return (
    <Badge tone={look?.tone ?? 'neutral'} title={look?.about ?? layer}>
      {look?.word ?? layer}
    </Badge>
  );
}
