/** Request: not built yet. */
import { PageHeader } from '../../components/page-header.tsx';

export function LogPage() {
  return <PageHeader title="Request" />;
}
