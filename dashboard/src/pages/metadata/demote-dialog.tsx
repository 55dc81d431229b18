/** Before a key is demoted: what is lost (speed) and what is not (anything that clients sent). */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { demoteKey, type MetadataKey } from '../../api/metadata-keys.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';

interface DemoteDialogProps {
  readonly metadataKey: MetadataKey;
  readonly onClose: () => void;
}

export function DemoteDialog({ metadataKey, onClose }: DemoteDialogProps) {
  const queries = useQueryClient();
  const start = useMutation({
    mutationFn: () => demoteKey(metadataKey.key),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['metadata-keys'] }),
        queries.invalidateQueries({ queryKey: ['jobs'] }),
      ]);
      onClose();
    },
  });
  return (
    <Dialog title={`Demote ${metadataKey.key}`} isOpen onClose={onClose}>
      <div className="flex flex-col gap-3">
        <p className="text-ink-soft">
          The index and the sums of this key are taken away. Filters and costs by it still answer, from the records, and
          slower. Nothing that clients sent is lost, and it can be promoted again.
        </p>
        {start.error !== null && (
          <p role="alert" className="text-bad">
            {start.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={start.isPending} onClick={() => start.mutate()}>
            Demote key
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
