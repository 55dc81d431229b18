/** Of which minute, key and model the lost calls were, the latest first; nothing when none is known. */
import type { AccountsBody } from '../../../../src/admin/accounts-body.ts';
import { ExactCount } from '../../components/amounts.tsx';
import { PlainTable } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const SHOWN = 50;

function sumTokens(usage: AccountsBody['losses'][number]['usage']): number {
  return Object.values(usage).reduce((sum, tokens) => sum + tokens, 0);
}

export function LossesTable({ losses }: { readonly losses: AccountsBody['losses'] }) {
  if (losses.length === 0) return null;
  return (
    <>
      <h2 className="text-sm font-semibold">Lost</h2>
      <p className="text-ink-soft">
        Calls that were answered, but whose records could not be kept. They are in no cost.
        {losses.length > SHOWN && ` The latest ${SHOWN} of ${losses.length} lines.`}
      </p>
      <PlainTable
        label="Lost"
        rows={losses.slice(0, SHOWN)}
        rowKey={({ minute, account_id, key_id, provider, model }) =>
          [minute, account_id, key_id, provider, model].join(' ')
        }
        columns={[
          { header: 'Minute', render: ({ minute }) => <Timestamp at={minute} /> },
          { header: 'Key', render: ({ key_id }) => key_id ?? '—' },
          { header: 'Provider', render: ({ provider }) => provider ?? '—' },
          { header: 'Model', render: ({ model }) => <span className="whitespace-nowrap">{model ?? '—'}</span> },
          { header: 'Calls', align: 'right', render: ({ calls }) => <ExactCount value={calls} /> },
          { header: 'Tokens', align: 'right', render: ({ usage }) => <ExactCount value={sumTokens(usage)} /> },
        ]}
      />
    </>
  );
}
