/** Costs: not built yet. */
import { PageHeader } from '../../components/page-header.tsx';

export function CostsPage() {
  return <PageHeader title="Costs" />;
}
