/** Before a declaration is removed: what recent calls would have cost without it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Declaration, previewChange, removeDeclaration } from '../../api/prices.ts';
import { ActionDialog } from '../../components/dialog.tsx';
import { Skeleton } from '../../components/states.tsx';
import { nameDeclaration } from './declaration-cells.tsx';
import { PreviewResult } from './preview-result.tsx';

export function RemoveDialog({ subject, onClose }: { readonly subject: Declaration; readonly onClose: () => void }) {
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
  return (
    <ActionDialog
      title={`Remove the ${nameDeclaration(subject)}?`}
      onClose={onClose}
      action={{ ...removing, error: removing.error ?? error }}
      actionLabel="Remove"
      cancelLabel="Keep it"
      look="danger"
      size="large"
    >
      <p className="text-ink-soft">
        Calls from now on are priced without it. What was priced with it stays as it is. The history keeps it.
      </p>
      {preview === undefined && error === null && <Skeleton rows={2} label="Loading the preview" />}
      {preview !== undefined && <PreviewResult preview={preview} />}
    </ActionDialog>
  );
}
