/** What differs between two states, folded away: before and after of each member. */
import { listChangedMembers } from '../pages/prices/describe-change.ts';

export function ChangedMembers({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const members = listChangedMembers(before, after);
  if (members.length === 0) return null;
  return (
    <details>
      <summary className="text-xs text-ink-soft">Before → after</summary>
      <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-xs">
        {members.map(({ name, before: old, after: fresh }) => (
          <div key={name} className="contents">
            <dt className="text-ink-faint">{name}</dt>
            <dd className="[overflow-wrap:anywhere]">
              {old ?? '—'} <span className="text-ink-faint">→</span> {fresh ?? '—'}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
