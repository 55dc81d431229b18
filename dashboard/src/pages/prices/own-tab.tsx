/** What the operator declared: own prices, mappings of ids, discounts; adding, changing and removing them. */
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { type DeclarationKind, mappingsQuery, multipliersQuery, overridesQuery } from '../../api/prices.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { Pending } from '../../components/states.tsx';
import type { DeclarationAction } from './declaration-cells.tsx';
import { readForm } from './declaration-form.ts';
import { DiscountTable, MappingTable, OverrideTable } from './declaration-tables.tsx';
import { DeclareDialog } from './declare-dialog.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RepriceLink } from './reprice-offer.tsx';

const SECTIONS = [
  {
    kind: 'override',
    title: 'Prices',
    about: 'They take precedence, for exactly what they state. Everything else costs the list price.',
    addLabel: 'Add price',
  },
  {
    kind: 'mapping',
    title: 'Mappings',
    about:
      'Ids that say nothing about their model (profiles, fine-tunes, deployments), and the model they are billed as.',
    addLabel: 'Map an id',
  },
  {
    kind: 'multiplier',
    title: 'Discounts',
    about: 'A factor on every list price of a provider, as negotiated. Your own prices are not multiplied.',
    addLabel: 'Add discount',
  },
] as const;

export function OwnTab({ onAdd }: { readonly onAdd: (kind: DeclarationKind) => void }) {
  const overrides = useQuery(overridesQuery);
  const mappings = useQuery(mappingsQuery);
  const multipliers = useQuery(multipliersQuery);
  const [opened, setOpened] = useState<DeclarationAction | null>(null);
  const close = () => setOpened(null);
  if (overrides.data === undefined || mappings.data === undefined || multipliers.data === undefined) {
    const missing = [overrides, mappings, multipliers].filter(({ data }) => data === undefined);
    return <Pending query={missing.find(({ error }) => error !== null) ?? overrides} what="your prices" rows={5} />;
  }
  const tables = {
    override: overrides.data.length > 0 && <OverrideTable rows={overrides.data} onAction={setOpened} />,
    mapping: mappings.data.length > 0 && <MappingTable rows={mappings.data} onAction={setOpened} />,
    multiplier: multipliers.data.length > 0 && <DiscountTable rows={multipliers.data} onAction={setOpened} />,
  };
  return (
    <div className="flex flex-col gap-6 p-4">
      {SECTIONS.map(({ kind, title, about, addLabel }) => (
        <section key={kind} aria-label={title}>
          <div className="mb-2 flex flex-wrap items-end gap-x-3 gap-y-1">
            <div className="min-w-0 flex-1">
              <h2 className="text-sm font-semibold">{title}</h2>
              <p className="text-xs text-ink-faint">{about}</p>
            </div>
            <Allowed to="member">
              <Button onClick={() => onAdd(kind)}>
                <Plus size={15} aria-hidden /> {addLabel}
              </Button>
            </Allowed>
          </div>
          {tables[kind] || (
            <p className="rounded-lg border border-dashed border-line px-3 py-4 text-center text-ink-faint">
              None yet.
            </p>
          )}
        </section>
      ))}
      {opened?.what === 'edit' && (
        <DeclareDialog
          start={readForm(opened.subject)}
          isSaved
          onClose={close}
          renderNext={(form) => <RepriceLink form={form} onFollow={close} />}
        />
      )}
      {opened?.what === 'remove' && <RemoveDialog subject={opened.subject} onClose={close} />}
    </div>
  );
}
