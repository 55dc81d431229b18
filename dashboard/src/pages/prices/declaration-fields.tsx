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

export interface DeclarationFieldsProps {
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

function ScopeFields({ form, onChange, problems, isSaved }: DeclarationFieldsProps) {
  return (
    <Row>
      <SelectField
        label="Provider"
        value={form.provider}
        choices={PROVIDER_CHOICES}
        problem={problems['provider'] ?? null}
        isDisabled={isSaved}
        onChange={(provider) => onChange({ provider })}
      />
      <TextField
        label="Provider alias"
        hint="Only calls with this X-Gateway-Provider-Alias; empty: all calls"
        value={form.alias}
        maxLength={256}
        problem={problems['provider_alias'] ?? null}
        isDisabled={isSaved}
        onChange={(alias) => onChange({ alias })}
      />
    </Row>
  );
}

function ModelFields({ form, onChange, problems, isSaved }: DeclarationFieldsProps) {
  const isMapping = form.kind === 'mapping';
  return (
    <Row>
      <SelectField
        label={isMapping ? 'The id in the call' : 'Model'}
        value={form.match}
        choices={MATCH_CHOICES}
        problem={problems['match'] ?? null}
        isDisabled={isSaved}
        onChange={(match) => onChange({ match })}
      />
      <TextField
        label={isMapping ? 'Id' : 'Model id'}
        placeholder={isMapping ? 'arn:aws:bedrock:…' : 'gpt-5.4-mini'}
        value={form.model}
        maxLength={1_000}
        problem={problems['model'] ?? null}
        isDisabled={isSaved}
        onChange={(model) => onChange({ model })}
      />
      {isMapping && (
        <TextField
          label="Billed as"
          hint="A model of the same provider, by the name that has a price"
          value={form.billingModel}
          maxLength={1_000}
          hasFirstFocus={form.model !== ''}
          problem={problems['billing_model'] ?? null}
          onChange={(billingModel) => onChange({ billingModel })}
        />
      )}
    </Row>
  );
}

function TermFields({ form, onChange, problems, isSaved }: DeclarationFieldsProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <SelectField
        label="Service tier"
        value={form.tier}
        choices={TIER_CHOICES}
        problem={problems['service_tier'] ?? null}
        isDisabled={isSaved}
        onChange={(tier) => onChange({ tier })}
      />
      <TextField
        label="Prompts of more than"
        hint="tokens, cache included; empty: all"
        inputMode="numeric"
        value={form.overTokens}
        problem={problems['over_tokens'] ?? null}
        isDisabled={isSaved}
        onChange={(overTokens) => onChange({ overTokens })}
      />
      <TextField
        label="Prompts of at most"
        hint="tokens, cache included; empty: all"
        inputMode="numeric"
        value={form.upToTokens}
        problem={problems['up_to_tokens'] ?? null}
        isDisabled={isSaved}
        onChange={(upToTokens) => onChange({ upToTokens })}
      />
    </div>
  );
}

function DateFields({ form, onChange, problems, isSaved }: DeclarationFieldsProps) {
  return (
    <Row>
      <TextField
        label="Holds from (UTC)"
        hint="This moment included; empty: since ever"
        type="datetime-local"
        value={form.from}
        problem={problems['valid_from'] ?? null}
        isDisabled={isSaved}
        onChange={(from) => onChange({ from })}
      />
      <TextField
        label="Holds until (UTC)"
        hint="This moment not included; empty: until further notice"
        type="datetime-local"
        value={form.to}
        problem={problems['valid_to'] ?? null}
        onChange={(to) => onChange({ to })}
      />
    </Row>
  );
}

export function DeclarationFields(props: DeclarationFieldsProps) {
  const { form, onChange, problems, wantedRates } = props;
  return (
    <div className="flex flex-col gap-4">
      <ScopeFields {...props} />
      {form.kind !== 'multiplier' && <ModelFields {...props} />}
      {form.kind === 'override' && (
        <>
          <RateFields
            rates={form.rates}
            wanted={wantedRates}
            problems={problems}
            onChange={(rates) => onChange({ rates })}
          />
          <TermFields {...props} />
        </>
      )}
      {form.kind === 'multiplier' && (
        <TextField
          label="Factor"
          hint="0.85 is 15 % off the list prices. Your own prices are not multiplied."
          inputMode="decimal"
          maxLength={20}
          value={form.factor}
          problem={problems['factor'] ?? null}
          onChange={(factor) => onChange({ factor })}
        />
      )}
      <DateFields {...props} />
      <TextField
        label="Note"
        hint="Why: a contract, an announcement, a page"
        value={form.note}
        maxLength={500}
        problem={problems['note'] ?? null}
        onChange={(note) => onChange({ note })}
      />
    </div>
  );
}

/** The fields that a kind shows, as the API names them. */
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
