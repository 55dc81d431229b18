/** Before a declaration is removed: what recent calls would have cost without it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Declaration, previewChange, removeDeclaration } from '../../api/prices.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Skeleton } from '../../components/states.tsx';
import { nameDeclaration } from './declaration-cells.tsx';
import { PreviewResult } from './preview-result.tsx';

interface RemoveDialogProps {
  readonly subject: Declaration;
  readonly onClose: () => void;
}

export function RemoveDialog({ subject, onClose }: RemoveDialogProps) {
  const queries = useQueryClient();
  const { kind, id } = subject;
  const { data: preview, error } = useQuery({
    queryKey: ['prices', 'preview', 'remove', kind, id],
    queryFn: () => previewChange({ add: null, remove: { kind, id } }),
    placeholderData: () => undefined,
  });
  const removing = useMutation({
    mutationFn: () => removeDeclaration(kind, id),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['prices'] });
    },
  });
  const problem = removing.error ?? error;
  return (
    <Dialog title={`Remove the ${nameDeclaration(subject)}?`} isOpen onClose={onClose} size="large">
      <div className="flex flex-col gap-3">
        <p className="text-ink-soft">
          Calls from now on are priced without it. What was priced with it stays as it is. The history keeps it.
        </p>
        {preview === undefined && error === null && <Skeleton rows={2} label="Loading the preview" />}
        {preview !== undefined && <PreviewResult preview={preview} />}
        {problem !== null && (
          <p role="alert" className="text-bad">
            {problem.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" isBusy={removing.isPending} onClick={() => removing.mutate()}>
            Remove
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
