/** Before costs in the records are changed: how many, by how much, and why; the reason is kept with each of them. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type RepriceQuestion, startReprice } from '../../api/reprice.ts';
import { Count } from '../../components/amounts.tsx';
import { Button } from '../../components/buttons.tsx';
import { CostChange, CostDifference } from '../../components/cost-change.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/form-field.tsx';
import type { RepriceOutcome } from './reprice-outcome.ts';

interface ApplyDialogProps {
  /** What the dry run was asked. */
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!starting.isPending) starting.mutate();
  };
  const { changed, old_cost, new_cost, old_unpriced, new_unpriced } = outcome;
  return (
    <Dialog
      title={`Change the cost of ${changed.toLocaleString('en-US')} ${changed === 1 ? 'call' : 'calls'}?`}
      isOpen
      onClose={onClose}
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <p>
          By the dry run:{' '}
          <CostChange before={old_cost} after={new_cost} unpricedBefore={old_unpriced} unpricedAfter={new_unpriced} />,
          a difference of{' '}
          <strong className="font-semibold">
            <CostDifference before={old_cost} after={new_cost} />
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
        {starting.error !== null && (
          <p role="alert" className="text-bad">
            {starting.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" look="primary" disabled={reason.trim() === ''} isBusy={starting.isPending}>
            Apply to {changed.toLocaleString('en-US')} {changed === 1 ? 'call' : 'calls'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
