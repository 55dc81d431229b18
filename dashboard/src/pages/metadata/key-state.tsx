/** Whether a key is promoted, and the job that changes it. */
import { ArrowDownToLine, ArrowUpFromLine, CircleAlert, Rows3, Zap } from 'lucide-react';
import { isKeyChanging, type MetadataKey, type MetadataKeyState } from '../../api/metadata-keys.ts';
import { Badge, type Tone } from '../../components/badges.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { useJob } from '../../components/use-job.ts';

const LOOKS: Readonly<
  Record<MetadataKeyState, { readonly tone: Tone; readonly icon: typeof Zap; readonly about: string }>
> = {
  raw: { tone: 'neutral', icon: Rows3, about: 'Answers are read from the records' },
  promoting: { tone: 'accent', icon: ArrowUpFromLine, about: 'New calls are indexed, older ones are filled in' },
  promoted: { tone: 'good', icon: Zap, about: 'Answers come from an index and from sums by the hour' },
  demoting: { tone: 'accent', icon: ArrowDownToLine, about: 'The index is being taken away' },
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
