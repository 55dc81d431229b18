/** Names and values in two columns. */
import type { ReactNode } from 'react';

export interface KeyValue {
  readonly name: string;
  readonly value: ReactNode;
}

export function KeyValueList({ items }: { readonly items: readonly KeyValue[] }) {
  return (
    <dl className="grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {items.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
