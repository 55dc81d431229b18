/** The parts of a key's row, for the table and for the cards of a narrow screen. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowDownToLine, ArrowUpFromLine, CircleAlert, Rows3, TriangleAlert, Zap } from 'lucide-react';
import { isJobActive, jobQuery } from '../../api/jobs.ts';
import {
  isKeyChanging,
  type MetadataKey,
  type MetadataKeyState,
  type MetadataKeyWarning,
} from '../../api/metadata-keys.ts';
import { Count } from '../../components/amounts.tsx';
import { Badge, type Tone } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { useJob } from '../../components/use-job.ts';
import { describeValue, groupFilters } from '../../search/dimensions.ts';
import type { WindowSearch } from '../../search/time-window.ts';

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

const LOOKS: Readonly<
  Record<MetadataKeyState, { readonly tone: Tone; readonly icon: typeof Zap; readonly about: string }>
> = {
  raw: { tone: 'neutral', icon: Rows3, about: 'Answers are read from the records' },
  promoting: { tone: 'accent', icon: ArrowUpFromLine, about: 'New calls are indexed, older ones are filled in' },
  promoted: { tone: 'good', icon: Zap, about: 'Answers come from an index and from sums by the hour' },
  demoting: { tone: 'accent', icon: ArrowDownToLine, about: 'The index is being removed' },
  failed: {
    tone: 'bad',
    icon: CircleAlert,
    about: 'The change ended with an error; answers are read from the records',
  },
};

export function KeyState({ metadataKey }: { readonly metadataKey: MetadataKey }) {
  const { state, job_id, promoted_at } = metadataKey;
  const job = useJob({
    id: job_id,
    changes: ['metadata-keys', 'costs', 'logs', 'runs'],
    isUnderWay: isKeyChanging(state),
  });
  const { tone, icon: Icon, about } = LOOKS[state];
  return (
    <div className="flex min-w-32 flex-col items-start gap-1">
      <Badge tone={tone} title={about}>
        <Icon size={13} aria-hidden /> {state}
      </Badge>
      {state === 'promoted' && promoted_at !== null && (
        <span className="text-xs text-ink-faint">
          <Timestamp at={promoted_at} form="relative" />
        </span>
      )}
      {job !== null && job.state !== 'done' && <JobProgress job={job} isTitleShown={false} />}
    </div>
  );
}

const WORDS: Readonly<Record<MetadataKeyWarning, string>> = {
  unique_per_call: 'Nearly every call has a value of its own: grouping says little, and a promotion takes much space.',
  looks_personal: 'Values look like personal data, e.g. e-mail addresses.',
  two_spellings: 'Came in more than one spelling; they count as one key.',
};

export function WarningList({ warnings }: { readonly warnings: readonly MetadataKeyWarning[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="flex flex-col gap-0.5 text-xs whitespace-normal text-warn">
      {warnings.map((warning) => (
        <li key={warning} className="flex items-start gap-1">
          <TriangleAlert size={13} aria-hidden className="mt-0.5 shrink-0" />
          {/* A newer server may warn of something else. */}
          {WORDS[warning] ?? warning}
        </li>
      ))}
    </ul>
  );
}
