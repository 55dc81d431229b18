/** Makes an alert, with a preview of how often a question would have fired. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ALERTS_KEY, type Alert, createAlert, destinationsQuery, type Question } from '../../api/alerts.ts';
import { useSession } from '../../app/session-context.tsx';
import { ActionDialog } from '../../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../components/form-field.tsx';
import { KINDS } from './alert-words.ts';
import { QuestionFields, QuestionPreview } from './question-fields.tsx';

const WHOLE = /^\s*[1-9]\d{0,5}\s*$/;
const EMPTY: Question = { about: 'calls', filters: [], measure: 'cost', window_seconds: 3_600, threshold: '' };

interface CreateAlertDialogProps {
  readonly onClose: () => void;
  /** What a page shows, to be told of; without it any kind of alert is made. */
  readonly asked?: Pick<Question, 'about' | 'filters' | 'measure'>;
  readonly note?: string | undefined;
}

export function CreateAlertDialog({ onClose, asked, note }: CreateAlertDialogProps) {
  const session = useSession();
  const { data: destinations } = useQuery(destinationsQuery);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Alert['kind']>(asked === undefined ? 'brake' : 'question');
  const [told, setTold] = useState<readonly number[]>([]);
  const [percent, setPercent] = useState('80');
  const [draft, setDraft] = useState<Question>({ ...EMPTY, ...asked });
  const queries = useQueryClient();
  const question = { ...draft, threshold: draft.threshold.trim() };
  const settings = kind === 'question' ? { ...question } : kind === 'budget' ? { percent: Number(percent) } : {};
  const action = useMutation({
    mutationFn: () => createAlert({ name: name.trim(), kind, settings, destinations: told }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ALERTS_KEY });
      onClose();
    },
  });
  const isAsked = kind !== 'question' || question.threshold !== '';
  const isPercent = WHOLE.test(percent);
  return (
    <ActionDialog
      title={asked === undefined ? 'Make an alert' : 'Alert me on this'}
      onClose={onClose}
      action={action}
      cancelLabel="Cancel"
      actionLabel="Make alert"
      look="primary"
      isReady={name.trim() !== '' && isAsked && (kind !== 'budget' || isPercent)}
    >
      <TextField
        label="Name"
        value={name}
        maxLength={100}
        placeholder={asked === undefined ? 'Something runs away' : 'gpt-5 is dear'}
        onChange={setName}
      />
      {asked === undefined && (
        <SelectField
          label="When"
          value={kind}
          choices={KINDS.filter(({ value }) => value !== 'nodes' || session.kind === 'operator')}
          onChange={setKind}
        />
      )}
      {kind === 'budget' && (
        <TextField
          label="Percent of it"
          value={percent}
          inputMode="numeric"
          problem={isPercent ? null : 'a whole number above 0'}
          onChange={setPercent}
        />
      )}
      {kind === 'question' && (
        <>
          <QuestionFields
            question={draft}
            isFixed={asked !== undefined}
            onChange={(change) => setDraft((was) => ({ ...was, ...change }))}
          />
          {note !== undefined && <p className="text-xs text-ink-faint">{note}</p>}
          <QuestionPreview question={isAsked ? question : null} />
        </>
      )}
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-xs text-ink-soft">Tells</legend>
        {destinations?.data.length === 0 && (
          <p className="text-xs text-ink-faint">
            There is no destination yet: it is listed under deliveries all the same. Add one under Brakes & alerts.
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
