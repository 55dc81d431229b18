/** Prices: what the gateway knows about them, what it does not, and how both are put right. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { DeclarationKind } from '../../api/prices.ts';
import { useAllowed } from '../../app/session-context.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type TabItem, TabList } from '../../components/tab-list.tsx';
import { applyChange, type SearchChange } from '../../search/search-change.ts';
import { ChangesTab } from './changes-tab.tsx';
import { createForm } from './declaration-form.ts';
import { DeclareDialog } from './declare-dialog.tsx';
import { LookupTab } from './lookup-tab.tsx';
import { OwnTab } from './own-tab.tsx';
import { readClasses, readProvider, START_PROVIDER } from './price-words.ts';
import { PricesOverview } from './prices-overview.tsx';
import { FIRST_TAB, type PricesSearch, TABS } from './prices-search.ts';
import { RepriceLink } from './reprice-offer.tsx';
import { RepriceTab } from './reprice-tab.tsx';
import { UnpricedTab } from './unpriced-tab.tsx';

export function PricesPage() {
  const search = useSearch({ from: '/app/prices' });
  const navigate = useNavigate({ from: '/prices' });
  const onChange = (change: SearchChange<PricesSearch>) => void navigate({ search: (was) => applyChange(was, change) });
  const open = (add: DeclarationKind, start: { readonly provider?: string; readonly model?: string } = {}) =>
    onChange({ add, ...start });
  const mayChange = useAllowed('member');
  const tabs: readonly TabItem[] = [
    {
      id: 'unpriced',
      label: 'Without a price',
      content: (
        <UnpricedTab
          search={search}
          onWindow={(window) => onChange({ range: undefined, from: undefined, to: undefined, ...window })}
        />
      ),
    },
    { id: 'own', label: 'Your prices', content: <OwnTab onAdd={(kind) => open(kind)} /> },
    ...(mayChange
      ? [{ id: 'reprice', label: 'Reprice calls', content: <RepriceTab search={search} onChange={onChange} /> }]
      : []),
    {
      id: 'lookup',
      label: 'Look up',
      content: <LookupTab search={search} onChange={onChange} onAdd={(start) => open('override', start)} />,
    },
    { id: 'changes', label: 'Changes', content: <ChangesTab /> },
  ];
  const close = () => onChange({ add: undefined, classes: undefined });
  return (
    <>
      <PageHeader title="Prices" about="Where every rate comes from, what has none, and how that is put right." />
      <PricesOverview />
      <TabList
        label="Parts of the prices"
        tabs={tabs}
        current={search.tab ?? FIRST_TAB}
        onChange={(id) => onChange({ tab: TABS.find((tab) => tab === id) })}
      />
      {mayChange && search.add !== undefined && (
        <DeclareDialog
          key={search.add}
          start={createForm(search.add, {
            provider: readProvider(search.provider) ?? START_PROVIDER,
            model: search.add === 'multiplier' ? '' : (search.model ?? ''),
            alias: search.alias ?? '',
          })}
          isSaved={false}
          wantedRates={readClasses(search.classes)}
          onClose={close}
          renderNext={(form) => <RepriceLink form={form} />}
        />
      )}
    </>
  );
}
