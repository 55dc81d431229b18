/** Get started: not built yet. */
import { PageHeader } from '../../components/page-header.tsx';

export function StartPage() {
  return <PageHeader title="Get started" />;
}
