/** Lets a paused run or key go on. Nothing for those who may not. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { BRAKES_KEY, type BrakeHit, resumeHit } from '../../api/brakes.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { Problem } from '../../components/states.tsx';

export function ResumeButton({ hit }: { readonly hit: BrakeHit }) {
  const queries = useQueryClient();
  const action = useMutation({
    mutationFn: () => resumeHit(hit.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: BRAKES_KEY }),
  });
  return (
    <Allowed to="member">
      <Button look="primary" isBusy={action.isPending} onClick={() => action.mutate()}>
        <Play size={14} aria-hidden /> Resume
      </Button>
      <Problem message={action.error?.message} />
    </Allowed>
  );
}
