/** Before a key is promoted or demoted: what that changes, how much there is to do, and what is not lost. */

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { demoteKey, type MetadataKey, promoteKey } from '../../api/metadata-keys.ts';
import { Count } from '../../components/amounts.tsx';
import { ActionDialog } from '../../components/dialog.tsx';
import { WarningList } from './key-parts.tsx';
import { listSpellings } from './spellings.ts';

interface KeyDialogProps {
  readonly metadataKey: MetadataKey;
  readonly onClose: () => void;
}

/** Starts the job; the dialog closes when it is known to all that show it. */
function useKeyChange(start: () => Promise<unknown>, onClose: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: start,
    onSuccess: async () => {
      await Promise.all(['metadata-keys', 'jobs'].map((name) => queries.invalidateQueries({ queryKey: [name] })));
      onClose();
    },
  });
}

export function PromoteDialog({ metadataKey, onClose }: KeyDialogProps) {
  const spellings = listSpellings(metadataKey);
  const [display, setDisplay] = useState(metadataKey.key);
  const start = useKeyChange(() => promoteKey(metadataKey.key, display), onClose);
  return (
    <ActionDialog
      title={`Promote ${metadataKey.key}`}
      onClose={onClose}
      action={start}
      actionLabel="Start"
      cancelLabel="Not now"
      look="primary"
    >
      <ul className="list-disc space-y-1 pl-5 text-ink-soft">
        <li>
          Costs by this key, also by model and provider, answer from sums by the hour. It becomes a facet of calls and
          runs.
        </li>
        <li>New calls are indexed from the first moment on.</li>
        <li>
          Older calls are filled in meanwhile: those of the time shown (
          <Count value={metadataKey.calls} unit="calls" /> calls) and all before. This can be cancelled and resumed, and
          goes on after a restart.
        </li>
        <li>Answers stay complete meanwhile. What clients sent is kept as it came.</li>
      </ul>
      <WarningList warnings={metadataKey.warnings} />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-xs font-medium text-ink-faint">Shown as</legend>
        {spellings.map(({ spelling, calls }) => (
          <label key={spelling} className="flex items-center gap-2">
            <input
              type="radio"
              name="spelling"
              value={spelling}
              checked={spelling === display}
              onChange={() => setDisplay(spelling)}
            />
            <span className="min-w-0 font-mono break-all">{spelling}</span>
            {calls > 0 && (
              <span className="text-xs text-ink-faint">
                <Count value={calls} unit="calls" /> calls
              </span>
            )}
          </label>
        ))}
      </fieldset>
    </ActionDialog>
  );
}

export function DemoteDialog({ metadataKey, onClose }: KeyDialogProps) {
  const start = useKeyChange(() => demoteKey(metadataKey.key), onClose);
  return (
    <ActionDialog
      title={`Demote ${metadataKey.key}`}
      onClose={onClose}
      action={start}
      actionLabel="Demote key"
      cancelLabel="Keep it"
      look="danger"
    >
      <p className="text-ink-soft">
        The sums of this key are removed. Filters by it still answer from an index; costs by it answer from the records,
        and slower. Nothing that clients sent is lost, and it can be promoted again.
      </p>
    </ActionDialog>
  );
}
