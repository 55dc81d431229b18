/** What the operator declared: own prices, mappings of ids, discounts; adding, changing and removing them. */
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import {
  type Declaration,
  type DeclarationKind,
  mappingsQuery,
  multipliersQuery,
  overridesQuery,
} from '../../api/prices.ts';
import { Button } from '../../components/buttons.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import type { DeclarationAction } from './declaration-cells.tsx';
import { readForm } from './declaration-form.ts';
import { DiscountTable, MappingTable, OverrideTable } from './declaration-tables.tsx';
import { DeclareDialog } from './declare-dialog.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RepriceLink } from './reprice-link.tsx';

interface SectionProps {
  readonly title: string;
  readonly about: string;
  readonly addLabel: string;
  readonly onAdd: () => void;
  readonly count: number;
  readonly children: ReactNode;
}

function Section({ title, about, addLabel, onAdd, count, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <div className="mb-2 flex flex-wrap items-end gap-x-3 gap-y-1">
        <div className="min-w-0 flex-1">
          <h2 className="text-sm font-semibold">{title}</h2>
          <p className="text-xs text-ink-faint">{about}</p>
        </div>
        <Button onClick={onAdd}>
          <Plus size={15} aria-hidden /> {addLabel}
        </Button>
      </div>
      {count === 0 ? (
        <p className="rounded-lg border border-dashed border-line px-3 py-4 text-center text-ink-faint">None yet.</p>
      ) : (
        children
      )}
    </section>
  );
}

interface OwnTabProps {
  readonly onAdd: (kind: DeclarationKind) => void;
}

export function OwnTab({ onAdd }: OwnTabProps) {
  const overrides = useQuery(overridesQuery);
  const mappings = useQuery(mappingsQuery);
  const multipliers = useQuery(multipliersQuery);
  const [opened, setOpened] = useState<DeclarationAction | null>(null);
  const close = () => setOpened(null);
  const failed = [overrides, mappings, multipliers].find(({ data, error }) => data === undefined && error !== null);
  if (failed !== undefined)
    return <ErrorState error={failed.error} what="your prices" onRetry={() => void failed.refetch()} />;
  if (overrides.data === undefined || mappings.data === undefined || multipliers.data === undefined)
    return <Skeleton rows={5} label="Loading your prices" />;
  return (
    <div className="flex flex-col gap-6 p-4">
      <Section
        title="Prices"
        about="They outrank all others, for exactly what they say. What they do not say costs what the list says."
        addLabel="Add price"
        onAdd={() => onAdd('override')}
        count={overrides.data.length}
      >
        <OverrideTable rows={overrides.data} onAction={setOpened} />
      </Section>
      <Section
        title="Mappings"
        about="Ids that say nothing about their model (profiles, fine-tunes, deployments), and the model they are billed as."
        addLabel="Map an id"
        onAdd={() => onAdd('mapping')}
        count={mappings.data.length}
      >
        <MappingTable rows={mappings.data} onAction={setOpened} />
      </Section>
      <Section
        title="Discounts"
        about="A factor on every list price of a provider, as negotiated. Your own prices are not multiplied."
        addLabel="Add discount"
        onAdd={() => onAdd('multiplier')}
        count={multipliers.data.length}
      >
        <DiscountTable rows={multipliers.data} onAction={setOpened} />
      </Section>
      {opened?.what === 'edit' && <EditDialog subject={opened.subject} onClose={close} />}
      {opened?.what === 'remove' && <RemoveDialog subject={opened.subject} onClose={close} />}
    </div>
  );
}

function EditDialog({ subject, onClose }: { readonly subject: Declaration; readonly onClose: () => void }) {
  return (
    <DeclareDialog
      start={readForm(subject)}
      isSaved
      onClose={onClose}
      renderNext={(form) => <RepriceLink form={form} onFollow={onClose} />}
    />
  );
}
