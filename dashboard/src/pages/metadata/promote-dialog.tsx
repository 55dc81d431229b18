/** Before a key is promoted: what that changes, how much there is to do, and under which spelling. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type MetadataKey, promoteKey } from '../../api/metadata-keys.ts';
import { Count } from '../../components/amounts.tsx';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { listSpellings } from './spellings.ts';
import { WarningList } from './warning-list.tsx';

interface PromoteDialogProps {
  readonly metadataKey: MetadataKey;
  readonly onClose: () => void;
}

export function PromoteDialog({ metadataKey, onClose }: PromoteDialogProps) {
  const queries = useQueryClient();
  const spellings = listSpellings(metadataKey);
  const [display, setDisplay] = useState(metadataKey.key);
  const start = useMutation({
    mutationFn: () => promoteKey(metadataKey.key, display),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['metadata-keys'] }),
        queries.invalidateQueries({ queryKey: ['jobs'] }),
      ]);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <Dialog title={`Promote ${metadataKey.key}`} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <ul className="list-disc space-y-1 pl-5 text-ink-soft">
          <li>Filters and costs by this key answer from an index and from sums by the hour.</li>
          <li>New calls are indexed from the first moment on.</li>
          <li>
            Older calls are filled in meanwhile: those of the time shown (
            <Count value={metadataKey.calls} unit="calls" /> calls) and all before. This can be cancelled and resumed,
            and goes on after a restart.
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
        {start.error !== null && (
          <p role="alert" className="text-bad">
            {start.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" look="primary" disabled={start.isPending}>
            Start
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
