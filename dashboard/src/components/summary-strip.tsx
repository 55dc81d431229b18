/** A row of figures above a list: each a name and a value, in the order given. */
import type { ReactNode } from 'react';

export interface SummaryFigure {
  readonly name: string;
  readonly value: ReactNode;
  readonly detail?: ReactNode;
}

export function SummaryStrip({
  figures,
  label,
}: {
  readonly figures: readonly SummaryFigure[];
  readonly label: string;
}) {
  return (
    <dl aria-label={label} className="flex flex-wrap gap-x-8 gap-y-3 px-4 pb-3">
      {figures.map(({ name, value, detail }) => (
        <div key={name} className="min-w-20">
          <dt className="text-xs text-ink-faint">{name}</dt>
          <dd className="text-base font-semibold">
            {value}
            {detail !== undefined && <span className="ml-1.5 text-xs font-normal text-ink-faint">{detail}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
