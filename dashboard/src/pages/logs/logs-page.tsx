/** Logs: not built yet. */
import { PageHeader } from '../../components/page-header.tsx';

export function LogsPage() {
  return <PageHeader title="Logs" />;
}
