/** Tabs: the strip with its keyboard, and the panel of the one that is open. Which one is open stands in the address. */
import { Tabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

export interface TabItem {
  readonly id: string;
  readonly label: string;
  readonly content: ReactNode;
}

interface TabListProps {
  readonly label: string;
  readonly tabs: readonly TabItem[];
  readonly current: string;
  readonly onChange: (id: string) => void;
}

export function TabList({ label, tabs, current, onChange }: TabListProps) {
  return (
    <Tabs.Root
      value={current}
      onValueChange={(id: unknown) => onChange(String(id))}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Tabs.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line px-3">
        {tabs.map(({ id, label: name }) => (
          <Tabs.Tab
            key={id}
            value={id}
            className="-mb-px border-b-2 border-transparent px-2.5 py-2 whitespace-nowrap text-ink-soft hover:text-ink data-[active]:border-accent data-[active]:font-medium data-[active]:text-ink aria-selected:border-accent aria-selected:text-ink"
          >
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ id, content }) => (
        <Tabs.Panel key={id} value={id} className="min-h-0 flex-1">
          {id === current && content}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
