/** Looks up one model: the rates and rules in force at a time, where each is from, and what so many tokens would cost. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { type PricedModel, type PriceRow, type PriceRows, type Provider, priceRowsQuery } from '../../api/prices.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { SelectField, TextField } from '../../components/form-field.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { readTime } from '../../search/read-time.ts';
import { CostCalculator } from './cost-calculator.tsx';
import { PriceRowTable, PriceRuleTable } from './price-row-table.tsx';
import { CLASS_CHOICES, PROVIDER_CHOICES, readProvider, START_PROVIDER } from './price-words.ts';
import type { PricesSearch } from './prices-search.ts';

interface LookupTabProps {
  readonly search: PricesSearch;
  readonly onChange: (change: Partial<PricesSearch>) => void;
  readonly onAdd: (start: { readonly provider: string; readonly model: string }) => void;
}

function readAt(text: string | undefined): string | null {
  const atMs = text === undefined ? null : readTime(text, 'UTC');
  return atMs === null ? null : new Date(atMs).toISOString();
}

interface LookupText {
  readonly provider: Provider;
  readonly model: string;
  readonly alias: string;
  /** UTC, to the minute; empty: now. */
  readonly at: string;
}

function readAsked({ provider, model = '', alias = '', at }: PricesSearch): LookupText {
  return { provider: readProvider(provider) ?? START_PROVIDER, model, alias, at: readAt(at)?.slice(0, 16) ?? '' };
}

function LookupForm({ search, onChange }: Omit<LookupTabProps, 'onAdd'>) {
  const asked = readAsked(search);
  const [typed, setTyped] = useState(asked);
  // Back, and links from elsewhere, change what is asked; the field that has the focus keeps it.
  const askedText = JSON.stringify(asked);
  useEffect(() => setTyped(JSON.parse(askedText)), [askedText]);
  const change = (part: Partial<LookupText>) => setTyped({ ...typed, ...part });
  const text = (name: 'model' | 'alias' | 'at') => ({
    value: typed[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  const model = typed.model.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange({
      provider: typed.provider,
      model,
      alias: typed.alias.trim() || undefined,
      at: readAt(typed.at) ?? undefined,
    });
  };
  return (
    <form
      onSubmit={submit}
      className="grid items-start gap-3 sm:grid-cols-2 lg:grid-cols-[10rem_minmax(12rem,1fr)_12rem_14rem_auto]"
    >
      <SelectField
        label="Provider"
        value={typed.provider}
        choices={PROVIDER_CHOICES}
        onChange={(chosen) => change({ provider: chosen })}
      />
      <TextField label="Model id" placeholder="gpt-5.4-mini" maxLength={1_000} {...text('model')} />
      <TextField label="Provider alias" hint="If calls name one" maxLength={200} {...text('alias')} />
      <TextField label="At (UTC)" hint="Empty: now" type="datetime-local" {...text('at')} />
      <Button type="submit" look="primary" disabled={model === ''} className="lg:mt-5">
        Look up
      </Button>
    </form>
  );
}

/** Classes in the order of the vocabulary, and rates of one class in the order of the API. */
function sortByClass(rows: readonly PriceRow[]): readonly PriceRow[] {
  const rank = ({ unit }: PriceRow) => CLASS_CHOICES.indexOf(unit);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

function Found({
  asked,
  found,
  onAdd,
}: {
  readonly asked: PricedModel;
  readonly found: PriceRows;
  readonly onAdd: () => void;
}) {
  const inForce = sortByClass(found.rows.filter((row) => row.in_force));
  const others = found.rows.filter((row) => !row.in_force);
  const rules = found.rules.filter((rule) => rule.in_force);
  if (found.rows.length === 0)
    return (
      <EmptyState
        title="The price book does not know this model"
        actions={
          <Allowed to="member">
            <Button look="primary" onClick={onAdd}>
              Add a price
            </Button>
          </Allowed>
        }
      >
        Ids match by declared rules only; there is no guess by a similar name.
      </EmptyState>
    );
  return (
    <div className="flex flex-col gap-4">
      <p className="[overflow-wrap:anywhere]">
        <strong className="font-semibold">{asked.model}</strong>
        {found.billing_model !== asked.model && <> is billed as {found.billing_model}</>}
        <span className="text-ink-soft"> · prices as of {asked.at === null ? 'now' : <Timestamp at={asked.at} />}</span>
      </p>
      <section aria-label="In force" className="flex flex-col gap-2">
        <h2 className="text-sm font-semibold">Rates in force</h2>
        {inForce.length === 0 ? (
          <p className="text-ink-soft">None at that time.</p>
        ) : (
          <PriceRowTable label="Rates in force" rows={inForce} />
        )}
      </section>
      {rules.length > 0 && (
        <section aria-label="Rules in force" className="flex flex-col gap-2">
          <h2 className="text-sm font-semibold">Rules on top of them</h2>
          <PriceRuleTable rules={rules} />
        </section>
      )}
      <CostCalculator asked={asked} />
      {others.length > 0 && (
        <details>
          <summary className="text-ink-soft">
            {others.length} {others.length === 1 ? 'rate' : 'rates'} of other times, or outranked
          </summary>
          <div className="mt-2">
            <PriceRowTable label="Rates not in force" rows={others} />
          </div>
        </details>
      )}
    </div>
  );
}

export function LookupTab({ search, onChange, onAdd }: LookupTabProps) {
  const { model = '' } = search;
  const provider = readProvider(search.provider) ?? START_PROVIDER;
  const asked: PricedModel = { provider, model, provider_alias: search.alias ?? null, at: readAt(search.at) };
  const { data, error, refetch } = useQuery({ ...priceRowsQuery(asked), enabled: model !== '' });
  return (
    <div className="flex flex-col gap-4 p-4">
      <LookupForm search={search} onChange={onChange} />
      {model === '' && (
        <EmptyState title="Which model?">Its rates, their sources and what a call would cost.</EmptyState>
      )}
      {model !== '' && data === undefined && (
        <Pending query={{ error, refetch }} what="the prices of this model" rows={4} />
      )}
      {model !== '' && data !== undefined && (
        <Found asked={asked} found={data} onAdd={() => onAdd({ provider, model })} />
      )}
    </div>
  );
}
