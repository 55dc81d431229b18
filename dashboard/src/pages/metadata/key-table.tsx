/** The keys of metadata with what is known about each. On a narrow screen rows are cards. */

import type { MetadataKey } from '../../api/metadata-keys.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Count, Share } from '../../components/amounts.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import type { WindowSearch } from '../../search/time-window.ts';
import { KeyAction, type KeyChange, KeyExamples, KeyName, KeyState } from './key-parts.tsx';

interface KeyTableProps {
  readonly keys: readonly MetadataKey[];
  readonly window: WindowSearch;
  readonly onChange: (change: KeyChange) => void;
}

function DistinctValues({ count }: { readonly count: number }) {
  return (
    <span className="whitespace-nowrap" title="Of the latest calls; there may be more">
      ≈ <Count value={count} unit="values" />
    </span>
  );
}

function WideNote() {
  return (
    <span
      className="block text-xs text-ink-faint"
      title="More than 200 values in an hour, or more than 50 with fewer than four calls each, or more than 200 keys. Filters are as quick as for other keys; sums say how far back they reach."
    >
      too many for sums by hour
    </span>
  );
}

function Values({ metadataKey: { distinct_values, average_length, is_wide } }: { readonly metadataKey: MetadataKey }) {
  return (
    <>
      <DistinctValues count={distinct_values} />
      {is_wide && <WideNote />}
      {average_length !== null && (
        <span className="num block text-xs text-ink-faint">{Math.round(average_length)} characters</span>
      )}
    </>
  );
}

function Seen({ metadataKey: { first_seen, last_seen } }: { readonly metadataKey: MetadataKey }) {
  return (
    <>
      <Timestamp at={last_seen} form="relative" />
      <span className="block text-xs whitespace-nowrap text-ink-faint">
        first <Timestamp at={first_seen} form="hour" />
      </span>
    </>
  );
}

function listColumns({ window, onChange }: KeyTableProps): readonly PlainColumn<MetadataKey>[] {
  return [
    { header: 'Key', render: (one) => <KeyName metadataKey={one} window={window} /> },
    { header: 'State', render: (one) => <KeyState metadataKey={one} /> },
    { header: 'Calls', align: 'right', render: ({ calls }) => <Count value={calls} unit="calls" /> },
    { header: 'Share of calls', align: 'right', render: ({ share }) => <Share value={share} /> },
    { header: 'Values and their length', align: 'right', render: (one) => <Values metadataKey={one} /> },
    { header: 'Most frequent', render: (one) => <KeyExamples metadataKey={one} window={window} /> },
    { header: 'Seen', render: (one) => <Seen metadataKey={one} /> },
    {
      header: 'Action',
      align: 'right',
      render: (one) => (
        <Allowed to="member">
          <KeyAction metadataKey={one} onChange={onChange} />
        </Allowed>
      ),
    },
  ];
}

export function KeyTable(props: KeyTableProps) {
  const { keys, window, onChange } = props;
  return (
    <PlainTable
      label="Metadata keys"
      columns={listColumns(props)}
      rows={keys}
      rowKey={({ key }) => key}
      renderCard={(one) => (
        <>
          <div className="flex items-start justify-between gap-3">
            <KeyName metadataKey={one} window={window} />
            <Allowed to="member">
              <KeyAction metadataKey={one} onChange={onChange} />
            </Allowed>
          </div>
          <KeyState metadataKey={one} />
          <p className="text-ink-soft">
            <Count value={one.calls} unit="calls" /> calls (<Share value={one.share} />
            ), <DistinctValues count={one.distinct_values} /> values, last{' '}
            <Timestamp at={one.last_seen} form="relative" />
          </p>
          {one.is_wide && <WideNote />}
          <KeyExamples metadataKey={one} window={window} />
        </>
      )}
    />
  );
}
