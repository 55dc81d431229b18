/** Makes an alert, with a preview of how often a question would have fired. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ALERTS_KEY, type Alert, createAlert, destinationsQuery, previewQuestion } from '../../api/alerts.ts';
import { useSession } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { ActionDialog } from '../../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../components/form-field.tsx';
import { Problem } from '../../components/states.tsx';

type Choice<T> = { readonly value: T; readonly label: string };

const KINDS: readonly Choice<Alert['kind']>[] = [
  { value: 'brake', label: 'A brake hits a run or key' },
  { value: 'budget', label: 'A budget is nearly spent' },
  { value: 'question', label: 'A sum over the log reaches a threshold' },
  { value: 'unpriced', label: 'A model has no price' },
  { value: 'jobs', label: 'A job fails' },
  { value: 'nodes', label: 'A node is silent, or records wait' },
];
const MEASURES: readonly Choice<string>[] = [
  { value: 'cost', label: 'Cost in dollars' },
  { value: 'calls', label: 'Calls' },
  { value: 'errors', label: 'Failed calls' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'unpriced_calls', label: 'Calls without a price' },
];
const WINDOWS: readonly Choice<string>[] = [
  { value: '600', label: '10 minutes' },
  { value: '3600', label: 'An hour' },
  { value: '86400', label: 'A day' },
  { value: '604800', label: 'A week' },
];

export function CreateAlertDialog({ onClose }: { readonly onClose: () => void }) {
  const session = useSession();
  const { data: destinations } = useQuery(destinationsQuery);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Alert['kind']>('brake');
  const [told, setTold] = useState<readonly number[]>([]);
  const [percent, setPercent] = useState('80');
  const [filters, setFilters] = useState('');
  const [measure, setMeasure] = useState('cost');
  const [seconds, setSeconds] = useState('3600');
  const [threshold, setThreshold] = useState('');
  const queries = useQueryClient();
  const question = {
    filters: filters
      .split(/\s+/)
      .map((one) => one.trim())
      .filter((one) => one !== ''),
    measure,
    window_seconds: Number(seconds),
    threshold: threshold.trim(),
  };
  const settings = kind === 'question' ? question : kind === 'budget' ? { percent: Number(percent) } : {};
  const action = useMutation({
    mutationFn: () => createAlert({ name: name.trim(), kind, settings, destinations: told }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ALERTS_KEY });
      onClose();
    },
  });
  const preview = useMutation({ mutationFn: () => previewQuestion(question) });
  const isAsked = kind !== 'question' || question.threshold !== '';
  return (
    <ActionDialog
      title="Make an alert"
      onClose={onClose}
      action={action}
      cancelLabel="Cancel"
      actionLabel="Make alert"
      look="primary"
      isReady={name.trim() !== '' && isAsked}
    >
      <TextField label="Name" value={name} maxLength={100} placeholder="Something runs away" onChange={setName} />
      <SelectField
        label="When"
        value={kind}
        choices={KINDS.filter(({ value }) => value !== 'nodes' || session.kind === 'operator')}
        onChange={setKind}
      />
      {kind === 'budget' && (
        <TextField label="Percent of it" value={percent} inputMode="numeric" onChange={setPercent} />
      )}
      {kind === 'question' && (
        <>
          <SelectField label="Sum of" value={measure} choices={MEASURES} onChange={setMeasure} />
          <TextField
            label="Of calls that match"
            value={filters}
            placeholder="model:prefix:gpt-5 key_id:eq:3"
            hint="Filters as in the address of Logs, with spaces between; empty: all calls."
            onChange={setFilters}
          />
          <SelectField label="Within" value={seconds} choices={WINDOWS} onChange={setSeconds} />
          <TextField label="Reaches" value={threshold} inputMode="decimal" placeholder="20" onChange={setThreshold} />
          <div className="flex flex-wrap items-center gap-3">
            <Button disabled={!isAsked} isBusy={preview.isPending} onClick={() => preview.mutate()}>
              Preview
            </Button>
            {preview.data !== undefined && (
              <p role="status" className="text-sm">
                It would have fired {preview.data.fired} {preview.data.fired === 1 ? 'time' : 'times'} in{' '}
                {preview.data.days} days; the highest sum was {preview.data.highest}.
              </p>
            )}
            <Problem message={preview.error?.message} />
          </div>
        </>
      )}
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-sm">Tells</legend>
        {destinations?.data.length === 0 && (
          <p className="text-xs text-ink-faint">
            There is no destination yet; it is listed under deliveries all the same.
          </p>
        )}
        {(destinations?.data ?? []).map(({ id, name: label, kind: how }) => (
          <Checkbox
            key={id}
            label={`${label} (${how})`}
            isOn={told.includes(id)}
            onChange={(isOn) => setTold((was) => (isOn ? [...was, id] : was.filter((one) => one !== id)))}
          />
        ))}
      </fieldset>
    </ActionDialog>
  );
}
