/** Makes, changes and deletes a budget. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Budget, budgetsQuery, createBudget, deleteBudget, editBudget } from '../../api/budgets.ts';
import { ActionDialog } from '../../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../components/form-field.tsx';
import { PERIOD_CHOICES, SCOPE_CHOICES } from './budget-words.ts';

function useChange<T>(change: () => Promise<T>, onClose: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: budgetsQuery.queryKey });
      onClose();
    },
  });
}

const HARD = 'Refuse calls that might go beyond it';

export function CreateBudgetDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Budget['scope']>('run');
  const [metadataKey, setMetadataKey] = useState('');
  const [amount, setAmount] = useState('');
  const [period, setPeriod] = useState<Budget['period']>('once');
  const [isHard, setHard] = useState(true);
  const [contact, setContact] = useState('');
  const action = useChange(
    () =>
      createBudget({
        name,
        scope,
        amount_usd: amount.trim(),
        period,
        hard: isHard,
        ...(scope === 'metadata' ? { metadata_key: metadataKey.trim() } : {}),
        ...(contact.trim() === '' ? {} : { contact: contact.trim() }),
      }),
    onClose,
  );
  const isReady = name.trim() !== '' && amount.trim() !== '' && (scope !== 'metadata' || metadataKey.trim() !== '');
  return (
    <ActionDialog
      title="Make a budget"
      onClose={onClose}
      action={action}
      cancelLabel="Cancel"
      actionLabel="Make budget"
      look="primary"
      isReady={isReady}
    >
      <TextField label="Name" value={name} maxLength={200} placeholder="Agents" onChange={setName} />
      <SelectField label="For" value={scope} choices={SCOPE_CHOICES} onChange={setScope} />
      {scope === 'metadata' && (
        <TextField label="Metadata key" value={metadataKey} placeholder="User-Id" onChange={setMetadataKey} />
      )}
      <TextField label="Dollars" value={amount} inputMode="decimal" placeholder="5.00" onChange={setAmount} />
      <SelectField label="In" value={period} choices={PERIOD_CHOICES} onChange={setPeriod} />
      <Checkbox label={HARD} isOn={isHard} onChange={setHard} />
      <TextField
        label="Whom to ask for more"
        value={contact}
        maxLength={200}
        hint="Stands in what clients are told."
        onChange={setContact}
      />
    </ActionDialog>
  );
}

interface BudgetDialogProps {
  readonly budget: Budget;
  readonly onClose: () => void;
}

export function EditBudgetDialog({ budget, onClose }: BudgetDialogProps) {
  const [amount, setAmount] = useState(budget.amount_usd);
  const [isHard, setHard] = useState(budget.hard);
  const action = useChange(() => editBudget(budget.id, { amount_usd: amount.trim(), hard: isHard }), onClose);
  return (
    <ActionDialog
      title={`Change "${budget.name}"`}
      onClose={onClose}
      action={action}
      cancelLabel="Cancel"
      actionLabel="Change budget"
      look="primary"
      isReady={amount.trim() !== ''}
    >
      <TextField label="Dollars" value={amount} inputMode="decimal" onChange={setAmount} />
      <Checkbox label={HARD} isOn={isHard} onChange={setHard} />
    </ActionDialog>
  );
}

export function DeleteBudgetDialog({ budget, onClose }: BudgetDialogProps) {
  const action = useChange(() => deleteBudget(budget.id), onClose);
  return (
    <ActionDialog
      title={`Delete "${budget.name}"?`}
      onClose={onClose}
      action={action}
      cancelLabel="Cancel"
      actionLabel="Delete budget"
      look="danger"
    >
      <p className="text-sm text-ink-soft">Its calls are not refused any more. What was spent stays in the database.</p>
    </ActionDialog>
  );
}
