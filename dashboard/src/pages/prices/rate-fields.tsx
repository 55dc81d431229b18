/** A field for each usage class that may have a rate, its unit beside it; the rare ones are folded away. */
import { useState } from 'react';
import type { Rates } from '../../api/prices.ts';
import { TextField } from '../../components/form-field.tsx';
import { Problem } from '../../components/states.tsx';
import { describeClass } from '../../messages/cost-breakdown.ts';
import type { FieldProblems } from './declaration-form.ts';
import { CLASS_CHOICES, RATE_UNITS } from './price-words.ts';

type UsageClass = keyof Rates;

const USUAL: readonly UsageClass[] = ['input', 'cache_read', 'cache_creation_5m', 'output'];

interface RateFieldsProps {
  readonly rates: Rates;
  readonly wanted: readonly UsageClass[];
  readonly onChange: (rates: Rates) => void;
  readonly problems: FieldProblems;
}

export function RateFields({ rates, wanted, onChange, problems }: RateFieldsProps) {
  // What was filled in at first stays where it is while one types.
  const [shown] = useState(() =>
    CLASS_CHOICES.filter((name) => USUAL.includes(name) || wanted.includes(name) || rates[name] !== undefined),
  );
  const first = shown.find((name) => wanted.includes(name));
  const field = (name: UsageClass) => (
    <TextField
      key={name}
      label={describeClass(name)}
      hint={wanted.includes(name) ? `${RATE_UNITS[name]}; used, and without a price` : RATE_UNITS[name]}
      inputMode="decimal"
      hasFirstFocus={name === first}
      maxLength={40}
      value={rates[name] ?? ''}
      problem={problems[`rates.${name}`] ?? null}
      onChange={(rate) => onChange({ ...rates, [name]: rate })}
    />
  );
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">Rates</legend>
      <p className="text-xs text-ink-faint">
        An empty field declares nothing: the list price holds, and what has none stays without a price. 0 means free.
      </p>
      <Problem message={problems['rates']} className="text-xs" />
      <div className="grid gap-3 sm:grid-cols-2">{shown.map(field)}</div>
      <details>
        <summary className="text-ink-soft">More: audio, images, other caches, tools</summary>
        <div className="mt-2 grid gap-3 sm:grid-cols-2">
          {CLASS_CHOICES.filter((name) => !shown.includes(name)).map(field)}
        </div>
      </details>
    </fieldset>
  );
}
