/** A named field of a form: its label, what to write, and what was wrong with what was written. */
import { type ReactNode, useId } from 'react';

const CONTROL =
  'h-8 w-full rounded-md border border-line-strong bg-surface px-2 text-sm text-ink aria-invalid:border-bad disabled:opacity-60';

interface FieldProps {
  readonly label: ReactNode;
  /** Unit or meaning, below the field. */
  readonly hint?: ReactNode;
  /** Why the value was refused; null when it was not. */
  readonly problem?: string | null;
  readonly isDisabled?: boolean;
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: 'text' | 'datetime-local';
  readonly inputMode?: 'text' | 'decimal' | 'numeric';
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly isRequired?: boolean;
  /** Of a dialog: what is to be written first, where others are filled in already. */
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
        autoComplete="off"
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
