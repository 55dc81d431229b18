/** How many calls at once, requests and tokens a minute: as it is typed, and as it is shown with its use. */
import type { CallLimit, Limits } from '../../api/limits.ts';
import { Count } from '../../components/amounts.tsx';
import { TextField } from '../../components/form-field.tsx';

export interface TypedLimits {
  readonly concurrent: string;
  readonly requests: string;
  readonly tokens: string;
}

const WHOLE = /^[1-9]\d{0,12}$/;

export function typedLimitsOf(limits: Limits): TypedLimits {
  const text = (most: number | null) => (most === null ? '' : String(most));
  return {
    concurrent: text(limits.max_concurrent),
    requests: text(limits.requests_per_minute),
    tokens: text(limits.tokens_per_minute),
  };
}

/** What is no number is left to the gateway to refuse, with its words. */
export function readLimits({ concurrent, requests, tokens }: TypedLimits): Limits {
  const most = (text: string) => (text.trim() === '' ? null : Number(text));
  return {
    max_concurrent: most(concurrent),
    requests_per_minute: most(requests),
    tokens_per_minute: most(tokens),
  };
}

export function areLimitsSound({ concurrent, requests, tokens }: TypedLimits): boolean {
  return [concurrent, requests, tokens].every((text) => text.trim() === '' || WHOLE.test(text.trim()));
}

interface LimitFieldsProps {
  readonly limits: TypedLimits;
  readonly onChange: (limits: TypedLimits) => void;
}

export function LimitFields({ limits, onChange }: LimitFieldsProps) {
  const field = (name: keyof TypedLimits, label: string) => (
    <TextField
      label={label}
      inputMode="numeric"
      value={limits[name]}
      maxLength={13}
      placeholder="any number"
      problem={
        limits[name].trim() === '' || WHOLE.test(limits[name].trim()) ? null : 'a whole number above 0, or nothing'
      }
      onChange={(text) => onChange({ ...limits, [name]: text })}
    />
  );
  return (
    <fieldset className="grid grid-cols-3 gap-3">
      <legend className="mb-1 text-xs text-ink-soft">Limits (empty: any number)</legend>
      {field('concurrent', 'Calls at once')}
      {field('requests', 'Requests a minute')}
      {field('tokens', 'Tokens a minute')}
    </fieldset>
  );
}

interface UseBarProps {
  readonly name: string;
  readonly most: number | null;
  /** Null: not known. */
  readonly used: number | null;
}

/** A limit as a bar of what is in use; nothing where there is none. */
function UseBar({ name, most, used }: UseBarProps) {
  if (most === null) return null;
  const share = used === null ? 0 : Math.min(1, used / most);
  return (
    <div className="flex items-center gap-2 text-xs whitespace-nowrap">
      <span
        role="meter"
        aria-label={`${name} in use`}
        aria-valuemin={0}
        aria-valuemax={most}
        aria-valuenow={Math.min(used ?? 0, most)}
        className="h-1.5 w-12 shrink-0 overflow-hidden rounded-full bg-line"
      >
        <span
          className={`block h-full ${share >= 0.9 ? 'bg-bad' : 'bg-accent'}`}
          style={{ width: `${Math.round(share * 100)}%` }}
        />
      </span>
      <span>
        <Count value={used} /> of <Count value={most} /> <span className="text-ink-faint">{name}</span>
      </span>
    </div>
  );
}

export function LimitBars({ limits, use }: { readonly limits: Limits; readonly use: CallLimit['use'] }) {
  const isLimited = [limits.max_concurrent, limits.requests_per_minute, limits.tokens_per_minute].some(
    (most) => most !== null,
  );
  if (!isLimited) return <span className="text-ink-faint">none</span>;
  return (
    <div className="flex flex-col gap-0.5">
      <UseBar name="at once" most={limits.max_concurrent} used={use?.concurrent ?? null} />
      <UseBar name="requests/min" most={limits.requests_per_minute} used={use?.requests ?? null} />
      <UseBar name="tokens/min" most={limits.tokens_per_minute} used={use?.tokens ?? null} />
    </div>
  );
}
