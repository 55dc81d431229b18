/** One call as a page. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { PageHeader } from '../../components/page-header.tsx';
import { LogDetail } from './log-detail.tsx';

export function LogPage() {
  const { id } = useParams({ from: '/app/log/$id' });
  const { tab, q } = useSearch({ from: '/app/log/$id' });
  const navigate = useNavigate({ from: '/log/$id' });
  return (
    <>
      <PageHeader
        title="Call"
        tabTitle={`Call ${id}`}
        about={<code className="font-mono text-xs [overflow-wrap:anywhere]">{id}</code>}
      />
      <div className="min-h-0 flex-1 border-t border-line">
        <LogDetail
          id={id}
          isPage
          tab={tab}
          sought={q}
          onTab={(next) => void navigate({ search: (before) => ({ ...before, tab: next }), replace: true })}
        />
      </div>
    </>
  );
}
