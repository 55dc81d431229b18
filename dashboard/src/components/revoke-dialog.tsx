/** Asks before something is revoked, and says what that does. */
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ActionDialog } from './dialog.tsx';

interface RevokeDialogProps {
  readonly name: string;
  /** As in "Revoke share link". */
  readonly what: string;
  readonly revoke: () => Promise<unknown>;
  /** The list in which it stands. */
  readonly queryKey: QueryKey;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function RevokeDialog({ name, what, revoke, queryKey, onClose, children }: RevokeDialogProps) {
  const queries = useQueryClient();
  const revoking = useMutation({
    mutationFn: revoke,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey });
      onClose();
    },
  });
  return (
    <ActionDialog
      title={`Revoke ${name}?`}
      onClose={onClose}
      action={revoking}
      actionLabel={`Revoke ${what}`}
      cancelLabel="Keep it"
      look="danger"
    >
      {children}
    </ActionDialog>
  );
}
