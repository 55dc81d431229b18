/** What so many tokens of a model would cost, line by line, by the code that prices real calls. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type PricedModel, type Quote, quoteCost } from '../../api/prices.ts';
import { LayerBadge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { TextField } from '../../components/form-field.tsx';
import { PlainTable } from '../../components/plain-table.tsx';
import { Problem } from '../../components/states.tsx';
import { describeClass } from '../../messages/cost-breakdown.ts';
import { describePer } from './price-words.ts';
import { readTokenCounts } from './read-token-counts.ts';

const FIELDS = [
  { name: 'input', label: 'Uncached input tokens' },
  { name: 'cache_read', label: 'Read from cache' },
  { name: 'output', label: 'Output tokens' },
] as const;

function QuoteResult({ quote }: { readonly quote: Quote }) {
  const { total_cost, known_cost, cost_lines, unpriced, notes } = quote;
  return (
    <div role="status" className="flex flex-col gap-2">
      <p>
        <strong className="num text-base">{total_cost === null ? `≥ $${known_cost}` : `$${total_cost}`}</strong>
      </p>
      {cost_lines.length > 0 && (
        <PlainTable
          label="Lines of the cost"
          rows={cost_lines}
          rowKey={(line) => String(cost_lines.indexOf(line))}
          columns={[
            { header: 'Class', render: (line) => describeClass(line.class) },
            {
              header: 'Quantity',
              align: 'right',
              render: ({ quantity }) => <span className="num">{quantity.toLocaleString('en-US')}</span>,
            },
            {
              header: 'Rate',
              align: 'right',
              render: ({ rate, per, class: unit }) => (
                <span className="num">
                  ${rate} / {describePer(unit, per)}
                </span>
              ),
            },
            {
              header: 'Factor',
              align: 'right',
              render: ({ multiplier }) => <span className="num">{multiplier === '1' ? '' : `× ${multiplier}`}</span>,
            },
            { header: 'Amount', align: 'right', render: ({ amount }) => <span className="num">${amount}</span> },
            { header: 'Layer', render: ({ layer }) => <LayerBadge layer={layer} /> },
          ]}
        />
      )}
      {unpriced.length > 0 && (
        <ul className="text-warn">
          {unpriced.map(({ class: name, quantity, reason }) => (
            <li key={name}>
              {describeClass(name)}, {quantity.toLocaleString('en-US')}: {reason}
            </li>
          ))}
        </ul>
      )}
      {notes.map((note) => (
        <p key={note} className="text-xs text-ink-faint">
          {note}
        </p>
      ))}
    </div>
  );
}

export function CostCalculator({ asked }: { readonly asked: PricedModel }) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({ input: '1000', output: '500' });
  const quoting = useMutation({ mutationFn: quoteCost });
  const { counts, problems } = readTokenCounts(typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { provider, model, provider_alias, at } = asked;
    quoting.mutate({ provider, model, provider_alias, requested_at: at, classes: counts });
  };
  return (
    <section aria-label="What would it cost" className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-3">
      <h2 className="text-sm font-semibold">What would it cost?</h2>
      <form onSubmit={submit} className="grid items-start gap-3 sm:grid-cols-[repeat(3,minmax(0,12rem))_auto]">
        {FIELDS.map(({ name, label }) => (
          <TextField
            key={name}
            label={label}
            inputMode="numeric"
            value={typed[name] ?? ''}
            problem={problems[name] ?? null}
            onChange={(text) => setTyped({ ...typed, [name]: text })}
          />
        ))}
        <Button
          type="submit"
          className="justify-self-start sm:mt-5"
          disabled={Object.keys(problems).length > 0}
          isBusy={quoting.isPending}
        >
          Calculate
        </Button>
      </form>
      <Problem message={quoting.error?.message} />
      {quoting.data !== undefined && <QuoteResult quote={quoting.data} />}
    </section>
  );
}
