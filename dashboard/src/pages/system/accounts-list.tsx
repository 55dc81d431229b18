/** What became of every call, as an equation in rows: the first number is the sum of the others. */
import type { AccountsBody } from '../../../../src/admin/accounts-body.ts';
import { Count } from '../../components/amounts.tsx';
import { Badge } from '../../components/badges.tsx';
import { type KeyValue, KeyValueList } from '../../components/key-value-list.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const REASONS: Readonly<Record<string, string>> = {
  older_release: 'written by an older release',
  tally_lost: 'count lost',
};

function Bad({ calls }: { readonly calls: number }) {
  return (
    <Badge tone={calls === 0 ? 'good' : 'bad'}>
      <Count value={calls} />
    </Badge>
  );
}

/** By reason, with how often. */
function describeUnaccounted(unaccounted: AccountsBody['unaccounted']): string {
  const byReason = Map.groupBy(unaccounted, ({ reason }) => reason);
  return [...byReason].map(([reason, list]) => `${list.length} ${REASONS[reason] ?? reason}`).join(', ');
}

export function AccountsList({ accounts }: { readonly accounts: AccountsBody }) {
  const items: readonly KeyValue[] = [
    { name: 'Accepted', value: <Count value={accounts.accepted} /> },
    { name: '= stored', value: <Count value={accounts.stored} /> },
    {
      name: '+ in the spool',
      value: (
        <>
          {!accounts.is_whole && 'at least '}
          <Count value={accounts.spooled} />
          {accounts.spooled > 0 && accounts.oldest_waiting_at !== null && (
            <>
              , since <Timestamp at={accounts.oldest_waiting_at} form="relative" />
            </>
          )}
        </>
      ),
    },
    { name: '+ in flight', value: <Count value={accounts.in_flight} /> },
    { name: '+ set aside', value: <Bad calls={accounts.set_aside} /> },
    { name: '+ lost', value: <Bad calls={accounts.lost} /> },
    { name: 'Not found', value: <Bad calls={accounts.difference} /> },
  ];
  const former: readonly KeyValue[] =
    accounts.unaccounted_total === 0
      ? []
      : [{ name: 'Former processes not counted', value: describeUnaccounted(accounts.unaccounted) }];
  return <KeyValueList items={[...items, ...former]} />;
}
