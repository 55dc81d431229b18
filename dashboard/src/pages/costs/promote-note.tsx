/** Above costs by a metadata key that is not promoted: why it takes longer, and the way to change it. */
import { useState } from 'react';
import { isKeyChanging, type MetadataKey } from '../../api/metadata-keys.ts';
import { Button } from '../../components/buttons.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { useJob } from '../../components/use-job.ts';
import { PromoteDialog } from '../metadata/promote-dialog.tsx';

export function PromoteNote({ metadataKey }: { readonly metadataKey: MetadataKey }) {
  const [isOpen, setOpen] = useState(false);
  const isUnderWay = isKeyChanging(metadataKey.state);
  const job = useJob({ id: metadataKey.job_id, changes: ['metadata-keys', 'costs'], isUnderWay });
  return (
    <div
      role="note"
      className="mx-4 mb-3 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-raised px-3 py-1.5"
    >
      <span className="min-w-0 break-words">
        <strong className="font-medium">{metadataKey.key}</strong>: answers come from the records
        {isUnderWay ? '.' : '; promote this key to make it instant.'}
      </span>
      {isUnderWay && job !== null && <JobProgress job={job} />}
      {!isUnderWay && <Button onClick={() => setOpen(true)}>Promote</Button>}
      {isOpen && <PromoteDialog metadataKey={metadataKey} onClose={() => setOpen(false)} />}
    </div>
  );
}
