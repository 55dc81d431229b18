/** Before costs in the records are changed: how many, by how much, and why; the reason is kept with each of them. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type RepriceQuestion, startReprice } from '../../api/reprice.ts';
import { Count } from '../../components/amounts.tsx';
import { CostChange, CostDifference } from '../../components/cost-change.tsx';
import { ActionDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/form-field.tsx';
import type { RepriceOutcome } from './reprice-job.ts';

interface ApplyDialogProps {
  readonly question: Omit<RepriceQuestion, 'reason' | 'dry_run'>;
  readonly outcome: RepriceOutcome;
  readonly onStarted: (jobId: number) => void;
  readonly onClose: () => void;
}

export function ApplyDialog({ question, outcome, onStarted, onClose }: ApplyDialogProps) {
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const starting = useMutation({
    mutationFn: () => startReprice({ ...question, reason: reason.trim(), dry_run: false }),
    onSuccess: async ({ job_id }) => {
      onStarted(job_id);
      await queries.invalidateQueries({ queryKey: ['jobs'] });
    },
  });
  const { changed, old_unpriced, new_unpriced } = outcome;
  const calls = `${changed.toLocaleString('en-US')} ${changed === 1 ? 'call' : 'calls'}`;
  return (
    <ActionDialog
      title={`Change the cost of ${calls}?`}
      onClose={onClose}
      action={starting}
      actionLabel={`Apply to ${calls}`}
      cancelLabel="Not now"
      look="primary"
      isReady={reason.trim() !== ''}
    >
      <p>
        By the dry run: <CostChange of={outcome} />, a difference of{' '}
        <strong className="font-semibold">
          <CostDifference of={outcome} />
        </strong>
        {old_unpriced !== new_unpriced && (
          <>
            ; without a price <Count value={old_unpriced} unit="calls" /> before,{' '}
            <Count value={new_unpriced} unit="calls" /> after
          </>
        )}
        .
      </p>
      <p className="text-ink-soft">
        Runs, steps and costs by the hour follow in the same transactions. The cost before, both versions of the price
        book and the reason are kept with each call. It can be cancelled and resumed.
      </p>
      <TextField
        label="Reason"
        hint="Stands in the history of every call that changes"
        value={reason}
        maxLength={500}
        isRequired
        onChange={setReason}
      />
    </ActionDialog>
  );
}
