/** The rules of the brakes: what each does to runs and keys, and from when on. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { BRAKES_KEY, type BrakeRule, brakeRulesQuery, changeRule } from '../../api/brakes.ts';
import { Allowed, useAllowed } from '../../app/session-context.tsx';
import { Badge, type Tone } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { ActionDialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/form-field.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Pending } from '../../components/states.tsx';
import { ACTION_CHOICES, nameAction, nameRule } from './brake-words.ts';

const TONES: Readonly<Record<BrakeRule['action'], Tone>> = { off: 'neutral', alarm: 'warn', pause: 'bad' };

function Name({ rule }: { readonly rule: BrakeRule }) {
  return (
    <>
      <span className="font-medium">{nameRule(rule.rule)}</span>
      <span className="block text-xs text-ink-faint">{rule.about}</span>
    </>
  );
}

const Action = ({ action }: BrakeRule) => <Badge tone={TONES[action]}>{nameAction(action)}</Badge>;

function Thresholds({ rule }: { readonly rule: BrakeRule }) {
  return (
    <ul className="text-xs text-ink-soft">
      {rule.settings.map(({ name, value, about }) => (
        <li key={name}>
          <span className="num">{value.toLocaleString('en-US')}</span> {about}
        </li>
      ))}
    </ul>
  );
}

function ChangeDialog({ rule, onClose }: { readonly rule: BrakeRule; readonly onClose: () => void }) {
  const [action, setAction] = useState(rule.action);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(rule.settings.map(({ name, value }) => [name, String(value)])),
  );
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () =>
      changeRule(rule, {
        action,
        settings: Object.fromEntries(rule.settings.map(({ name }) => [name, Number(texts[name])])),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: BRAKES_KEY });
      onClose();
    },
  });
  const isSound = (name: string) => /^\d+(?:\.\d+)?$/.test((texts[name] ?? '').trim());
  return (
    <ActionDialog
      title={`${nameRule(rule.rule)} of a ${rule.scope}`}
      onClose={onClose}
      action={change}
      cancelLabel="Cancel"
      actionLabel="Change rule"
      look="primary"
      isReady={rule.settings.every(({ name }) => isSound(name))}
    >
      <p className="text-sm text-ink-soft">When {rule.about}.</p>
      <SelectField label="Then" value={action} choices={ACTION_CHOICES} onChange={setAction} />
      {rule.settings.map(({ name, about, usual }) => (
        <TextField
          key={name}
          label={about}
          value={texts[name] ?? ''}
          inputMode="decimal"
          problem={isSound(name) ? null : 'a number, such as 2500 or 1.5'}
          hint={`${usual.toLocaleString('en-US')} by default`}
          onChange={(text) => setTexts((was) => ({ ...was, [name]: text }))}
        />
      ))}
    </ActionDialog>
  );
}

export function RulesTab() {
  const { data, error, refetch } = useQuery(brakeRulesQuery);
  const [changed, setChanged] = useState<BrakeRule | null>(null);
  const mayChange = useAllowed('member');
  if (data === undefined) return <Pending query={{ error, refetch }} what="the rules" />;
  const change = (rule: BrakeRule) => (
    <Allowed to="member">
      <Button aria-label={`Change ${nameRule(rule.rule)} of a ${rule.scope}`} onClick={() => setChanged(rule)}>
        Change
      </Button>
    </Allowed>
  );
  const columns: readonly PlainColumn<BrakeRule>[] = [
    { header: 'When', render: (rule) => <Name rule={rule} /> },
    { header: 'Of a', render: ({ scope }) => scope },
    { header: 'Then', render: Action },
    { header: 'Thresholds', render: (rule) => <Thresholds rule={rule} /> },
    ...(mayChange ? [{ header: 'Action', align: 'right', render: change } as const] : []),
  ];
  return (
    <div className="p-4">
      <PlainTable
        label="Rules"
        columns={columns}
        rows={data.data}
        rowKey={({ rule, scope }) => `${rule} ${scope}`}
        renderCard={(rule) => (
          <>
            <div className="flex items-start justify-between gap-3">
              <span>
                <Name rule={rule} />
              </span>
              {change(rule)}
            </div>
            <p className="flex items-center gap-2 text-sm">
              of a {rule.scope}: <Action {...rule} />
            </p>
            <Thresholds rule={rule} />
          </>
        )}
      />
      {changed !== null && <ChangeDialog rule={changed} onClose={() => setChanged(null)} />}
    </div>
  );
}
