/** The question of an alert as fields of a form, and how often it would have fired. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type AlertPreview, previewQuestion, type Question } from '../../api/alerts.ts';
import { Button } from '../../components/buttons.tsx';
import { SelectField, TextField } from '../../components/form-field.tsx';
import { Problem } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { describeFilter } from '../../search/filter-text.ts';
import { readTypedFilters } from '../../search/typed-filters.ts';
import { listMeasures, nameFigure, needsMany, unitOf, WINDOWS } from './alert-words.ts';

const DAY_MS = 86_400_000;
const SHOWN_TIMES = 3;

const ABOUTS = [
  { value: 'calls', label: 'Calls' },
  { value: 'runs', label: 'Runs' },
] as const;

interface QuestionFieldsProps {
  readonly question: Question;
  readonly onChange: (change: Partial<Question>) => void;
  /** What it is about is given by the page that it was asked from. */
  readonly isFixed: boolean;
}

function FilterList({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul aria-label="Filters" className="flex flex-wrap gap-1.5">
      {texts.map((text) => (
        <li key={text} className="max-w-full rounded-md bg-raised px-2 py-0.5 text-sm [overflow-wrap:anywhere]">
          {text}
        </li>
      ))}
    </ul>
  );
}

export function QuestionFields({ question, onChange, isFixed }: QuestionFieldsProps) {
  const { about, filters, measure, threshold } = question;
  const measures = listMeasures(about);
  const [typed, setTyped] = useState(() => filters.join(' '));
  return (
    <>
      {isFixed ? (
        <FilterList texts={filters.length === 0 ? [`all ${about}`] : filters.map(describeFilter)} />
      ) : (
        <>
          <SelectField
            label="Of"
            value={about}
            choices={ABOUTS}
            onChange={(next) =>
              onChange({ about: next, measure: next === 'calls' && measure === 'runs' ? 'calls' : measure })
            }
          />
          <TextField
            label="That match"
            value={typed}
            placeholder="model:prefix:gpt-5 key_id:eq:3"
            hint={`Filters with spaces between, or an address of ${about === 'runs' ? 'Runs' : 'Logs'}; empty: all.`}
            onChange={(text) => {
              setTyped(text);
              onChange({ filters: readTypedFilters(text) });
            }}
          />
          {typed.trim() !== '' && (
            <FilterList texts={filters.length === 0 ? [`all ${about}`] : filters.map(describeFilter)} />
          )}
        </>
      )}
      <SelectField label="Figure" value={measure} choices={measures} onChange={(next) => onChange({ measure: next })} />
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label={`Reaches, in ${unitOf(measure).replace('with errors', about)}`}
          value={threshold}
          inputMode="decimal"
          placeholder="20"
          onChange={(next) => onChange({ threshold: next })}
        />
        <SelectField
          label="Within"
          value={String(question.window_seconds)}
          choices={WINDOWS}
          onChange={(next) => onChange({ window_seconds: Number(next) })}
        />
      </div>
      {needsMany(measure) && (
        <p className="text-xs text-ink-faint">With fewer than 20 {about} within that time it does not fire.</p>
      )}
    </>
  );
}

function PreviewText({ preview, question }: { readonly preview: AlertPreview; readonly question: Question }) {
  const { fired, times, highest, since } = preview;
  const days = Math.round((Date.now() - Date.parse(since)) / DAY_MS);
  const span = days >= 30 ? 'in 30 days' : days > 1 ? `in the ${days} days that could be looked at` : 'in the last day';
  return (
    <div role="status" className="flex flex-col gap-1 text-sm">
      <p>
        It would have fired {fired} {fired === 1 ? 'time' : 'times'} {span};{' '}
        {highest === null
          ? `there were always too few ${question.about}.`
          : `the highest was ${nameFigure(question.measure, highest)}.`}
      </p>
      {times.length > 0 && (
        <p className="text-xs text-ink-soft">
          Last:{' '}
          {times
            .slice(-SHOWN_TIMES)
            .reverse()
            .map((at, index) => (
              <span key={at}>
                {index > 0 && ', '}
                <Timestamp at={at} />
              </span>
            ))}
        </p>
      )}
    </div>
  );
}

/** `question` is null while it is not whole. */
export function QuestionPreview({ question }: { readonly question: Question | null }) {
  const preview = useMutation({ mutationFn: previewQuestion });
  const asked = preview.variables;
  // An old answer is of another question.
  const isCurrent = question !== null && asked !== undefined && JSON.stringify(asked) === JSON.stringify(question);
  return (
    <div className="flex flex-col items-start gap-2">
      <Button
        disabled={question === null}
        isBusy={preview.isPending}
        onClick={() => {
          if (question !== null) preview.mutate(question);
        }}
      >
        Preview
      </Button>
      {isCurrent && preview.data !== undefined && <PreviewText preview={preview.data} question={asked} />}
      {isCurrent && <Problem message={preview.error?.message} />}
    </div>
  );
}
