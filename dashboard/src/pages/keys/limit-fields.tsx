/** How many calls at once, requests and tokens a minute: the fields of a form, and what is shown with its use. */
import type { CallLimit, Limits } from '../../api/limits.ts';
import { Count } from '../../components/amounts.tsx';
import { TextField } from '../../components/form-field.tsx';
import { findLimitProblem, type TypedLimits } from './typed-limits.ts';

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
      problem={findLimitProblem(limits[name])}
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
