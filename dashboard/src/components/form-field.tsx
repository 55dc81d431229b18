/** A named field of a form: its label, what to write, and what was wrong with what was written. */
import { type ReactNode, useEffect, useId, useState } from 'react';

const CONTROL =
  'h-8 w-full rounded-md border border-line-strong bg-surface px-2 text-sm text-ink aria-invalid:border-bad disabled:opacity-60';

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly problem?: string | null | undefined;
  readonly isDisabled?: boolean;
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: 'text' | 'password' | 'datetime-local';
  readonly inputMode?: 'text' | 'decimal' | 'numeric';
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly isRequired?: boolean;
  /** A dialog gives it the focus, e.g. where the other fields are filled in already. */
  readonly hasFirstFocus?: boolean;
}

function FieldNotes({ id, hint, problem }: Pick<FieldProps, 'hint' | 'problem'> & { readonly id: string }) {
  return (
    <span id={id} className="flex flex-col text-xs">
      {problem !== null && problem !== undefined && <span className="break-words text-bad">{problem}</span>}
      {hint !== undefined && <span className="text-ink-faint">{hint}</span>}
    </span>
  );
}

/** The control between its label and its notes. `children` is the control, which has the id. */
function Field({
  id,
  label,
  hint,
  problem,
  children,
}: Pick<FieldProps, 'label' | 'hint' | 'problem'> & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs text-ink-soft">
        {label}
      </label>
      {children}
      <FieldNotes id={`${id}-notes`} hint={hint} problem={problem ?? null} />
    </div>
  );
}

export function TextField(props: TextFieldProps) {
  const { label, value, onChange, hint, problem = null, isDisabled = false, type = 'text', inputMode = 'text' } = props;
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} problem={problem}>
      <input
        id={id}
        type={type}
        inputMode={inputMode}
        value={value}
        disabled={isDisabled}
        required={props.isRequired ?? false}
        {...(props.hasFirstFocus === true ? { 'data-first-focus': '' } : {})}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        spellCheck={false}
        {...(props.placeholder === undefined ? {} : { placeholder: props.placeholder })}
        {...(props.maxLength === undefined ? {} : { maxLength: props.maxLength })}
        // Seconds are shown where there are any.
        {...(type === 'datetime-local' ? { step: value.length > 16 ? 0.001 : 60 } : {})}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-notes`}
        onChange={(event) => onChange(event.target.value)}
        className={`${CONTROL} placeholder:text-ink-faint`}
      />
    </Field>
  );
}

interface SelectFieldProps<T extends string> extends FieldProps {
  readonly value: T;
  readonly choices: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
}

export function SelectField<T extends string>(props: SelectFieldProps<T>) {
  const { label, value, choices, onChange, hint, problem = null, isDisabled = false } = props;
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} problem={problem}>
      <select
        id={id}
        value={value}
        disabled={isDisabled}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-notes`}
        onChange={(event) => {
          const chosen = choices.find((choice) => choice.value === event.target.value);
          if (chosen !== undefined) onChange(chosen.value);
        }}
        className={CONTROL}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface InlineSelectProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

/** A choice within a row of controls, its name before it. */
export function InlineSelect({ label, value, choices, onChange }: InlineSelectProps) {
  return (
    <label className="inline-flex items-center gap-1.5 text-xs text-ink-faint">
      {label}
      <select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="h-8 max-w-72 rounded-md border border-line-strong/70 bg-panel px-2 text-sm text-ink"
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface CheckboxProps {
  readonly label: ReactNode;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly className?: string;
}

/** It shows at once what was chosen: an address that keeps it takes a moment to say so. */
export function Checkbox({ label, isOn, onChange, className = '' }: CheckboxProps) {
  const [isChecked, setChecked] = useState(isOn);
  useEffect(() => setChecked(isOn), [isOn]);
  return (
    <label className={`flex items-center gap-1.5 ${className}`}>
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => {
          setChecked(event.target.checked);
          onChange(event.target.checked);
        }}
      />
      {label}
    </label>
  );
}
