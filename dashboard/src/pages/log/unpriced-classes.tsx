/** The classes of a call's usage that have no price, and the way to give them one. */
import { Link } from '@tanstack/react-router';
import type { LogDetail } from '../../api/logs.ts';
import { buttonClass } from '../../components/buttons.tsx';
import { type CostBreakdown, describeClass } from '../../messages/cost-breakdown.ts';

interface UnpricedClassesProps {
  readonly log: LogDetail;
  readonly unpriced: CostBreakdown['unpriced'];
}

export function UnpricedClasses({ log, unpriced }: UnpricedClassesProps) {
  const model = log.billing_model ?? log.model ?? log.model_requested;
  return (
    <section aria-label="Without a price" className="rounded-md border border-warn/60 bg-warn-soft p-3">
      <h3 className="font-medium text-warn">Without a price</h3>
      <ul className="mt-1">
        {unpriced.map(({ class: name, quantity }) => (
          <li key={name}>
            {describeClass(name)}: <span className="num">{quantity.toLocaleString('en-US')}</span>
          </li>
        ))}
      </ul>
      <p className="mt-1 text-ink-soft [overflow-wrap:anywhere]">
        The price book has no rate for {model ?? 'this model'} here. What is not known is never counted as zero.
      </p>
      {model !== null && (
        <Link
          to="/prices"
          search={{
            tab: 'own',
            add: 'override',
            provider: log.provider ?? undefined,
            model,
            classes: [...new Set(unpriced.map((one) => one.class))].join(','),
          }}
          className={`${buttonClass()} mt-2`}
        >
          Add a price
        </Link>
      )}
    </section>
  );
}
