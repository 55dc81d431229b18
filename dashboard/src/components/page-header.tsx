/** The head of a page: its one heading, what stands beside it, and the page's title in the browser's tab. */
import { type ReactNode, useEffect } from 'react';

interface PageHeaderProps {
  readonly title: string;
  /** For the browser's tab, when it should say more than the heading. */
  readonly tabTitle?: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
}

export function PageHeader({ title, tabTitle = title, about, actions }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${tabTitle} · Tollgate`;
  }, [tabTitle]);
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-4 pb-3">
      <h1 className="min-w-0 text-lg font-semibold">{title}</h1>
      {about !== undefined && <div className="min-w-0 text-ink-soft">{about}</div>}
      {actions !== undefined && <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}
