/** The fields of a declaration: for whom it is, what it says, since when. Draws and reports changes; decides nothing. */
import type { ReactNode } from 'react';
import type { Rates } from '../../api/prices.ts';
import { SelectField, TextField } from '../../components/form-field.tsx';
import type { DeclarationForm, FieldProblems } from './declaration-form.ts';
import { PROVIDER_CHOICES, TIER_CHOICES } from './price-words.ts';
import { RateFields } from './rate-fields.tsx';

const MATCH_CHOICES = [
  { value: 'exact', label: 'is exactly' },
  { value: 'prefix', label: 'begins with' },
] as const;

const TOKEN_BOUND = { hint: 'tokens, cache included; empty: all', inputMode: 'numeric' } as const;

interface DeclarationFieldsProps {
  readonly form: DeclarationForm;
  readonly onChange: (change: Partial<DeclarationForm>) => void;
  readonly problems: FieldProblems;
  /** A saved one: what makes it this one cannot be changed. */
  readonly isSaved: boolean;
  readonly wantedRates: readonly (keyof Rates)[];
}

function Row({ children }: { readonly children: ReactNode }) {
  return <div className="grid gap-3 sm:grid-cols-2">{children}</div>;
}

type TextName = 'alias' | 'model' | 'billingModel' | 'factor' | 'overTokens' | 'upToTokens' | 'from' | 'to' | 'note';

/** As the API names them. */
const API_NAMES: Readonly<Record<TextName, string>> = {
  alias: 'provider_alias',
  model: 'model',
  billingModel: 'billing_model',
  factor: 'factor',
  overTokens: 'over_tokens',
  upToTokens: 'up_to_tokens',
  from: 'valid_from',
  to: 'valid_to',
  note: 'note',
};

export function DeclarationFields({ form, onChange, problems, isSaved, wantedRates }: DeclarationFieldsProps) {
  const isMapping = form.kind === 'mapping';
  const text = (name: TextName) => ({
    value: form[name],
    problem: problems[API_NAMES[name]],
    onChange: (value: string) => onChange({ [name]: value }),
  });
  /** A part of what makes a saved declaration the one it is. */
  const fixed = { isDisabled: isSaved };
  return (
    <div className="flex flex-col gap-4">
      <Row>
        <SelectField
          label="Provider"
          value={form.provider}
          choices={PROVIDER_CHOICES}
          problem={problems['provider']}
          {...fixed}
          onChange={(provider) => onChange({ provider })}
        />
        <TextField
          label="Provider alias"
          hint="Only calls with this X-Gateway-Provider-Alias; empty: all calls"
          maxLength={256}
          {...text('alias')}
          {...fixed}
        />
      </Row>
      {form.kind !== 'multiplier' && (
        <Row>
          <SelectField
            label={isMapping ? 'The id in the call' : 'Model'}
            value={form.match}
            choices={MATCH_CHOICES}
            problem={problems['match']}
            {...fixed}
            onChange={(match) => onChange({ match })}
          />
          <TextField
            label={isMapping ? 'Id' : 'Model id'}
            placeholder={isMapping ? 'arn:aws:bedrock:…' : 'gpt-5.4-mini'}
            maxLength={1_000}
            {...text('model')}
            {...fixed}
          />
          {isMapping && (
            <TextField
              label="Billed as"
              hint="A model of the same provider, by the name that has a price"
              maxLength={1_000}
              hasFirstFocus={form.model !== ''}
              {...text('billingModel')}
            />
          )}
        </Row>
      )}
      {form.kind === 'override' && (
        <>
          <RateFields
            rates={form.rates}
            wanted={wantedRates}
            problems={problems}
            onChange={(rates) => onChange({ rates })}
          />
          <div className="grid gap-3 sm:grid-cols-3">
            <SelectField
              label="Service tier"
              value={form.tier}
              choices={TIER_CHOICES}
              problem={problems['service_tier']}
              {...fixed}
              onChange={(tier) => onChange({ tier })}
            />
            <TextField label="Prompts of more than" {...TOKEN_BOUND} {...text('overTokens')} {...fixed} />
            <TextField label="Prompts of at most" {...TOKEN_BOUND} {...text('upToTokens')} {...fixed} />
          </div>
        </>
      )}
      {form.kind === 'multiplier' && (
        <TextField
          label="Factor"
          hint="0.85 is 15 % off the list prices. Your own prices are not multiplied."
          inputMode="decimal"
          maxLength={20}
          {...text('factor')}
        />
      )}
      <Row>
        <TextField
          label="Holds from (UTC)"
          hint="This moment included; empty: from the beginning"
          type="datetime-local"
          {...text('from')}
          {...fixed}
        />
        <TextField
          label="Holds until (UTC)"
          hint="This moment not included; empty: until further notice"
          type="datetime-local"
          {...text('to')}
        />
      </Row>
      <TextField label="Note" hint="Why: a contract, an announcement, a page" maxLength={500} {...text('note')} />
    </div>
  );
}

export function listFieldNames(form: DeclarationForm, rateNames: readonly string[]): readonly string[] {
  const scope = ['provider', 'provider_alias', 'valid_from', 'valid_to', 'note'];
  switch (form.kind) {
    case 'override':
      return [
        ...scope,
        'match',
        'model',
        'service_tier',
        'over_tokens',
        'up_to_tokens',
        'rates',
        ...rateNames.map((name) => `rates.${name}`),
      ];
    case 'mapping':
      return [...scope, 'match', 'model', 'billing_model'];
    case 'multiplier':
      return [...scope, 'factor'];
  }
}
