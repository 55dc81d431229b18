/** The parts of a key's row, for the table and for the cards of a narrow screen. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isJobActive, jobQuery } from '../../api/jobs.ts';
import { isKeyChanging, type MetadataKey, type MetadataKeyState } from '../../api/metadata-keys.ts';
import { Count } from '../../components/amounts.tsx';
import { Button } from '../../components/buttons.tsx';
import { describeValue, groupFilters } from '../../search/dimensions.ts';
import type { WindowSearch } from '../../search/time-window.ts';
import { WarningList } from './warning-list.tsx';

export function KeyName({ metadataKey, window }: { readonly metadataKey: MetadataKey; readonly window: WindowSearch }) {
  const { key, spellings, warnings } = metadataKey;
  return (
    <div className="flex max-w-80 min-w-40 lg:min-w-48 flex-col gap-0.5">
      <Link
        to="/costs"
        search={{ ...window, by: `metadata.${key}` }}
        title={`Costs by ${key}`}
        className="font-medium break-all underline-offset-4 hover:underline"
      >
        {key}
      </Link>
      {spellings.length > 1 && (
        <span className="text-xs break-all text-ink-faint">
          {spellings.map(({ spelling, calls }, index) => (
            <span key={spelling}>
              {index > 0 && ', '}
              {spelling} <Count value={calls} unit="calls" />
            </span>
          ))}
        </span>
      )}
      <WarningList warnings={warnings} />
    </div>
  );
}

export function KeyExamples({
  metadataKey,
  window,
}: {
  readonly metadataKey: MetadataKey;
  readonly window: WindowSearch;
}) {
  const field = `metadata.${metadataKey.key}`;
  return (
    <ul className="flex max-w-96 flex-wrap gap-1">
      {metadataKey.examples.map(({ value, calls }) => (
        <li key={value} className="max-w-full">
          <Link
            to="/logs"
            search={{ ...window, f: [...groupFilters([field], [value])] }}
            title={`Calls with ${metadataKey.key} = ${value}`}
            className="inline-flex max-w-full items-center gap-1.5 rounded bg-raised px-1.5 py-0.5 text-xs hover:bg-accent-soft hover:text-accent"
          >
            <span className="max-w-48 truncate">{describeValue(field, value, new Map())}</span>
            <span className="text-ink-soft">
              <Count value={calls} unit="calls" />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export interface KeyChange {
  readonly what: 'promote' | 'demote';
  readonly subject: MetadataKey;
}

/** What can be asked for. A change that was cancelled or failed may go on or be taken back; one under way may not. */
function listChanges(state: MetadataKeyState, isStopped: boolean): readonly KeyChange['what'][] {
  switch (state) {
    case 'raw':
    case 'demoting':
      return ['promote'];
    case 'promoted':
      return ['demote'];
    case 'promoting':
      return isStopped ? ['demote'] : [];
    case 'failed':
      return ['promote', 'demote'];
  }
}

const CHANGE_WORDS = { promote: 'Promote', demote: 'Demote' } as const;

interface KeyActionProps {
  readonly metadataKey: MetadataKey;
  readonly onChange: (change: KeyChange) => void;
}

export function KeyAction({ metadataKey, onChange }: KeyActionProps) {
  const { key, state, job_id: jobId } = metadataKey;
  const { data: job } = useQuery({ ...jobQuery(jobId ?? 0), enabled: jobId !== null && isKeyChanging(state) });
  const isStopped = job !== undefined && job.id === jobId && !isJobActive(job.state);
  return (
    <span className="inline-flex gap-1">
      {listChanges(state, isStopped).map((what) => (
        <Button
          key={what}
          onClick={() => onChange({ what, subject: metadataKey })}
          aria-label={`${CHANGE_WORDS[what]} ${key}`}
        >
          {CHANGE_WORDS[what]}
        </Button>
      ))}
    </span>
  );
}
